"""A compiled kernel computes what the algorithm says in plain Python."""

import numpy as np
import pytest

import linkwise as lw
from linkwise import algorithms
from linkwise.algorithms.algorithm import World, external_on_bodies
from linkwise.kernel.dynamics import Dynamics
from linkwise.robot.tree import Tree
from linkwise.spatial import Motion, Wrench
from linkwise.vector import Vec3
from support.trees import dynamics, error, states, tree

OWN = {"closed", "positions", "workspace", "clearance"}  # these have laws of their own
MEMBERS = sorted(
    name
    for name in vars(Dynamics)
    if not name.startswith("_") and isinstance(getattr(algorithms, name, None), lw.Algorithm) and name not in OWN
)
SEEDS = range(6)
ELASTIC = ("elastic_blocks", "elastic_feedforward")  # of robots with elastic drives, in their own laws
BY_GRAPH = ("inverse_dynamics_hessian", "inverse_dynamics_hessian_vector")  # these have laws of their own
FRAMED = ("pose", "jacobian", "jacobian_dot", "velocity", "acceleration", "jerk", "operational_inertia")

SOLVING = ("forward_dynamics", "forward_dynamics_derivatives", "linearization", "operational_inertia")


def test_every_member_is_tried():
    public = {name for name in vars(Dynamics) if not name.startswith("_")}
    assert public - OWN == set(MEMBERS)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_row_of_a_batch_is_the_plain_algorithm(seed):
    """Each row of each kernel = the algorithm on Python numbers."""
    robot = tree(seed)
    given = dict(zip(("q", "qd", "qdd"), states(robot, 6, seed), strict=True))
    rng = np.random.default_rng(seed)
    given |= {"tau": rng.normal(size=(6, robot.nv)) * 10.0, "dt": rng.normal(size=6)}
    given |= {"qddd": rng.normal(size=(6, robot.nv)), "force": rng.normal(size=(6, robot.nv))}
    given |= {"weights": rng.uniform(1.0, 2.0, (6, robot.nv))}
    given |= {"q0": given["q"], "q1": given["q"][::-1], "a": given["qdd"]}
    dyn = dynamics(robot)
    welds = [j for j in robot.joints if j.is_fixed]
    for name in MEMBERS:
        if name in BY_GRAPH or name in ELASTIC:
            continue
        algorithm = getattr(algorithms, name)
        inputs = [given[x] for x in algorithm.inputs]
        static, kernel = {}, getattr(dyn, name)
        if name == "operational_inertia" and np.linalg.matrix_rank(dyn.jacobian(given["q"][0], "tool")) < 6:
            continue
        if name in FRAMED:
            static = {"frame": "tool"}
            result = kernel(*inputs, "tool")
        elif name == "wrench_at":
            if not welds:
                continue
            static = {"keep": (welds[0].name,)}
            result = kernel(welds[0].name)(*inputs)
        else:
            result = kernel(*inputs)
        outputs = result if len(algorithm.outputs) > 1 else (result,)
        for row in (0, 5):
            plain = algorithm.plain(robot, *(x[row].tolist() for x in inputs), **static)
            plain = plain if len(algorithm.outputs) > 1 else (plain,)
            bound = 1e-12
            if name in SOLVING:  # rounding of M, relative to its largest eigenvalue, counts at its smallest
                bound = max(bound, np.finfo(float).eps * np.linalg.cond(dyn.mass_matrix(given["q"][row])))
            for whole, expected in zip(outputs, plain, strict=True):
                assert error(whole[row].reshape(-1), expected) < bound, name


@pytest.mark.parametrize("seed", SEEDS)
def test_a_row_with_every_option_is_the_plain_algorithm(seed):
    """The same with external wrenches, base motion and gravity as inputs."""
    robot = tree(seed)
    q, qd, qdd = states(robot, 6, seed)
    rng = np.random.default_rng(seed)
    names = ("tool", "frame3")
    f_ext, v, a, g = (
        rng.normal(size=(6, 2, 6)),
        rng.normal(size=(6, 6)),
        rng.normal(size=(6, 6)),
        rng.normal(size=(6, 3)),
    )
    kernel = lw.compile(robot, lw.joint_wrenches, external=names, base_motion=True, gravity="input")
    assert list(kernel.inputs) == ["q", "qd", "qdd", "f_ext", "base_velocity", "base_acceleration", "gravity"]
    outputs = kernel(q, qd, qdd, f_ext, v, a, g)
    laid_out = Tree.of(robot)
    for row in (0, 5):
        wrenches = {n: Wrench(Vec3(*f[:3]), Vec3(*f[3:])) for n, f in zip(names, f_ext[row].tolist(), strict=True)}
        world = World(
            Vec3(*g[row].tolist()),
            *(Motion(Vec3(*x[row, :3].tolist()), Vec3(*x[row, 3:].tolist())) for x in (v, a)),
            external_on_bodies(laid_out, wrenches),
        )
        *plain, cut = lw.joint_wrenches.function(laid_out, *(x[row].tolist() for x in (q, qd, qdd)), world=world)
        assert cut == []
        for whole, expected in zip(outputs, plain, strict=True):
            assert error(whole[row].reshape(-1), expected) < 1e-12


@pytest.mark.parametrize("seed", SEEDS)
def test_a_row_does_not_depend_on_the_batch(seed):
    """Rows alone and in batches of any length are the same to the last bit."""
    robot = tree(seed)
    q, qd, qdd = states(robot, 7)
    kernel = dynamics(robot).inverse_dynamics
    batch = kernel(q, qd, qdd)
    assert all(np.array_equal(kernel(q[k], qd[k], qdd[k]), batch[k]) for k in range(7))
    assert np.array_equal(kernel(q[2:5], qd[2:5], qdd[2:5]), batch[2:5])


def test_a_robot_that_cannot_move_has_empty_answers():
    """No joint is left: every member answers with axes of no length, but those that need a mass that moves."""
    robot = lw.random_tree(0, 3)
    still = lw.compile(robot.lock(robot.names))
    for name in MEMBERS:
        if name in (*FRAMED, *ELASTIC, "wrench_at", "share", "centre_of_mass", "com_jacobian") or "centroidal" in name:
            continue
        kernel = getattr(still, name)
        found = kernel(*(np.zeros((2, *shape)) for shape in kernel.inputs.values()))
        for value, shape in zip(found if isinstance(found, tuple) else (found,), kernel.outputs.values(), strict=True):
            assert value.shape == (2, *shape), name
