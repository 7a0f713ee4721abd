"""Kernels as functions of JAX: compiled, in XLA's operations, and by callback."""

import pickle
from importlib import import_module

import casadi
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import linkwise as lw
from linkwise.backend import jax_target
from linkwise.errors import InputError, LinkwiseError
from support.arms import arm, states, two_link
from support.every_machine import sort

LOWERINGS = ("native", "xla", "callback")


# doubles on or off, under the name that this JAX has for it
precise = jax.enable_x64 if hasattr(jax, "enable_x64") else import_module("jax.experimental").enable_x64


@pytest.fixture(autouse=True)
def _x64():
    with precise(True):
        yield


def close(a, b, part=1e-12):
    np.testing.assert_allclose(a, b, rtol=0.0, atol=part * max(1.0, float(np.abs(b).max())))


@pytest.mark.parametrize(
    "name", ["arm", "floating", "moving base", "five-bar, elastic", "ankle, moving base", "hexapod"]
)
def test_machines(name):
    machine = sort(name)
    kernel = machine.dynamics().inverse_dynamics
    inputs = [*machine.states(4), *machine.surroundings(4)]
    close(jax.jit(kernel.jax())(*inputs), kernel(*inputs), 1e-14)


@pytest.mark.parametrize("lower", LOWERINGS)
def test_gradients_of_every_kind(lower):
    """Forwards, backwards, mapped and twice, against differences of differences."""
    kernel = lw.compile(two_link(), lw.inverse_dynamics)
    f = kernel.jax(lower=lower)
    q, qd, qdd = states(two_link(), 5)
    wanted = lw.compile(two_link(), lw.inverse_dynamics_derivatives)(q, qd, qdd)
    close(jax.vmap(jax.jacfwd(f))(q, qd, qdd), wanted.dtau_dq)
    close(jax.vmap(jax.jacrev(f, 1))(q, qd, qdd), wanted.dtau_dqd)

    def total(q):
        return jnp.sum(f(q, qd[0], qdd[0]) ** 2)

    first = jax.jit(jax.grad(total))
    close(first(q[0]), 2.0 * wanted.dtau_dq[0].T @ kernel(q[0], qd[0], qdd[0]))
    h = 1e-5
    numeric = [(first(q[0] + h * e) - first(q[0] - h * e)) / (2 * h) for e in np.eye(2)]
    close(jax.hessian(total)(q[0]), np.array(numeric), 1e-8)


@pytest.mark.parametrize("lower", LOWERINGS)
def test_leading_axes_broadcast_and_are_mapped(lower):
    kernel = lw.compile(arm(3), lw.inverse_dynamics)
    f = kernel.jax(lower=lower)
    q, qd, qdd = states(arm(3), 4, 5)
    close(f(q, qd[0, 0], qdd[:1]), kernel(q, qd[0, 0], qdd[:1]))
    mapped = jax.vmap(jax.vmap(f, (0, None, 1)), (1, 0, None))  # over axes that are not the first, and not of all
    expected = kernel(q.swapaxes(0, 1)[:, :, None], qd[0][:, None, None], qdd)
    close(mapped(q, qd[0], qdd.swapaxes(0, 1)), expected)  # the axis of qdd that is left leads
    whole = jax.grad(lambda v: jnp.sum(f(q, v, qdd)))(qd[0, 0])
    each = jax.vmap(jax.vmap(jax.grad(lambda v, q, a: jnp.sum(f(q, v, a))), (None, 0, 0)), (None, 0, 0))(
        qd[0, 0], q, qdd
    )
    close(whole, each.sum((0, 1)))


def test_several_outputs_are_named():
    kernel = lw.compile(arm(2), lw.inverse_dynamics_derivatives)
    found = jax.jit(kernel.jax())(*states(arm(2), 2))
    close(found.dtau_dqd, kernel(*states(arm(2), 2)).dtau_dqd)
    loss, slope = jax.value_and_grad(lambda q: jnp.sum(kernel.jax()(q, q, q)[0]))(np.ones(2))
    assert np.isfinite(loss)
    assert slope.shape == (2,)


def test_in_loops_of_jax():
    """A falling arm by `lax.scan`, differentiated through."""
    forward = lw.compile(two_link(), lw.forward_dynamics).jax()

    def fall(q):
        def step(state, _):
            q, v = state
            v = v + 1e-2 * forward(q, v, jnp.zeros(2))
            return (q + 1e-2 * v, v), None

        return jax.lax.scan(step, (q, jnp.zeros(2)), None, 20)[0][0].sum()

    q, h = np.array([0.3, -0.4]), 1e-6
    numeric = [(fall(q + h * e) - fall(q - h * e)) / (2 * h) for e in np.eye(2)]
    close(jax.jit(jax.grad(fall))(q), np.array(numeric), 1e-7)


def test_float32():
    kernel = lw.compile(arm(3), lw.inverse_dynamics, dtype="float32")
    with precise(False):
        found = jax.jit(kernel.jax())(*states(arm(3), 3))
        assert found.dtype == np.float32
        close(found, kernel(*states(arm(3), 3)), 1e-6)
        with pytest.raises(InputError, match="jax_enable_x64"):
            lw.compile(arm(3), lw.inverse_dynamics).jax()(*states(arm(3)))


def test_equal_kernels_are_traced_once():
    f = lw.compile(arm(2), lw.inverse_dynamics).jax()
    count = 0

    @jax.jit
    def g(*x):
        nonlocal count
        count += 1
        return f(*x)

    for _ in range(3):
        g(*states(arm(2), 3))
    assert count == 1


def test_functions_can_be_sent_to_other_processes():
    f = lw.compile(arm(2), lw.inverse_dynamics).jax(lower="callback")
    again = pickle.loads(pickle.dumps(f))
    assert again.options == {"lower": "callback"}
    assert again.__name__ == "inverse_dynamics"
    close(again(*states(arm(2), 3)), f(*states(arm(2), 3)))


def test_refusals(monkeypatch):
    kernel = lw.compile(arm(2), lw.inverse_dynamics)
    f = kernel.jax()
    q, qd, qdd = states(arm(2), 3)
    with pytest.raises(InputError, match=r"expected qd of shape \(\.\.\., 2\), got \(3, 1\)"):
        f(q, qd[:, :1], qdd)
    with pytest.raises(InputError, match="do not broadcast"):
        f(q, qd[:2], qdd)
    with pytest.raises(InputError, match="expected the arguments q, qd, qdd"):
        f(q, qd)
    close(f(q, qd, qdd=qdd), kernel(q, qd, qdd))
    with pytest.raises(InputError, match=r"expected qd .* real numbers, got complex128"):
        f(q, qd + 1j, qdd)
    with pytest.raises(InputError, match=r"got a SX of casadi.*kernel\.casadi"):
        f(casadi.SX.sym("q", 2), qd, qdd)
    for odd in ("q", None, [[1.0, 2.0], [3.0]]):
        with pytest.raises(InputError, match="expected q of shape"):
            f(odd, qd, qdd)
    with pytest.raises(LinkwiseError, match="lowering"):
        kernel.jax(lower="gpu")
    with pytest.raises(InputError, match=r"Newton's method.*lower='native'"):
        sort("ankle, moving base").dynamics().inverse_dynamics.jax(lower="xla")
    monkeypatch.setattr(jax_target, "OLDEST", (1, 0))
    jax_target.check.cache_clear()
    with pytest.raises(LinkwiseError, match=r"foreign functions 1\.0.*lower='callback'"):
        kernel.jax()
    monkeypatch.undo()
    jax_target.check.cache_clear()


def test_a_frame_that_is_laid_out_otherwise_is_an_error(monkeypatch):
    """No crash where structures have other sizes than this code knows."""
    monkeypatch.setattr(jax_target, "BUFFER_SIZE", 4096)
    kernel = lw.compile(arm(2, mass=1.25), lw.inverse_dynamics)
    with pytest.raises(Exception, match="not laid out as Linkwise expects"):
        jax.block_until_ready(kernel.jax()(*states(arm(2))))
