"""Arguments of kernels: odd but legal arrays, on every back end and thread count."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import linkwise as lw
from support.arms import arm, states


def make(kind):
    robot = arm(3)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LINKWISE_BACKEND", "numpy" if kind == "numpy" else "llvm")
        k = lw.compile(robot, lw.inverse_dynamics, threads=2 if kind == "threads" else 1)
        k(*states(robot))  # the back end is chosen now
    return k


@pytest.fixture(scope="module", params=["native", "threads", "numpy"])
def kernel(request):
    return make(request.param)


@pytest.fixture(scope="module")
def plain(kernel):
    """The reference: contiguous arrays of 600 rows."""
    x = states(kernel.robot, 600)
    return x, kernel(*x)


def misaligned(a):
    raw = np.zeros(a.nbytes + 1, np.uint8)[1:]
    view = raw.view(a.dtype).reshape(a.shape)
    view[...] = a
    assert not view.flags.aligned
    return view


def read_only(a):
    a = a.copy()
    a.setflags(write=False)
    return a


SAME = {
    "list": lambda a: a.tolist(),
    "tuple of rows": tuple,
    "strided": lambda a: np.repeat(np.repeat(a, 2, 0), 3, 1)[::2, ::3],
    "reversed": lambda a: a[::-1, ::-1].copy()[::-1, ::-1],
    "read-only": read_only,
    "Fortran order": np.asfortranarray,
    "byte-swapped": lambda a: a.astype(a.dtype.newbyteorder()),
    "misaligned": misaligned,
    "column of a record": lambda a: a.view([("x", float, 3)])["x"][:, 0],
    "subclass": lambda a: a.view(type("Sub", (np.ndarray,), {})),
}


@pytest.mark.parametrize("form", SAME)
@pytest.mark.parametrize("argument", [0, 1, 2])
def test_form_of_an_array_makes_no_difference(kernel, plain, form, argument):
    x, expected = plain
    given = [SAME[form](a) if k == argument else a for k, a in enumerate(x)]
    np.testing.assert_array_equal(np.asarray(kernel(*given)), expected)


@pytest.mark.parametrize("rows", [3, 1000])
@pytest.mark.parametrize("backend", ["llvm", "numpy"])
def test_masked_numbers_are_refused_however_many_threads_there_are(rows, backend, monkeypatch):
    """NumPy would mask a result place by place, although each torque depends on all positions."""
    monkeypatch.setenv("LINKWISE_BACKEND", backend)
    robot = arm(3)
    x = states(robot, rows)
    expected = lw.compile(robot, lw.inverse_dynamics)(*x)
    for threads in (1, 2):
        for algorithm in (lw.inverse_dynamics, lw.joint_wrenches):
            kernel = lw.compile(robot, algorithm, threads=threads)
            masked = np.ma.masked_array(x[0], mask=np.arange(3 * rows).reshape(rows, 3) % 7 == 0)
            with pytest.raises(lw.InputError, match=r"without masks, got a masked q\. .* q\.filled"):
                kernel(masked, *x[1:])
        bare = lw.compile(robot, lw.inverse_dynamics, threads=threads)(np.ma.masked_array(x[0]), *x[1:])
        np.testing.assert_array_equal(np.asarray(bare), expected)
    energy = lw.compile(robot, lw.algorithms.kinetic_energy)
    with pytest.raises(lw.InputError, match="without masks"):
        energy(np.ma.masked_array(x[0][0], mask=[True, False, False]), x[1][0])


def test_rows_are_computed_where_no_thread_is_to_be_had(monkeypatch):
    def none(*_):
        raise RuntimeError("can't start new thread")

    robot = arm(3)
    x = states(robot, 1000)
    expected = lw.compile(robot, lw.inverse_dynamics)(*x)
    monkeypatch.setattr(ThreadPoolExecutor, "submit", none)
    np.testing.assert_array_equal(lw.compile(robot, lw.inverse_dynamics, threads=2)(*x), expected)


def test_angles_far_out_have_no_sine_on_any_back_end(kernel):
    x = states(kernel.robot, 4)
    for k, far in enumerate([1e15, -1e16, 1e300]):
        x[0][k, 1] = far
    x[0][3, 1] = 9.9e14
    assert np.isnan(kernel(*x)).any(axis=1).tolist() == [True, True, True, False]


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint16, np.int64, np.uint64, np.float16, np.float32, ">f4", ">i2"])
def test_other_real_types_are_cast(kernel, plain, dtype):
    x = [np.round(2.0 * np.abs(a)).astype(dtype) for a in plain[0]]
    np.testing.assert_array_equal(kernel(*x), kernel(*(a.astype(float) for a in x)))


@pytest.mark.parametrize("value", [[0, 1, 2], (True, False, True), range(3), [np.float32(1.5), 2, np.int8(3)]])
def test_sequences_of_numbers(kernel, value):
    np.testing.assert_array_equal(kernel(value, value, value), kernel(*[np.array(value, float)] * 3))


def test_arguments_by_name(kernel, plain):
    (q, qd, qdd), expected = plain
    np.testing.assert_array_equal(kernel(qdd=qdd, q=q, qd=qd), expected)


@pytest.mark.parametrize(
    "batches",
    [[(), (), ()], [(1,), (600,), ()], [(600,), (1,), (600,)], [(600, 1), (1, 3), ()], [(4, 1, 5), (200, 1), (1, 1, 1)],
     [(1000, 1), (1000, 1), (1, 1)], [(3,), (1, 3), (700, 1)]],
)  # fmt: skip
def test_batch_axes_broadcast(kernel, batches):
    rng = np.random.default_rng(0)
    x = [rng.normal(size=(*b, 3)) for b in batches]
    full = np.broadcast_shapes(*batches)
    found = kernel(*x)
    assert found.shape == (*full, 3)
    np.testing.assert_array_equal(found, kernel(*(np.broadcast_to(a, (*full, 3)).copy() for a in x)))


def test_large_outer_broadcast(kernel):
    rng = np.random.default_rng(0)
    q, qd = rng.normal(size=(4096, 1, 3)), rng.normal(size=(1, 3, 3))
    found = kernel(q, qd, 0.0 * qd)
    assert found.shape == (4096, 3, 3)
    np.testing.assert_array_equal(found[17, 2], kernel(q[17, 0], qd[0, 2], np.zeros(3)))


@pytest.mark.parametrize("batch", [(0,), (3, 0), (0, 3), (1000, 0), (0, 1)])
def test_empty_batches(kernel, batch):
    empty = np.zeros((*batch, 3))
    assert kernel(empty, empty, empty).shape == (*batch, 3)
    assert kernel(empty, np.zeros(3), empty[..., :]).shape == (*batch, 3)
    out = empty.copy()
    assert kernel(empty, empty, empty, out=out) is out


# ---- out=


@pytest.mark.parametrize("form", ["plain", "tuple", "strided", "reversed", "Fortran order", "float32", "longer batch"])
def test_out_is_filled_and_returned(kernel, plain, form):
    x, expected = plain
    out = {
        "strided": np.zeros((1200, 9))[::2, ::3],
        "reversed": np.zeros((600, 3))[::-1, ::-1],
        "Fortran order": np.zeros((600, 3), order="F"),
        "float32": np.zeros((600, 3), np.float32),
    }.get(form, np.zeros((600, 3)))
    assert kernel(*x, out=(out,) if form == "tuple" else out) is out
    np.testing.assert_array_equal(out, expected.astype(out.dtype))


@pytest.mark.parametrize("argument", [0, 1, 2])
def test_out_may_be_an_input(kernel, plain, argument):
    x, expected = plain
    given = [a.copy() for a in x]
    kernel(*given, out=given[argument])
    np.testing.assert_array_equal(given[argument], expected)


@pytest.mark.parametrize("shift", [-7, -1, 1, 7])
def test_out_may_overlap_an_input(kernel, plain, shift):
    x, expected = plain
    buffer = np.zeros((620, 3))
    q, out = buffer[10:610], buffer[10 + shift : 610 + shift]
    q[...] = x[0]
    kernel(q, x[1], x[2], out=out)
    np.testing.assert_array_equal(out, expected)


def test_out_may_be_an_input_turned_around(kernel, plain):
    x, expected = plain
    q = x[0].copy()
    kernel(q, x[1], x[2], out=q[::-1, ::-1])
    np.testing.assert_array_equal(q[::-1, ::-1], expected)


def test_an_input_that_is_a_result_is_not_overwritten_too_soon(tmp_path):
    from linkwise.backend import arrays
    from linkwise.graph.program import Port, trace

    swap = trace("swap", lambda x: ([x[1], x[0]],), [Port("x", (2,))], [Port("y", (2,))])
    x = np.array([[1.0, 2.0], [3.0, 4.0]])
    arrays.function(swap)(x, out=x)
    assert x.tolist() == [[2.0, 1.0], [4.0, 3.0]]


# ---- several outputs, and scalars


@pytest.mark.parametrize("threads", [1, 2])
def test_several_outputs_are_a_named_tuple(threads):
    k = lw.compile(arm(3), lw.joint_wrenches, threads=threads)
    x = states(k.robot, 600)
    result = k(*x)
    assert result._fields == ("tau", "wrench")
    assert type(result).__name__ == "JointWrenches"
    assert (result.tau.shape, result.wrench.shape) == ((600, 3), (600, 3, 6))
    out = (np.zeros((600, 3)), np.zeros((600, 3, 6)))
    again = k(*x, out=out)
    assert again.tau is out[0]
    assert again.wrench is out[1]
    np.testing.assert_array_equal(out[1], result.wrench)
    half = k(*x, out=(None, out[1]))
    assert half.wrench is out[1]
    np.testing.assert_array_equal(half.tau, result.tau)


@pytest.mark.parametrize("backend", ["llvm", "numpy"])
def test_a_number_for_each_row(backend, monkeypatch):
    monkeypatch.setenv("LINKWISE_BACKEND", backend)
    k = lw.compile(arm(3), lw.algorithms.kinetic_energy)
    q, qd, _ = states(k.robot, 4)
    one = k(q[0], qd[0])
    assert isinstance(one, float)
    assert np.ndim(one) == 0
    many = k(q, qd)
    assert many.shape == (4,)
    assert many[0] == one
    out = np.zeros(())
    assert k(q[0], qd[0], out=out) is out
    assert out == one
    gaps = np.zeros(8)
    k(q, qd, out=gaps[::2])
    np.testing.assert_array_equal(gaps[::2], many)


MEMBERS = ("inverse_dynamics", "joint_wrenches", "mass_matrix", "coriolis_matrix", "bias_forces", "gravity_forces",
           "kinetic_energy", "potential_energy", "momentum", "regressor", "poses")  # fmt: skip


@pytest.mark.parametrize("member", MEMBERS)
def test_numpy_back_end_gives_the_same_answers(member, monkeypatch):
    robot = arm(3)
    native = getattr(lw.compile(robot), member)
    x = states(robot, 20)[: len(native.inputs)]
    expected = native(*x)
    monkeypatch.setenv("LINKWISE_BACKEND", "numpy")
    found = getattr(lw.compile(robot), member)(*x)
    pairs = zip(found, expected, strict=True) if isinstance(found, tuple) else [(found, expected)]
    for a, b in pairs:
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12 * np.abs(b).max())
