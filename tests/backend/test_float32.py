"""Kernels in float32: every operation, accuracy, what goes in and out, and machines of every kind."""

import itertools
import pickle
from dataclasses import replace

import numpy as np
import pytest

import linkwise as lw
from linkwise.backend import arrays
from linkwise.errors import InputError, LinkwiseError
from linkwise.graph.op import FARTHEST, OPS
from linkwise.graph.program import Port, trace
from linkwise.kernel.columns import Columns, ForwardColumns
from linkwise.kernel.options import Options
from support.arms import arm, states
from support.backends import definition, every_op, in_c, native, ulps

EXACT = ("add", "sub", "mul", "div", "neg", "sqrt", "sign", "abs", "less", "where")
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.3, -2.75, 1e-45, -1.2e-38, 1e-30, -1e-9, 12345.678, -30.0, 88.5, -100.0, 1e30,
           -3.4e38, np.inf, -np.inf, np.nan]  # fmt: skip
FORMS = [(4, True), (8, True), (16, True), (2, False), (8, False)]
PROGRAM = every_op("float32")
rng = np.random.default_rng(0)


# ---- operations


@pytest.fixture(scope="module")
def rows():
    """All pairs of special numbers, and random ones of all sizes."""
    rng = np.random.default_rng(1)
    pairs = np.array([(a, b, c) for a, b in itertools.product(SPECIAL, repeat=2) for c in (1.5, np.nan)])
    wide = rng.normal(size=(400, 3)) * 10.0 ** rng.integers(-8, 8, (400, 3))
    return np.concatenate([pairs, rng.uniform(-4.0, 4.0, (400, 3)), wide]).astype(np.float32)


def check(found, rows):
    """Arithmetic to the last bit, functions to 4 units in the last place, against results in float64."""
    expected = dict(zip(OPS, definition(replace(PROGRAM, dtype="float64"))(rows), strict=True))
    far = ~(np.abs(rows[:, 0]) < FARTHEST["float32"])
    for op, y in zip(OPS, found, strict=True):
        assert y.dtype == np.float32
        with np.errstate(all="ignore"):
            truth = expected[op].astype(np.float32)
        if op in ("sin", "cos"):
            truth[far] = np.nan
        worst = ulps(y, truth)
        k = int(np.argmax(worst))
        limit = 0.0 if op in EXACT else 4.0
        assert worst[k] <= limit, f"{op}{tuple(rows[k])}: {y[k]!r}, expected {truth[k]!r}, {worst[k]} ulp"


@pytest.mark.parametrize(("lanes", "fma"), FORMS)
def test_native_operations(rows, lanes, fma):
    with np.errstate(all="raise"):
        check(native(PROGRAM, lanes, fma)(rows), rows)


def test_operations_in_pieces(rows):
    check(native(PROGRAM, 8, chunk=5, in_module=2)(rows), rows)


def test_numpy_operations(rows):
    with np.errstate(all="raise"):
        check(arrays.function(PROGRAM)(rows), rows)


def test_c_operations(rows, tmp_path):
    found = dict(zip(OPS, in_c(tmp_path, PROGRAM)(rows), strict=True))
    for op in ("sin", "cos"):  # those of libm, which has numbers for angles that are NaN elsewhere
        found[op][np.abs(rows[:, 0]) >= FARTHEST["float32"]] = np.nan
    check(found.values(), rows)


ANGLES = {
    "within a turn": rng.uniform(-7.0, 7.0, 200_000),
    "up to 1e4": rng.uniform(-1e4, 1e4, 200_000),
    "up to the farthest": rng.uniform(-2e6, 2e6, 200_000),
    "small": 10.0 ** rng.uniform(-44.0, 0.0, 20_000),
    "next to multiples of half pi": np.arange(1.0, 1_270_000.0, 3.0) * (0.5 * np.pi),
}


@pytest.mark.parametrize("where", ANGLES)
def test_sine_and_cosine_to_two_units_in_the_last_place(where):
    """Of all numbers below the farthest the worst is 2.08, of those below 1e5 it is 1.56."""
    program = trace("sincos", lambda x: ([x[0].sin()], [x[0].cos()]), [Port("x", ())], [Port("s", ()), Port("c", ())])
    x = ANGLES[where].astype(np.float32)
    x = np.concatenate([x, np.nextafter(x, np.float32(0.0)), -x])
    x = x[np.abs(x) < FARTHEST["float32"]]
    for found, exact in zip(native(replace(program, dtype="float32"), 8)(x), (np.sin, np.cos), strict=True):
        truth = exact(x.astype(float))
        assert (np.abs(found - truth) / np.spacing(np.abs(truth).astype(np.float32))).max() < 2.1


def test_the_angle_of_a_point_to_three_units_in_the_last_place():
    rng = np.random.default_rng(1)
    program = trace("angle", lambda y, x: ([y[0].atan2(x[0])],), [Port("y", ()), Port("x", ())], [Port("angle", ())])
    sizes = 10.0 ** rng.uniform(-44.0, 38.0, (50_000, 2))
    points = np.concatenate([rng.uniform(-1.0, 1.0, (200_000, 2)), rng.normal(size=(50_000, 2)) * sizes])
    y, x = points.astype(np.float32).T
    truth = np.arctan2(y.astype(float), x.astype(float))
    found = native(replace(program, dtype="float32"), 8)(y, x)
    assert (np.abs(found - truth) / np.spacing(np.abs(truth).astype(np.float32))).max() < 3.0


# ---- kernels


ROBOT = arm(3)


@pytest.fixture(scope="module")
def kernel():
    return lw.compile(ROBOT, lw.inverse_dynamics, dtype="float32")


@pytest.fixture(scope="module")
def exact():
    return lw.compile(ROBOT, lw.inverse_dynamics)


def near(found, exact, part=1e-6):
    """Results of one kernel in both kinds of numbers, field by field; NaN in the same places."""
    for a, b in zip(*(x if isinstance(x, tuple) else (x,) for x in (found, exact)), strict=True):
        assert np.asarray(a).dtype == np.float32
        np.testing.assert_allclose(a, b, rtol=0.0, atol=part * max(1e-30, np.nanmax(np.abs(b), initial=0.0)))


@pytest.mark.parametrize("dtype", ["float32", np.float32, np.dtype("f4"), "f4"], ids=str)
def test_the_kind_of_numbers_has_many_names(dtype):
    k = lw.compile(ROBOT, lw.mass_matrix, dtype=dtype)
    assert k.dtype == np.float32
    assert repr(k).endswith("M(3, 3), float32>")


@pytest.mark.parametrize("dtype", ["float16", "int32", "double precision", complex, None, 3, {}, "O"], ids=str)
def test_other_kinds_of_numbers_are_refused(dtype):
    with pytest.raises(InputError, match=r"^dtype: expected one of \('float64', 'float32'\), got "):
        lw.compile(ROBOT, dtype=dtype)


def test_float64_says_so(exact):
    assert exact.dtype == np.float64
    assert "float" not in repr(exact)


def test_real_numbers_of_every_kind_go_in(kernel, exact):
    x = states(ROBOT, 5)
    truth = kernel(*(a.astype(np.float32) for a in x))
    near(truth, exact(*x))
    for kind in (np.float64, np.longdouble, ">f4", ">f8"):
        np.testing.assert_array_equal(kernel(*(a.astype(kind) for a in x)), truth)
    whole = [np.round(a) for a in x]
    for kind in (int, np.int8, np.float16, np.uint64):
        given = [np.abs(a).astype(kind) for a in whole]
        near(kernel(*given), exact(*(np.abs(a) for a in whole)))
    near(kernel([0, 1, True], [0.5, 1.0, 2.0], [1, 2, 3]), exact([0, 1, 1], [0.5, 1.0, 2.0], [1, 2, 3]))


@pytest.mark.parametrize("where", ["native", "threads", "numpy"])
def test_arrays_to_fill(where, monkeypatch):
    monkeypatch.setenv("LINKWISE_BACKEND", "numpy" if where == "numpy" else "llvm")
    k = lw.compile(ROBOT, lw.inverse_dynamics, dtype="float32", threads=2 if where == "threads" else 1)
    x = [a.astype(np.float32) for a in states(ROBOT, 700)]
    truth = k(*x)
    assert truth.dtype == np.float32
    for dtype in (np.float32, np.float64):
        out = np.full((700, 3), np.nan, dtype)
        assert k(*x, out=out) is out
        np.testing.assert_array_equal(out, truth)
    np.testing.assert_array_equal(k(*x, out=x[1]), truth)  # an output may be one of the inputs
    x = states(ROBOT, 700)
    for bad in (np.empty((700, 3), int), np.empty((600, 3), np.float32)):
        with pytest.raises(InputError, match=r"out must be writable float32 array\(s\) of shape \(700, 3\)"):
            k(*x, out=bad)


def test_rows_do_not_depend_on_their_batch_or_on_threads(kernel):
    x = [a.astype(np.float32) for a in states(ROBOT, 1000)]
    truth = kernel(*x)
    for rows in (1, 3, 16, 17, 33):
        np.testing.assert_array_equal(kernel(*(a[:rows] for a in x)), truth[:rows])
    np.testing.assert_array_equal(lw.compile(ROBOT, lw.inverse_dynamics, dtype="float32", threads=3)(*x), truth)
    np.testing.assert_array_equal(kernel(*(np.asfortranarray(a) for a in x)), truth)


def test_pickles_keep_the_kind_of_numbers(kernel):
    again = pickle.loads(pickle.dumps(kernel))
    assert again.dtype == np.float32
    x = states(ROBOT, 3)
    np.testing.assert_array_equal(again(*x), kernel(*x))
    assert pickle.loads(pickle.dumps(lw.compile(ROBOT, dtype="float32"))).mass_matrix.dtype == np.float32


def test_both_kinds_live_side_by_side(kernel, exact):
    """They share no code, in this process and in the cache."""
    x = states(ROBOT, 3)
    assert [f(*x).dtype for f in (exact, kernel, exact)] == [np.float64, np.float32, np.float64]
    assert kernel.program.digest != exact.program.digest
    assert kernel.count() == exact.count()


def test_c_source(tmp_path, kernel):
    source = kernel.c_source()
    assert "double" not in source
    x = [a.astype(np.float32) for a in states(ROBOT, 50)]
    near(in_c(tmp_path, kernel.program)(*x), kernel(*x))


def test_a_robot_without_degrees_of_freedom():
    assert lw.compile(arm(1).lock(["joint1"]), dtype="float32").mass_matrix(np.zeros((2, 0))).dtype == np.float32


def test_matrices_column_by_column():
    robot = arm(2)
    x, options = states(robot, 2), Options(dtype="float32")
    for algorithm, kind in (
        (lw.inverse_dynamics_derivatives, Columns),
        (lw.forward_dynamics_derivatives, ForwardColumns),
    ):
        k = kind.of(robot, algorithm, options, {})
        near(k(*x), lw.compile(robot, algorithm)(*x), 1e-5)
        assert k.dtype == np.float32


# ---- every machine


MACHINES = {
    "arm": lambda: lw.load("arm7"),
    "tree": lambda: lw.random_tree(5, 6, floating=True, friction=0.5, springs=0.3, motors=0.3, armature=0.3),
    "elastic": lambda: lw.random_tree(3, 4, elastic=0.5),
    "hexapod": lambda: lw.load("gough_stewart"),
    "linkage": lambda: lw.load("palletiser"),
    "by Newton's method": lambda: lw.load("ankle"),
}
FUNCTIONS = ("inverse_dynamics", "forward_dynamics", "mass_matrix", "joint_wrenches", "inverse_dynamics_derivatives",
             "gravity_forces", "kinetic_energy", "integrate", "difference")  # fmt: skip


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("where", ["native", "numpy"])
def test_every_machine_to_two_hundred_thousandths(machine, where, monkeypatch):
    rng = np.random.default_rng(1)
    monkeypatch.setenv("LINKWISE_BACKEND", "numpy" if where == "numpy" else "llvm")
    robot = MACHINES[machine]()
    wide, single = lw.compile(robot), lw.compile(robot, dtype="float32")
    inputs = {"q": np.array([robot.q()] * 20), "q0": np.array([robot.q()] * 20), "q1": np.array([robot.q()] * 20)}
    if robot.nq == robot.nv:
        inputs = {name: x + rng.uniform(-0.2, 0.2, x.shape) for name, x in inputs.items()}
    for name in FUNCTIONS:
        f = getattr(wide, name)
        given = [inputs.get(p, rng.uniform(-1.0, 1.0, (20, *s))).astype(np.float32) for p, s in f.inputs.items()]
        near(getattr(single, name)(*given), f(*(x.astype(float) for x in given)), 2e-5)


@pytest.mark.parametrize("name", ["fourbar", "fivebar", "delta", "gough_stewart", "ankle"])
def test_newtons_method_arrives(name, tmp_path):
    """And says so: what is closed to the digits of float32 counts as closed."""
    rng = np.random.default_rng(1)
    robot = lw.load(name)
    wide, single = (lw.compile(robot, closure="newton", dtype=d) for d in ("float64", "float32"))
    q = np.array([robot.q()] * 30)
    q[:, : min(3, robot.nq)] += rng.uniform(-0.1, 0.1, (30, min(3, robot.nq)))
    found, truth = single.positions(q), wide.positions(q)
    assert truth.converged.all()
    assert found.converged.all()
    np.testing.assert_allclose(found.q, truth.q, atol=1e-4)
    x = [q, *rng.uniform(-1.0, 1.0, (2, 30, robot.nv))]
    near(single.inverse_dynamics(*x), wide.inverse_dynamics(*x), 5e-5)
    near(in_c(tmp_path, single.inverse_dynamics.program)(*x), wide.inverse_dynamics(*x), 5e-5)


def test_positions_out_of_reach_are_nan():
    dyn = lw.compile(lw.load("fivebar"), closure="newton", dtype="float32")
    q = np.array([[3.0, -3.0], [40.0, 1.0]])
    exact = lw.compile(dyn.robot, closure="newton").positions(q)
    np.testing.assert_array_equal(dyn.positions(q).converged, exact.converged)


def test_rollouts():
    rng = np.random.default_rng(1)
    robot = arm(2)
    q, qd = states(robot, 4)[:2]
    u = rng.uniform(-1.0, 1.0, (4, 200, 2))
    wide, single = lw.compile_rollout(robot)(q, qd, u, 1e-3), lw.compile_rollout(robot, dtype="float32")(q, qd, u, 1e-3)
    near(single[:2], wide[:2], 2e-5)


def test_unknown_options_list_this_one():
    with pytest.raises(LinkwiseError, match="Valid names: 'parameters', 'threads', 'dtype'"):
        lw.compile(ROBOT, lw.mass_matrix, external="tool")
