"""Programs differentiated as a whole: forwards, backwards, all at once, and again."""

import numpy as np
import pytest

import linkwise as lw
from linkwise.backend import native
from linkwise.backend.differentiable import Differentiable
from linkwise.errors import InputError
from linkwise.graph import differential
from support.arms import arm
from support.every_machine import sort

MACHINES = (
    "arm", "floating", "moving base", "elastic", "five-bar", "five-bar, elastic", "ankle, moving base", "hexapod",
    "3-RRR",
)  # fmt: skip


def case(name, algorithm="inverse_dynamics"):
    machine = sort(name)
    inputs = [*machine.states(3), *machine.surroundings(3)]
    return Differentiable(getattr(machine.dynamics(), algorithm).program.whole), inputs


def directions(inputs, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.normal(size=x.shape) for x in inputs]


def relative(a, b):
    return float(np.abs(a - b).max() / max(1.0, np.abs(b).max()))


@pytest.mark.parametrize("name", MACHINES)
def test_forwards_is_what_differences_show(name):
    """By the numbers of q: quaternions are normalised inside, so any change of them is meant."""
    f, inputs = case(name)
    moves = directions(inputs)
    wrt = tuple(range(len(inputs)))
    (found,) = f.forward(wrt)(*inputs, *moves)
    steps = []
    for h in (1e-3, 5e-4):
        ends = [f(*(x + s * h * d for x, d in zip(inputs, moves, strict=True)))[0] for s in (-2, -1, 1, 2)]
        steps.append((ends[0] - 8 * ends[1] + 8 * ends[2] - ends[3]) / (12 * h))
    assert relative((16 * steps[1] - steps[0]) / 15, found) < 1e-8


@pytest.mark.parametrize("name", MACHINES)
def test_backwards_and_the_jacobian_agree_with_forwards(name):
    f, inputs = case(name)
    moves, wrt = directions(inputs), tuple(range(len(inputs)))
    (change,) = f.forward(wrt)(*inputs, *moves)
    weights = directions([change], 1)
    gradients = f.backward(wrt)
    pulled = gradients(*f.given_to(gradients, inputs, weights))
    one, other = (weights[0] * change).sum(-1), sum((g * d).sum(-1) for g, d in zip(pulled, moves, strict=True))
    np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-11 * np.abs(one).max())
    whole = Differentiable(differential.jacobian(f.program, f.names))
    rows = [np.einsum("...ij,...j->...i", J, d) for J, d in zip(whole(*inputs), moves, strict=True)]
    assert relative(sum(rows), change) < 1e-12


@pytest.mark.parametrize("name", ["floating", "five-bar", "ankle, moving base", "hexapod"])
def test_second_derivatives_are_derivatives_of_first_ones(name):
    f, inputs = case(name)
    moves = directions(inputs)
    first = f.forward((0,))
    (found,) = first.forward((0,))(*inputs, moves[0], moves[0])
    h = 1e-4
    ends = [first(inputs[0] + s * h * moves[0], *inputs[1:], moves[0])[0] for s in (-1, 1)]
    assert relative((ends[1] - ends[0]) / (2 * h), found) < 1e-5


def test_gradients_by_quaternions_leave_their_length_alone():
    f, inputs = case("floating")
    back = f.backward((0,))
    (gradient,) = back(*f.given_to(back, inputs, [np.ones_like(inputs[1])]))
    quaternion = inputs[0][:, 3:7]
    assert np.abs((gradient[:, 3:7] * quaternion).sum(-1)).max() < 1e-10 * np.abs(gradient).max()


def test_what_is_linear_is_not_asked_for():
    """The gradient by a change does not depend on the change, which is then no input; nor is anything done twice."""
    f, _ = case("arm")
    ahead = f.forward((1,))
    assert ahead.transposed((3,)) is f.backward((1,))
    assert "qd_change" not in ahead.backward((3,)).names


def test_programs_with_steps_are_refused():
    with pytest.raises(InputError, match="runs in steps"):
        differential.forward(lw.compile_rollout(arm(2)).program, ["q"])


def test_weights_count_as_constant():
    """Of a sum of outputs times weights that depend on the inputs too, as after a loop."""
    from linkwise.graph.derivative import pulled_back
    from linkwise.graph.program import Port, trace

    def run(x):
        return ([*pulled_back([x[0] * x[0], x[1]], [x[1], x[0]], x)],)

    program = trace("weighted", run, [Port("x", (2,))], [Port("g", (2,))])
    np.testing.assert_array_equal(native.function(program)([3.0, 5.0]), [30.0, 3.0])
