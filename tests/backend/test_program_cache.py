"""Programs found in the cache without being traced again."""

from dataclasses import fields, replace

import numpy as np
import pytest

import linkwise as lw
from linkwise.backend import cache, native
from linkwise.backend import program_cache as module
from linkwise.backend.differentiable import Differentiable
from linkwise.backend.program_cache import Recalled, recalled, remembered
from linkwise.graph import differential
from linkwise.graph.program import Port, trace
from linkwise.kernel import kernel as kernels
from linkwise.kernel.fingerprint import facts_of
from linkwise.kernel.options import Options
from linkwise.spatial import Wrench
from support.arms import arm, states
from support.processes import finish, run, start


@pytest.fixture(autouse=True)
def source(monkeypatch):
    """Source files that are older than this process, whenever they were edited."""
    monkeypatch.setattr(module, "_source", lambda: "source")


@pytest.fixture
def traced(monkeypatch):
    """The algorithms that are traced from now on."""
    log, trace_kernel = [], kernels.trace_kernel

    def tracing(robot, algorithm, *rest):
        log.append(algorithm.name)
        return trace_kernel(robot, algorithm, *rest)

    monkeypatch.setattr(kernels, "trace_kernel", tracing)
    return log


def made(factor, calls):
    def make():
        calls.append(factor)
        program = trace("scaled", lambda x: ([factor * v for v in x],), [Port("x", (3,))], [Port("y", (3,))])
        return program, {"factor": factor, "pairs": [(0, 1)]}

    return make


def test_the_second_time_nothing_is_traced(monkeypatch):
    calls = []
    for _ in range(3):
        function, notes = remembered("by two", made(2.0, calls))
        np.testing.assert_array_equal(function(np.ones((5, 3))), np.full((5, 3), 2.0))
        assert notes == {"factor": 2.0, "pairs": [(0, 1)]}
        monkeypatch.setattr(module, "_known", {})  # as in another process
    assert calls == [2.0]


def test_other_facts_are_another_function():
    calls = []
    for factor in (2.0, 3.0):
        function, _ = remembered(f"by {factor}", made(factor, calls))
        assert function([1.0, 1.0, 1.0])[0] == factor
    assert calls == [2.0, 3.0]


@pytest.mark.parametrize("what", ["_source", "__version__", "sys.version", "np.__version__"])
def test_other_versions_are_another_program(monkeypatch, what):
    calls = []
    native.function(recalled(f"versions {what}", made(2.0, calls))[0])
    monkeypatch.setattr(f"linkwise.backend.program_cache.{what}", (lambda: "edited") if what == "_source" else "edited")
    native.function(recalled(f"versions {what}", made(2.0, calls))[0])
    assert len(calls) == 2


def test_without_a_cache(monkeypatch):
    monkeypatch.setenv("LINKWISE_CACHE", "off")
    calls = []
    remembered("uncached", made(2.0, calls))
    remembered("uncached", made(2.0, calls))
    assert len(calls) == 1  # this process knows it


def test_the_interpreter_is_asked_where_it_is_in_use(monkeypatch):
    monkeypatch.setenv("LINKWISE_BACKEND", "numpy")
    function, notes = remembered("interpreted", made(2.0, []))
    np.testing.assert_array_equal(function(np.ones((2, 3))), np.full((2, 3), 2.0))
    assert notes["factor"] == 2.0


def test_nothing_of_a_program_is_left_to_a_default():
    program, _ = recalled("fields", made(2.0, []))
    for field in fields(program):
        assert field.name in vars(program) or isinstance(vars(Recalled).get(field.name), property), field.name


# ---- kernels

SEEN = arm(3, mass=1.5)


@pytest.mark.parametrize("algorithm", [lw.inverse_dynamics, lw.mass_matrix, lw.derivative(lw.inverse_dynamics, "q")])
def test_a_kernel_that_was_called_is_not_traced_again(algorithm, traced):
    first = lw.compile(SEEN, algorithm)
    x = states(SEEN, 5)[: len(first.inputs)]
    expected = first(*x)
    traced.clear()
    again = lw.compile(SEEN, algorithm)
    np.testing.assert_array_equal(again(*x), expected)
    assert (again.inputs, again.outputs, repr(again)) == (first.inputs, first.outputs, repr(first))
    assert not traced
    assert (again.count(), again.listing(), again.c_source()) == (first.count(), first.listing(), first.c_source())
    assert traced == [algorithm.name]


def test_numbers_of_less_precision_are_recalled_as_such(traced):
    x = states(SEEN, 5)
    expected = [lw.compile(SEEN, lw.mass_matrix, dtype=kind)(x[0]) for kind in ("float32", "float64")]
    traced.clear()
    for kind, before in zip(("float32", "float64"), expected, strict=True):
        found = lw.compile(SEEN, lw.mass_matrix, dtype=kind)
        assert (found.dtype, found(x[0]).dtype) == (np.dtype(kind), np.dtype(kind))
        np.testing.assert_array_equal(found(x[0]), before)
    assert not traced


def test_threads_need_no_trace(traced):
    x = states(SEEN, 5)
    expected = lw.compile(SEEN, lw.inverse_dynamics)(*x)
    traced.clear()
    for threads in (2, "auto"):
        again = lw.compile(SEEN, lw.inverse_dynamics, threads=threads)
        for _ in range(3):
            np.testing.assert_array_equal(again(*x), expected)
    assert not traced


def test_derivatives_are_recalled_too(monkeypatch):
    """A gradient in another process traces neither the kernel nor its derivatives, and has the same numbers."""
    made, found = [], []
    for kind in ("forward", "backward"):
        make = getattr(differential, kind)
        monkeypatch.setattr(differential, kind, lambda *x, make=make: made.append(make(*x)) or made[-1])
    for _ in range(2):
        whole = Differentiable(lw.compile(arm(3), lw.inverse_dynamics).program)
        back = whole.forward((0,)).transposed((3,))
        found.append(back(*np.ones((4, 3))))
        assert back is whole.backward((0,))
    assert [p.name for p in made] == ["inverse_dynamics_forward", "inverse_dynamics_backward"]
    np.testing.assert_array_equal(*found)


def test_loops_are_recalled_too(traced):
    robot = lw.load("delta")
    x = robot.q(), np.ones(3), np.ones(3)
    expected = lw.compile(robot).inverse_dynamics(*x)
    traced.clear()
    dyn = lw.compile(lw.load("delta"))
    np.testing.assert_array_equal(dyn.inverse_dynamics(*x), expected)
    assert not traced
    lower = dyn.positions(np.add(robot.q(), [0.0, 0.0, 0.01])).q
    np.testing.assert_allclose(dyn.inverse_dynamics(*x, guess=lower), expected, rtol=1e-9)


OTHERS = {
    "a number": (lambda r: r.replace(gravity=(0.0, 0.0, np.nextafter(-9.81, 0.0))), {}),
    "the sign of zero": (lambda r: r.replace(gravity=(0.0, -0.0, -9.81)), {}),
    "a name": (lambda r: r.replace(name="another"), {}),
    "gravity": (lambda r: r, {"gravity": (0.0, 0.0, -1.62)}),
    "an input": (lambda r: r, {"gravity": "input"}),
    "a moving base": (lambda r: r, {"base_motion": True}),
    "external wrenches": (lambda r: r, {"external": ["tool"]}),
    "parameters": (lambda r: r, {"parameters": ["link1.mass"]}),
    "numbers of less precision": (lambda r: r, {"dtype": "float32"}),
}


@pytest.mark.parametrize("other", OTHERS)
def test_whatever_decides_a_program_is_seen(other):
    change, options = OTHERS[other]
    robot = lw.load("rr")
    robot = robot if any(f.name == "tool" for f in robot.frames) else robot.replace(frames=[lw.Frame("tool", "link1")])
    same = facts_of(robot, lw.inverse_dynamics, Options(), {})
    assert same == facts_of(robot.replace(), lw.inverse_dynamics, Options(threads=2), {})
    changed = facts_of(change(robot), lw.inverse_dynamics, Options.checked(robot, **options), {})
    assert None not in (same, changed)
    assert changed != same
    assert facts_of(robot, lw.pose, Options(), {"frame": "tool"}) != facts_of(robot, lw.pose, Options(), {"frame": "a"})
    assert facts_of(robot, lw.mass_matrix, Options(), {}) != same


def test_what_is_known_by_its_code_alone_is_traced(traced):
    robot = arm(2)

    @lw.algorithm(inputs="q", outputs={"y": ("nq",)})
    def own(machine, q):
        return ([2.0 * x for x in q],)

    assert facts_of(robot, own, Options(), {}) is None
    assert facts_of(robot, replace(lw.inverse_dynamics, doc="own"), Options(), {}) is None
    assert facts_of(robot, lw.pose, Options(), {"frame": object()}) is None
    for factor in (1.0, 2.0):
        laws = {robot.links[-1].name: lambda pose, v, k=factor: Wrench(force=-k * v.linear)}
        assert facts_of(robot, lw.inverse_dynamics, Options.checked(robot, forces=laws), {}) is None
        lw.compile(robot, lw.inverse_dynamics, forces=laws)
    assert traced == ["inverse_dynamics"] * 2


def test_refusals_come_when_they_came():
    """What cannot be traced is never kept."""
    robot = lw.load("rr")
    for _ in range(2):
        with pytest.raises(lw.LinkwiseError):
            lw.compile(robot, lw.pose, frame=3)


def entries():
    return set(cache.directory().glob("*.bin"))


def called(robot):
    """A kernel that was called in what might be a new process; the files that this added."""
    before = entries()
    native._functions.clear()
    kernel = lw.compile(robot, lw.inverse_dynamics)
    return kernel, kernel(*states(robot, 5)), entries() - before


@pytest.mark.parametrize("data", [b"", b"nonsense", b"linkwise-code-2\n" + bytes(40)])
def test_damaged_notes_are_ignored(data, monkeypatch, traced):
    robot = arm(2, mass=1.0 + len(data) / 64)
    _, expected, files = called(robot)
    note = min(files, key=lambda file: file.stat().st_size)
    note.write_bytes(data)
    traced.clear()
    monkeypatch.setattr(cache, "_warned", False)
    with pytest.warns(cache.CacheWarning, match="damaged"):
        _, found, _ = called(robot)
    np.testing.assert_array_equal(found, expected)
    assert traced == ["inverse_dynamics"]
    traced.clear()
    called(robot)
    assert not traced  # they were written anew


def test_notes_without_code_are_traced(traced):
    robot = arm(2, mass=3.25)
    _, expected, files = called(robot)
    max(files, key=lambda file: file.stat().st_size).unlink()
    traced.clear()
    kernel, found, _ = called(robot)
    np.testing.assert_array_equal(found, expected)
    assert isinstance(kernel.program, Recalled)
    assert traced == ["inverse_dynamics"]


def test_notes_of_another_program_lead_to_no_wrong_code(monkeypatch):
    """Code is kept under the hash of what it was compiled from, whatever notes say."""
    robot = arm(2, mass=3.5)
    digest, known = lw.compile(robot, lw.inverse_dynamics).program.digest, Recalled._known
    with monkeypatch.context() as patch:
        patch.setattr(Recalled, "_known", lambda self: known(self) | {"digest": "of another"})
        first, expected, _ = called(robot)
    assert first.program.digest == "of another"
    second, found, _ = called(robot)
    np.testing.assert_array_equal(found, expected)
    third, found, added = called(robot)
    np.testing.assert_array_equal(found, expected)
    assert (second.program.digest, third.program.digest, added) == ("of another", digest, set())


def test_an_edit_while_a_process_runs_is_seen(monkeypatch, tmp_path):
    monkeypatch.undo()
    (tmp_path / "a.py").write_text("x = 1\n")
    monkeypatch.setattr(module, "ROOT", tmp_path)
    source = module._source.__wrapped__
    assert source() is None  # younger than this process
    monkeypatch.setattr(module, "BEGAN", module.BEGAN + 10**18)
    seen = [source()]
    (tmp_path / "a.py").write_text("x = 2\n")
    seen.append(source())
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "b.py").write_text("")
    seen.append(source())
    monkeypatch.setattr(module, "ROOT", tmp_path / "nowhere")
    assert len({*seen, source()}) == 4


CALL = """
import sys
import linkwise as lw
from support.arms import arm, states
from linkwise.kernel import kernel
from linkwise.backend import program_cache
program_cache._source = lambda: "source"
def refuse(*given):
    raise SystemExit("traced")
WARM and setattr(kernel, "trace_kernel", refuse)
robot = arm(3, mass=1.75)
print(lw.compile(robot).inverse_dynamics(*states(robot, 5)).tobytes().hex())
print(lw.compile(robot, lw.forward_dynamics_derivatives)(*states(robot, 5)).Minv.tobytes().hex())
"""


def test_other_processes_trace_nothing():
    cold = run(CALL.replace("WARM", "False"))
    assert run(CALL.replace("WARM", "True")) == cold


def test_processes_at_the_same_time():
    text = CALL.replace("WARM", "False").replace("1.75", "1.875")
    started = [start(text) for _ in range(3)]
    assert len({finish(p) for p in started}) == 1


def test_what_shows_only_a_part_of_itself_is_traced():
    """NumPy shows eight digits of a number in an array, and three at either end of a long one."""
    robot = arm(2)
    options = Options.checked(robot)
    assert facts_of(robot, lw.inverse_dynamics, options, {}) is not None
    assert facts_of(robot, lw.inverse_dynamics, replace(options, gravity=np.array([0.0, 0.1, -9.81])), {}) is None


def test_an_algorithm_of_code_given_as_a_text_is_traced():
    algorithm = replace(lw.inverse_dynamics)
    object.__setattr__(algorithm, "__module__", None)
    assert facts_of(arm(2), algorithm, Options(), {}) is None
