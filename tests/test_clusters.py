"""Functions of scripts and notebooks sent to pools, joblib, Dask and Ray: equal numbers, and errors as themselves."""

import os
import subprocess
import sys
import textwrap

import pytest

from support.processes import PATH

WORK = """
import sys
import linkwise as lw
import numpy as np

ROBOT = lw.load("arm7")
KERNEL = lw.compile(ROBOT, lw.joint_wrenches)

def work(k):
    '''It mentions the package, a robot, and a kernel with several results.'''
    sim = lw.simulate(ROBOT, np.full(7, 0.1 * k), None, 0.05, dense=True)
    return KERNEL(sim.q[-1], sim.qd[-1], sim.qdd[-1]), sim, lw.compile(ROBOT).mass_matrix(sim.q[-1])

def typo(k):
    return ROBOT.joint("join1")

def runs_away(k):
    return lw.simulate(ROBOT, None, None, 1.0, control=np.full(7, 1e160))

def check(found):
    for k, (wrenches, sim, M) in enumerate(found):
        expected, s, m = work(k)
        assert type(wrenches).__name__ == "JointWrenches"
        assert np.array_equal(wrenches.tau, expected.tau) and np.array_equal(wrenches.wrench, expected.wrench)
        assert np.array_equal(sim.state(0.01)[0], s.state(0.01)[0]) and np.array_equal(M, m)

def raised(kind, ask):
    try:
        ask()
    except kind as error:
        return error
    raise AssertionError("no error came back")

def check_errors(typo_asked, runaway_asked):
    assert "Did you mean 'joint1'?" in str(raised(lw.UnknownNameError, typo_asked))
    assert raised(lw.SimulationError, runaway_asked).result.robot == ROBOT
"""

POOLS = """
def main(method):
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

    context = multiprocessing.get_context(method)
    with ProcessPoolExecutor(2, mp_context=context) as pool:
        check(pool.map(work, range(3)))
        check_errors(pool.submit(typo, 0).result, pool.submit(runs_away, 0).result)
        check(pool.map(work, range(1)))  # the pool lives
    with context.Pool(2) as pool:
        check_errors(lambda: pool.map(typo, [0]), lambda: pool.map(runs_away, [0]))
        check(pool.map(work, range(3)))
    with ThreadPoolExecutor(2) as pool:
        check(pool.map(work, range(3)))
"""

JOBLIB = """
def main(backend):
    from joblib import Parallel, delayed

    def ask(function, count):
        return Parallel(2, backend=backend)(delayed(function)(k) for k in range(count))

    check(ask(work, 3))
    check_errors(lambda: ask(typo, 2), lambda: ask(runs_away, 2))
    check(ask(work, 1))
"""

DASK = """
def main(folder):
    import distributed

    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None, local_directory=folder
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        check(client.gather(client.map(work, range(3))))
        check_errors(client.submit(typo, 0).result, client.submit(runs_away, 0).result)
        assert client.submit(KERNEL, *np.zeros((3, 7))).result().tau.shape == (7,)
        check(client.gather(client.map(work, range(1))))
"""

RAY = """
def main(folder):
    import os
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    import ray

    ray.init(
        num_cpus=2, include_dashboard=False, object_store_memory=80 * 2**20, log_to_driver=False,
        configure_logging=False, _node_ip_address="127.0.0.1",
    )
    try:
        task, failing, stopping = ray.remote(work), ray.remote(typo), ray.remote(runs_away)
        check(ray.get([task.remote(k) for k in range(3)]))
        check_errors(lambda: ray.get(failing.remote(0)), lambda: ray.get(stopping.remote(0)))
        ray.get(ray.put(KERNEL))(*np.zeros((3, 7)))
    finally:
        ray.shutdown()
"""


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": PATH, "RAY_USAGE_STATS_ENABLED": "0"}


def script(folder, text: str, argument: str) -> None:
    """Run a script of its own, as a user does; it says so when it has come to its end."""
    file = folder / "script.py"
    file.write_text(WORK + text + '\nif __name__ == "__main__":\n    main(sys.argv[1])\n    print("done")\n')
    command = [sys.executable, str(file), argument]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=300, cwd=folder)
    assert done.stdout.endswith("done\n"), done.stdout + done.stderr


def notebook(folder, text: str, argument: str) -> None:
    """Run the same in cells of a notebook, whose functions no file has."""
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    last = f"main({argument!r})\nprint('done')"
    cells = [nbformat.v4.new_code_cell(textwrap.dedent(x)) for x in (WORK, text, last)]
    book = nbformat.v4.new_notebook(cells=cells)
    client = nbclient.NotebookClient(book, timeout=300, resources={"metadata": {"path": str(folder)}})
    client.execute(env=environment())
    assert book.cells[-1].outputs[-1].text.endswith("done\n")


METHODS = [
    pytest.param("fork", marks=pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")),
    pytest.param("spawn", marks=pytest.mark.slow),
    pytest.param("forkserver", marks=pytest.mark.slow),
]


@pytest.mark.parametrize("method", METHODS)
def test_pools_of_processes_and_threads(method, tmp_path):
    script(tmp_path, POOLS, method)


@pytest.mark.parametrize("backend", ["threading", pytest.param("loky", marks=pytest.mark.slow)])
def test_joblib(backend, tmp_path):
    pytest.importorskip("joblib")
    script(tmp_path, JOBLIB, backend)


def test_dask_from_a_script(tmp_path):
    script(tmp_path, DASK, str(tmp_path))


@pytest.mark.slow
def test_dask_from_a_notebook(tmp_path):
    notebook(tmp_path, DASK, str(tmp_path))


@pytest.mark.slow
@pytest.mark.parametrize("run", [script, notebook])
def test_ray(run, tmp_path):
    pytest.importorskip("ray")
    run(tmp_path, RAY, str(tmp_path))


SWEEP = """
class Strange(Exception):
    '''An exception that no process can read: what it is made with is not what it keeps.'''
    def __init__(self, joint, value):
        super().__init__(f"{joint} at {value}")

def typo_in_a_sweep(value, guess):
    return ROBOT.joint("join1")

def strange(value, guess):
    raise Strange("a", 1)

def main(folder):
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    for function, kind, words in (
        (typo_in_a_sweep, lw.UnknownNameError, "Did you mean 'joint1'?"),
        (strange, lw.InputError, "Is there an exception of yours"),
    ):
        with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("fork")) as pool:
            error = raised(kind, lambda: lw.sweep(function, [1.0, 2.0], executor=pool, folder=folder + words[:3]))
            assert words in str(error), error
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_sweep_says_what_happened_in_a_worker(tmp_path):
    script(tmp_path, SWEEP, str(tmp_path / "plans"))
