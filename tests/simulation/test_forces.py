"""Forces of the environment: what compiled kernels make of laws, and what each ready-made law does."""

import math
import pickle

import numpy as np
import pytest

import linkwise as lw
from linkwise.algorithms.algorithm import World
from linkwise.algorithms.environment import frame_wrenches
from linkwise.robot.tree import Tree
from linkwise.scalar import less, sqrt, tanh, where
from support.trees import SEEDS, dynamics, error, states, tree

G = 9.81


def spongy(pose, velocity):
    """A law with every kind of operation: depends on pose, velocity, branches."""
    v, w = velocity.linear, velocity.angular
    depth = where(less(pose.p.z, 0.5), 0.5 - pose.p.z, 0.0)
    push = pose.R.T @ lw.Vec3(0.0, 0.0, depth * 30.0)
    return lw.Wrench(push - v * (2.0 / sqrt(v.x * v.x + 1.0)), w * tanh(pose.p.x) * -0.3)


def as_arrays(robot, law, frame, q, qd):
    """The law's wrench on numbers, row by row: the definition."""
    rows = []
    for x, v in zip(q.tolist(), qd.tolist(), strict=True):
        rows.append(list(frame_wrenches(Tree.of(robot), x, v, {frame: [law]}, World())[frame]))
    return np.array(rows)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_law_is_an_external_wrench(seed):
    """A kernel with a law gives what a kernel with the law's wrench as an input gives."""
    robot = tree(seed)
    q, qd, qdd = states(robot)
    wrench = as_arrays(robot, spongy, "tool", q, qd)[:, None, :]
    state = {"qdd": (q, qd, qdd), "tau": (q, qd, qdd), "qd": (q, qd)}
    for algorithm in (lw.inverse_dynamics, lw.forward_dynamics, lw.algorithms.bias_forces, lw.joint_wrenches):
        by_law = lw.compile(robot, algorithm, forces={"tool": spongy})
        by_input = lw.compile(robot, algorithm, external="tool")
        assert tuple(by_law.inputs) == algorithm.inputs
        given = state[algorithm.inputs[-1]]
        a, b = by_law(*given), by_input(*given, wrench)
        for x, y in zip(*((r if isinstance(r, tuple) else (r,)) for r in (a, b)), strict=True):
            assert error(x, y) < 1e-11


def test_a_law_sees_the_frame_as_the_kernels_do():
    """Pose and velocity handed to a law are those of `pose` and `velocity`, and the base's motion counts."""
    robot = tree(1)
    q, qd, _ = states(robot)
    seen = {}

    def look(pose, velocity):
        seen["pose"], seen["velocity"] = pose, velocity
        return lw.Wrench()

    for k in range(len(q)):
        frame_wrenches(Tree.of(robot), q[k].tolist(), qd[k].tolist(), {"frame2": [look]}, World())
        assert error(seen["pose"].matrix(), dynamics(robot).pose(q[k], "frame2")) < 1e-13
        assert error(list(seen["velocity"]), dynamics(robot).velocity(q[k], qd[k], "frame2", axes="local")) < 1e-13


def test_laws_add_and_mix_with_external_wrenches():
    robot = tree(2)
    q, qd, qdd = states(robot)
    push = np.random.default_rng(0).normal(size=(len(q), 1, 6))
    both = lw.compile(robot, lw.inverse_dynamics, forces={"tool": [spongy, spongy]}, external="tool")
    once = lw.compile(robot, lw.inverse_dynamics, forces={"tool": spongy})
    none = dynamics(robot).inverse_dynamics(q, qd, qdd)
    pushed = lw.compile(robot, lw.inverse_dynamics, external="tool")(q, qd, qdd, push)
    expected = 2.0 * (once(q, qd, qdd) - none) + pushed
    assert error(both(q, qd, qdd, push), expected) < 1e-12


def test_a_law_in_hybrid_dynamics():
    robot = lw.random_tree(7, 5, floating=True, friction=0.5)
    q, qd, given = states(robot)
    wrench = as_arrays(robot, spongy, "tool", q, qd)[:, None, :]
    by_law = lw.compile(robot, lw.hybrid_dynamics, driven=robot.names[1:], forces={"tool": spongy})(q, qd, given)
    by_input = lw.compile(robot, lw.hybrid_dynamics, driven=robot.names[1:], external="tool")(q, qd, given, wrench)
    for a, b in zip(by_law, by_input, strict=True):
        assert error(a, b) < 1e-11


def test_base_motion_counts_in_laws():
    """Drag on a robot whose base moves is that of a floating one with the same velocity."""
    robot = lw.Robot([lw.Link("base"), lw.Link("fin", 1.0)], [lw.Joint("slide", "base", "fin", "prismatic")])
    drag = lw.simulation.Drag(linear=(1.0, 2.0, 3.0))
    k = lw.compile(robot, lw.inverse_dynamics, forces={"fin": drag}, base_motion=True, gravity=(0, 0, 0))
    tau = k([0.0], [0.5], [0.0], [0.1, 0.2, 0.3, 0, 0, 0], np.zeros(6))
    assert tau == pytest.approx([3.0 * 0.8], rel=1e-14)


def test_joint_laws_act_along_joints_and_through_mimicry():
    """A law on a mimicking joint is seen through its ratio; it needs no algorithm of its own."""
    robot = lw.random_tree(4, 6, mimic=0.6)
    follower = next(j for j in robot.joints if j.mimic)
    leader = robot.joints[[j.name for j in robot.joints].index(follower.mimic.joint)]
    q, qd, qdd = states(robot)
    laws = {leader.name: lambda x, v: -3.0 * x, follower.name: [lambda x, v: -2.0 * x - v, lambda x, v: 1.0]}
    tau = lw.compile(robot, lw.inverse_dynamics, joint_forces=laws)(q, qd, qdd)
    s, m = robot.slots[leader.name], follower.mimic
    expected = dynamics(robot).inverse_dynamics(q, qd, qdd)
    x = m.ratio * q[:, s.q] + m.offset
    expected[:, s.v] += 3.0 * q[:, s.q] + m.ratio * (2.0 * x + m.ratio * qd[:, s.v] - 1.0)
    assert error(tau, expected) < 1e-13


def test_forces_leave_other_functions_alone():
    robot = tree(3)
    q, qd, _ = states(robot)
    dyn = lw.compile(robot, forces={"tool": spongy}, joint_forces={robot.joints[-1].name: lambda x, v: -x})
    assert error(dyn.kinetic_energy(q, qd), dynamics(robot).kinetic_energy(q, qd)) == 0.0
    assert error(dyn.gravity_forces(q), dynamics(robot).gravity_forces(q)) == 0.0
    assert error(dyn.bias_forces(q, qd), dynamics(robot).bias_forces(q, qd)) > 1e-3


def test_kernels_with_ready_made_laws_can_be_pickled():
    robot = tree(0)
    laws = {
        "tool": [
            lw.simulation.Drag((1, 2, 3)),
            lw.simulation.GroundContact(1e3),
            lw.simulation.GroundFriction(1, 2),
            lw.simulation.Thrust((1, 0, 0)),
        ]
    }
    k = lw.compile(robot, lw.inverse_dynamics, forces=laws, joint_forces={"joint1": lw.simulation.JointStop(-0.1, 0.1)})
    state = states(robot)
    assert error(pickle.loads(pickle.dumps(k))(*state), k(*state)) == 0.0


# ---- refusals


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"forces": {"tol": spongy}}, r"unknown frame or link 'tol'. Did you mean 'tool'"),
        ({"forces": spongy}, r"forces: expected laws by name"),
        ({"forces": {"tool": 3.0}}, r"forces 'tool': expected a function"),
        ({"forces": {"tool": []}}, r"forces 'tool': expected a function"),
        ({"forces": {"tool": lambda X, v: 1.0}}, r"forces 'tool': expected a law that returns Wrench"),
        ({"forces": {"tool": lambda X, v: lw.Wrench((1, 2), (0, 0, 0))}}, r"three numbers each"),
        (
            {"forces": {"tool": lambda X, v: lw.Wrench((1, 0, 0)) if X.p.z < 0 else lw.Wrench()}},
            r"can be traced, got: .*where",
        ),
        ({"forces": {"tool": lambda X, v: math.sqrt(X.p.z)}}, r"can be traced"),
        ({"forces": {"tool": lambda X, v: lw.Wrench(lw.Vec3(1.0 / (X.p.z - X.p.z), 0, 0))}}, r"can be traced"),
        ({"forces": {"tool": lambda X: lw.Wrench()}}, r"can be traced, got: .*takes 1 positional"),
        ({"joint_forces": {"elbow": lambda q, qd: 0.0}}, r"unknown joint in joint_forces"),
        ({"joint_forces": {"joint1": lambda q, qd: [q]}}, r"joint_forces 'joint1': expected a law that returns one"),
    ],
)
def test_bad_laws_are_named(options, message):
    with pytest.raises(lw.LinkwiseError, match=message):
        lw.compile(lw.random_tree(0, 3), lw.forward_dynamics, **options)


def test_algorithms_without_forces_refuse_laws():
    with pytest.raises(lw.UnknownNameError, match="option of mass_matrix 'forces'"):
        lw.compile(lw.random_tree(0, 3), lw.mass_matrix, forces={"tool": spongy})

    @lw.algorithm(inputs="q", outputs={"x": (1,)}, uses="external")
    def still(tree, q, world):
        return ([q[0]],)

    with pytest.raises(lw.InputError, match="still: forces depend on q, qd"):
        lw.compile(lw.random_tree(0, 3), still, forces={"tool": spongy})


@pytest.mark.parametrize(
    ("law", "message"),
    [
        (lambda: lw.simulation.GroundFriction(-1, 2), "GroundFriction along"),
        (lambda: lw.simulation.Drag((1, 2)), "Drag quadratic: expected 3 numbers"),
        (lambda: lw.simulation.Drag((1, -2, 3)), "Drag quadratic y"),
        (lambda: lw.simulation.Thrust((math.nan, 0, 0)), "Thrust force"),
        (lambda: lw.simulation.GroundContact(0.0), "GroundContact stiffness"),
        (lambda: lw.simulation.GroundContact(1.0, normal=(0, 0, 0)), "GroundContact normal"),
        (lambda: lw.simulation.RollingWheel(1.0, axis=(0, 0)), "RollingWheel axis"),
        (lambda: lw.simulation.JointStop(1.0, -1.0), "JointStop upper - lower"),
        (lambda: lw.simulation.JointStop(math.nan, 1.0), "JointStop lower"),
    ],
)
def test_bad_numbers_of_laws_are_named(law, message):
    with pytest.raises(lw.LinkwiseError, match=message):
        law()
