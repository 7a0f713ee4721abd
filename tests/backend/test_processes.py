"""Kernels across processes and threads: pickling, fork, spawn, concurrent first calls, missing libraries."""

import copy
import os
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import linkwise as lw
from linkwise.backend import llvm
from support.arms import arm, states
from support.processes import run

PICKLED = {
    "plain": {},
    "threads": {"threads": 2},
    "external": {"external": ("tool", "link1")},
    "base motion": {"base_motion": True},
    "parameters": {"parameters": ("link2.mass", "joint1.viscous")},
    "gravity": {"gravity": (0.0, 0.0, -1.62)},
    "gravity input": {"gravity": "input"},
}


@pytest.mark.parametrize("copied", [lambda x: pickle.loads(pickle.dumps(x)), copy.deepcopy, copy.copy])
@pytest.mark.parametrize("options", PICKLED)
def test_kernels_are_copied_by_what_they_are_made_of(options, copied):
    k = lw.compile(arm(3), lw.inverse_dynamics, **PICKLED[options])
    again = copied(k)
    assert isinstance(again, lw.Kernel)
    assert again.inputs == k.inputs
    assert again.program.digest == k.program.digest
    assert again.robot == k.robot
    assert repr(again) == repr(k)
    x = [np.random.default_rng(0).normal(size=(4, *s)) for s in k.inputs.values()]
    np.testing.assert_array_equal(again(*x), k(*x))


def test_static_options_are_kept():
    k = lw.compile(arm(3), lw.jacobian, frame="tool", axes="local")
    again = pickle.loads(pickle.dumps(k))
    assert again.program.digest == k.program.digest


@pytest.mark.parametrize("options", PICKLED)
def test_dynamics_are_pickled(options):
    dyn = lw.compile(arm(3), **PICKLED[options])
    again = pickle.loads(pickle.dumps(dyn))
    assert again.inverse_dynamics.program.digest == dyn.inverse_dynamics.program.digest
    assert again.inverse_dynamics.options.threads == dyn.inverse_dynamics.options.threads
    assert again.robot == dyn.robot


@pytest.mark.parametrize("name", lw.algorithms.__all__)
def test_algorithms_are_pickled_by_name(name):
    algorithm = getattr(lw.algorithms, name)
    assert pickle.loads(pickle.dumps(algorithm)) is algorithm


def test_concurrent_first_calls_compile_once(monkeypatch):
    compiled = []
    compile_objects = llvm.compile_objects

    def counted(program, levels):
        compiled.append(program.name)
        return compile_objects(program, levels)

    k = lw.compile(arm(3, mass=2.25), lw.inverse_dynamics, threads=2)
    k_again = lw.compile(arm(3, mass=2.25), lw.inverse_dynamics)
    lw.compile(arm(2), lw.algorithms.gravity_forces)(np.zeros(2))
    monkeypatch.setattr(llvm, "compile_objects", counted)
    barrier = threading.Barrier(8)
    x = states(k.robot, 700)

    def call(i):
        barrier.wait()
        return (k if i % 2 else k_again)(*x)

    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(call, range(8)))
    assert compiled == ["inverse_dynamics"]
    for r in results:
        np.testing.assert_array_equal(r, results[0])


FORK = """
import os, sys, warnings
import numpy as np
from support.arms import arm, states
import linkwise as lw

warnings.simplefilter("ignore", DeprecationWarning)  # of forking a process with threads
robot = arm(3)
x = states(robot, 100_000)
old, new = (lw.compile(robot, a, threads=2) for a in (lw.inverse_dynamics, lw.joint_wrenches))
expected = old(*x)
for child in range(2):
    pid = os.fork()
    if pid == 0:
        same = np.array_equal(old(*x), expected) and np.allclose(new(*x).tau, expected, rtol=1e-12)
        os._exit(0 if same else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
assert np.array_equal(old(*x), expected)
print("done")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_kernels_survive_a_fork():
    """With threads used before it, and kernels compiled after it."""
    assert run(FORK) == "done\n"


SPAWN = """
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
import numpy as np
from support.arms import arm, states
import linkwise as lw

robot = arm(3)
x = states(robot, 600)
kernel = lw.compile(robot, lw.inverse_dynamics, threads=2)
expected = kernel(*x)
with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
    for job in [pool.submit(kernel, *x) for _ in range(2)]:
        assert np.array_equal(job.result(), expected)
print("done")
"""


def test_kernels_travel_to_spawned_processes():
    assert run(SPAWN) == "done\n"


FALLBACK = """
import sys, warnings
import numpy as np
from support.arms import arm, states
import linkwise as lw

BROKEN
robot = arm(3)
dyn = lw.compile(robot)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    tau, M = dyn.inverse_dynamics(*states(robot, 5)), dyn.mass_matrix(states(robot, 5)[0])
print([(w.category.__name__, w.filename.rpartition("/")[2]) for w in caught])
print(tau.tolist() + M.tolist())
"""
BROKEN = {
    "llvmlite is missing": "sys.modules['llvmlite'] = None",
    "code cannot be generated": "from linkwise.backend import llvm; llvm.compile_objects = None",
    "NumPy's table has moved": "from linkwise.backend import gufunc; gufunc.FROM_FUNC_AND_DATA_AND_SIGNATURE = 'x'",
    "answers are wrong": "from linkwise.backend import gufunc; gufunc.make = lambda *a: lambda x: np.zeros((5, 1))",
}


def numbers(text):
    return np.concatenate([np.ravel(row) for row in eval(text.splitlines()[1])])


def same(text):
    robot = arm(3)
    dyn = lw.compile(robot)
    q, qd, qdd = states(robot, 5)
    expected = np.concatenate([dyn.inverse_dynamics(q, qd, qdd).ravel(), dyn.mass_matrix(q).ravel()])
    np.testing.assert_allclose(numbers(text), expected, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("how", BROKEN)
def test_without_native_code_the_interpreter_is_used_with_one_warning(how):
    text = run(FALLBACK.replace("BROKEN", BROKEN[how]), LINKWISE_CACHE="off")
    assert [w for w, _ in eval(text.splitlines()[0])] == ["RuntimeWarning"]
    same(text)


def test_the_interpreter_can_be_chosen():
    text = run(FALLBACK.replace("BROKEN", "sys.modules['llvmlite'] = None"), LINKWISE_BACKEND="numpy")
    assert text.splitlines()[0] == "[]"
    same(text)


def test_import_is_light():
    code = "import sys, linkwise; print([m for m in ('llvmlite', 'scipy', 'matplotlib') if m in sys.modules])"
    assert run(code) == "[]\n"


def test_nothing_is_compiled_before_a_call():
    code = """
    import sys
    from support.arms import arm
    import linkwise as lw
    dyn = lw.compile(arm(3))
    dyn.inverse_dynamics.count(), dyn.inverse_dynamics.c_source(), repr(dyn.mass_matrix)
    print("llvmlite" in sys.modules)
    """
    assert run(code) == "False\n"
