"""Long chains: no recursion error, no time that grows with the square of the length."""

import time

import numpy as np
import pytest

import linkwise as lw
from linkwise.algorithms.inverse_dynamics import inverse_dynamics
from linkwise.formats.urdf import load_urdf
from linkwise.robot.tree import Tree
from support.urdf import joint, link, urdf

LIMIT = 10.0  # seconds
ORIGIN = '<origin xyz="0.02 0 0.05" rpy="0.3 0 0"/>'


def chain(joints: int) -> str:
    links = (link(f"l{k}") for k in range(joints + 1))
    return urdf(*links, *(joint(f"j{k}", f"l{k}", f"l{k + 1}", inside=ORIGIN) for k in range(joints)))


def test_a_file_of_ten_thousand_links(tmp_path):
    path = tmp_path / "snake.urdf"
    path.write_text(chain(9_999))
    robot = load_urdf(path)
    assert (len(robot.links), robot.nv) == (10_000, 9_999)
    tree = Tree.of(robot)
    assert len(tree.ancestors(len(tree.bodies) - 1)) == 9_999


@pytest.fixture(scope="module")
def snake():
    return load_urdf(chain(1_000))


def torques(robot):
    """A state, its torques by the plain algorithm, and how long they took."""
    state = np.random.default_rng(0).uniform(-0.1, 0.1, (3, robot.nv))
    start = time.perf_counter()
    tau = inverse_dynamics.plain(robot, *state.tolist())
    return state, np.array(tau), time.perf_counter() - start


def test_a_thousand_joints_in_plain_python(snake):
    _, tau, taken = torques(snake)
    assert np.isfinite(tau).all()
    assert taken < LIMIT


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["numpy", "llvm"])
def test_a_thousand_joints_as_a_kernel(snake, backend, monkeypatch):
    """Traced, and interpreted or compiled, with an empty cache."""
    monkeypatch.setenv("LINKWISE_CACHE", "off")
    monkeypatch.setenv("LINKWISE_BACKEND", backend)
    state, expected, _ = torques(snake)
    start = time.process_time()
    tau = lw.compile(snake).inverse_dynamics(*state)
    assert time.process_time() - start < LIMIT
    np.testing.assert_allclose(tau, expected, rtol=0, atol=1e-12 * np.abs(expected).max())
