"""Inverse and forward models of closed chains: published numbers, redundant drives, springs, options, bad input."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

import linkwise as lw
from linkwise.robot import Drive, Loop, Spring
from linkwise.spatial import Pose
from support.linkages import closed, example, golden_four_bar, redundant_four_bar, states
from support.sources import case
from support.trees import error


def test_golden_four_bar():
    """Case 003, which a Lagrangian in one coordinate gave."""
    c, chain = case("003_fourbar"), closed(golden_four_bar())
    x, v, a = ([c[key][0]] for key in ("q", "qd", "qdd"))
    found = chain.inverse_dynamics(x, v, a, guess=c["q"])
    assert found.converged
    for ours, key in ((found.q, "q"), (found.qd, "qd"), (found.qdd, "qdd"), (found.tau, "Gamma_c")):
        assert error(ours, c[key]) < 1e-10
    assert error(chain.assembled.velocity_map(c["q"]), c["G"]) < 1e-10
    assert error(chain.mass_matrix(x, guess=c["q"]).value, c["A_c"]) < 1e-10
    assert error(chain.bias_forces(x, v, guess=c["q"]).value, c["H_c"]) < 1e-10
    assert error(chain.forward_dynamics(x, v, c["Gamma_c"], guess=c["q"]).qdd_active, a) < 1e-10


# ---- redundant drives


def test_redundant_torques_are_shared():
    """Any split that the other drives make up for; the least one is the projection of all."""
    chain, single = closed(redundant_four_bar()), closed(lw.load("fourbar"))
    assert chain.structure.redundant == ("rocker",)
    assert chain.independent == ("crank",)
    q, qd, qdd = states("fourbar", 20)
    x = chain.of(q)
    both, one = (c.inverse_dynamics(x, qd, qdd, guess=q).tau for c in (chain, single))
    G = chain.assembled.velocity_map(q)[:, chain.structure.part.active, 0]
    assert error((G * both).sum(axis=1), one[:, 0]) < 1e-12
    least = G * (one / (G * G).sum(axis=1, keepdims=True))
    assert error(both, least) < 1e-12
    back = chain.forward_dynamics(x, qd, both, guess=q)
    assert error(back.qdd_active, qdd) < 1e-9


def test_weights_move_torque_to_the_stronger_drive():
    chain = closed(redundant_four_bar())
    q, _, _ = states("fourbar", 5)
    x, force = chain.of(q), np.ones((5, 1))
    G = chain.assembled.velocity_map(q)[:, chain.structure.part.active, 0]
    for weights in ([1.0, 1.0], [1.0, 1e6], [3.0, 0.2]):
        tau = chain.share(x, force, weights, guess=q).value
        assert error((G * tau).sum(axis=1), force[:, 0]) < 1e-10
        exact = G / np.array(weights)
        assert error(tau, exact / (G * exact).sum(axis=1, keepdims=True)) < 1e-10
    with pytest.raises(lw.InputError, match="above zero"):
        chain.share(x, force, [1.0, 0.0], guess=q)


def test_reactions_beside_redundant_torques():
    """Multipliers and torques together move the tree as asked."""
    chain = closed(redundant_four_bar())
    q, qd, qdd = states("fourbar", 10)
    tau, wrench = chain.assembled.reactions(q, qd, qdd)
    full = np.zeros((10, 3))
    full[:, list(chain.structure.part.active)] = tau
    motion = chain.assembled.motion(q, qd, qdd)
    found = chain.assembled.multiplier_dynamics(q, motion.qd, full)
    assert error(found.qdd, motion.qdd) < 1e-9
    assert error(found.wrench, wrench) < 1e-9


# ---- springs


def test_a_spring_at_a_passive_joint_adds_its_torque():
    """By the principle of virtual work: G^T of the spring's torque."""
    plain = lw.load("fivebar")
    elbow = plain.joint("left_elbow")
    sprung = plain.replace(replace(elbow, spring=Spring(4.0, 0.3, 0.2)))
    q, qd, qdd = states("fivebar", 20)
    without, with_ = (closed(r).assembled for r in (plain, sprung))
    k = plain.slots["left_elbow"].v
    rate = without.rates(q, qd)
    torque = 4.0 * (q[:, k] - 0.2) + 0.3 * rate[:, k]
    more = without.velocity_map(q)[:, k, :] * torque[:, None]
    assert error(with_.inverse_dynamics(q, qd, qdd), without.inverse_dynamics(q, qd, qdd) + more) < 1e-11


def compliant():
    """A five-bar linkage with one motor: a spring at the other base joint closes the count."""
    robot = lw.load("fivebar")
    (loop,) = robot.loops
    return robot.replace(
        replace(loop, active=("left_motor",)), replace(robot.joint("right_motor"), spring=Spring(20.0))
    )


def test_a_free_elastic_joint_moves_as_its_spring_lets_it():
    """The inverse model finds its acceleration; forward dynamics gives the same."""
    chain = closed(compliant())
    assert chain.structure.free == ("right_motor",)
    assert chain.active == ("left_motor",)
    q, qd, _ = states("fivebar", 20)
    qdd = np.random.default_rng(0).uniform(-3.0, 3.0, (20, 1))
    x = chain.of(q)
    found = chain.inverse_dynamics(x, qd, qdd, guess=q)
    back = chain.forward_dynamics(x, qd, found.tau, guess=q)
    at = list(chain.structure.part.independent)
    assert error(back.qdd_active[:, :1], qdd) < 1e-9
    assert error(back.qdd_active, found.qdd[:, at]) < 1e-9
    # nothing but the spring acts on it: the same robot with a motor there needs no torque for that motion
    driven = closed(compliant().replace(lw.load("fivebar").loops[0]))
    tau = driven.inverse_dynamics(x, qd, found.qdd[:, at], guess=q).tau
    assert error(tau[:, 0], found.tau[:, 0]) < 1e-9
    assert np.abs(tau[:, 1]).max() < 1e-9 * np.abs(tau).max()


def test_wrenches_beside_a_free_joint():
    """What its joint carries along the axis is its spring's torque; its jerk is not given, so there are no rates."""
    chain = closed(compliant())
    q, qd, _ = states("fivebar", 20)
    found = chain.joint_wrenches(chain.of(q), qd, np.ones((20, 1)), guess=q)
    joint = chain.robot.joint("right_motor")
    six, at = (
        found.wrench[:, [j.name for j in chain.robot.joints].index("right_motor")],
        chain.robot.slots["right_motor"].q,
    )
    qdd = chain.motion(chain.of(q), qd, np.ones((20, 1)), guess=q).qdd[:, at]
    carried = six[:, 3:] @ np.array(joint.axis) + joint.armature * qdd
    assert error(carried, -20.0 * q[:, at]) < 1e-9
    with pytest.raises(lw.InputError, match="force_rates: expected loops whose joints are all driven or passive"):
        chain.force_rates(chain.of(q), qd, np.ones((20, 1)), np.ones((20, 1)))


def test_a_stiffer_spring_moves_less():
    """At rest under gravity the spring's deflection is its load over its stiffness, where it balances gravity."""
    robot = compliant()
    joint = robot.joint("right_motor")
    load = closed(lw.load("fivebar")).inverse_dynamics([0.2, 0.0], [0.0, 0.0], [0.0, 0.0]).tau[1]
    for stiffness in (1e4, 1e6):
        stiff = robot.replace(replace(joint, spring=Spring(stiffness)))
        at = load / -stiffness
        tau = closed(stiff.replace(lw.load("fivebar").loops[0])).inverse_dynamics([0.2, at], [0.0, 0.0], [0.0, 0.0]).tau
        assert abs(tau[1]) < 20.0 * load**2 / stiffness


def test_an_elastic_drive_in_a_loop():
    """Its motor is the active coordinate, the joint behind the spring a free one."""
    robot = lw.load("fivebar")
    drive = Drive(stiffness=300.0, damping=0.2)
    robot = robot.replace(replace(robot.joint("left_motor"), drive=drive))
    chain = closed(robot)
    assert chain.structure.free == ("left_motor",)
    assert set(chain.active) == {"right_motor", "left_motor.motor"}
    assert chain.structure.mobility == 3
    rng = np.random.default_rng(2)
    x = rng.uniform(-0.3, 0.3, (10, 3))
    v, a = rng.uniform(-1.0, 1.0, (10, 3)), rng.uniform(-1.0, 1.0, (10, 2))
    found = chain.inverse_dynamics(x, v, a)
    back = chain.forward_dynamics(x, v, found.tau)
    assert found.converged.all()
    assert error(back.qdd, found.qdd) < 1e-8


# ---- options and manners


def test_external_wrenches_and_gravity():
    """A force at the tool is felt by the motors as J^T of the closed chain."""
    robot = lw.load("fivebar")
    chain = lw.compile(robot, external=("tool",), gravity="input").closed
    q, qd, qdd = states("fivebar", 10)
    force = np.random.default_rng(1).normal(size=(10, 1, 6))
    g = np.array([0.0, 0.0, -9.81])
    kernel = chain.assembled.inverse_dynamics
    assert list(kernel.inputs) == ["q", "qd_active", "qdd_active", "f_ext", "gravity"]
    less = kernel(q, qd, qdd, 0.0 * force, g) - kernel(q, qd, qdd, force, g)
    J = lw.compile(robot).jacobian(q, "tool", axes="local") @ chain.assembled.velocity_map(q)
    assert error(less, np.einsum("nij,ni->nj", J, force[:, 0])) < 1e-10
    assert error(kernel(q, qd, qdd, 0.0 * force, g), example("fivebar").assembled.inverse_dynamics(q, qd, qdd)) < 1e-12
    with pytest.raises(lw.InputError, match=r"expected 2 further inputs \(f_ext, gravity\), got 0"):
        chain.inverse_dynamics([0.0, 0.0], [0.0, 0.0], [0.0, 0.0])


def test_laws_of_the_environment_act():
    """A damper at the tool takes away its power."""
    from linkwise.spatial import Wrench

    robot = lw.load("fivebar").without_friction()
    damped = lw.compile(robot, forces={"tool": lambda pose, v: Wrench(v.linear * -3.0)}).closed
    q, qd, qdd = states("fivebar", 10)
    more = damped.assembled.inverse_dynamics(q, qd, qdd) - example("fivebar").assembled.inverse_dynamics(q, qd, qdd)
    tree = example("fivebar").assembled.rates(q, qd)
    v = lw.compile(robot).velocity(q, tree, "tool")[:, :3]
    assert error((more * qd).sum(axis=1), 3.0 * (v * v).sum(axis=1)) < 1e-10


@pytest.mark.slow
def test_a_floating_platform_on_six_legs():
    """Gough and Stewart's as a tree with a floating platform: eighteen equations, six slides."""
    chain = closed(stewart())
    assert chain.structure.mobility == 6
    assert chain.independent == tuple(f"slide{k}" for k in range(6))
    rng = np.random.default_rng(0)
    x = rng.uniform(-0.05, 0.05, (20, 6))
    found = chain.positions(x)
    assert found.converged.all()
    assert np.abs(chain.assembled.closure(found.q).gap).max() < 1e-12
    v, a = rng.uniform(-0.3, 0.3, (2, 20, 6))
    tau = chain.assembled.inverse_dynamics(found.q, v, a)
    motion = chain.assembled.motion(found.q, v, a)
    full = np.zeros((20, chain.robot.nv))
    full[:, list(chain.structure.part.active)] = tau
    assert error(chain.assembled.multiplier_dynamics(found.q, motion.qd, full).qdd, motion.qdd) < 1e-8


def stewart():
    """A platform of 20 kg on six legs of two links each, at rest 0.7 m high."""
    links = [lw.Link("ground"), lw.Link("platform", 20.0, (0.0, 0.0, 0.02), (0.8, 0.8, 1.5))]
    joints = [lw.Joint("platform", "ground", "platform", "floating", Pose.of((0.0, 0.0, 0.7)))]
    loops = []
    for k in range(6):
        low = 2.0 * np.pi / 3.0 * ((k + 1) // 2) + (0.2 if k % 2 else -0.2)
        high = 2.0 * np.pi / 3.0 * (k // 2) + (0.4 if k % 2 else -0.4) + np.pi / 3.0
        foot = np.array([0.6 * np.cos(low), 0.6 * np.sin(low), 0.0])
        head = np.array([0.35 * np.cos(high), 0.35 * np.sin(high), 0.0])
        d = head - foot + np.array([0.0, 0.0, 0.7])
        length = np.linalg.norm(d)
        z = d / length
        pitch, roll = np.arctan2(z[0], z[2]), -np.arcsin(z[1])
        links += [
            lw.Link(f"cross{k}", 0.1, (0.0, 0.0, 0.0), (1e-4, 1e-4, 1e-4)),
            lw.Link(f"cylinder{k}", 3.0, (0.0, 0.0, 0.2), (0.04, 0.04, 0.002)),
            lw.Link(f"piston{k}", 1.5, (0.0, 0.0, -0.15), (0.015, 0.015, 0.0005)),
        ]
        joints += [
            lw.Joint(f"yaw{k}", "ground", f"cross{k}", "revolute", Pose.of(foot, (0.0, pitch, 0.0)), (0.0, 1.0, 0.0)),
            lw.Joint(
                f"tilt{k}", f"cross{k}", f"cylinder{k}", "revolute", Pose.of(rpy=(roll, 0.0, 0.0)), (1.0, 0.0, 0.0)
            ),
            lw.Joint(f"slide{k}", f"cylinder{k}", f"piston{k}", "prismatic", Pose.of((0.0, 0.0, length))),
        ]
        loops.append(Loop(f"ball{k}", f"piston{k}", "platform", "spherical", Pose(), Pose.of(head), (f"slide{k}",)))
    return lw.Robot(links, joints, loops=loops, name="stewart")


def test_pickles():
    chain = example("fivebar")
    again = pickle.loads(pickle.dumps(chain))
    assert again.independent == chain.independent
    kernel = pickle.loads(pickle.dumps(chain.assembled.inverse_dynamics))
    q, qd, qdd = states("fivebar", 3)
    assert np.array_equal(kernel(q, qd, qdd), chain.assembled.inverse_dynamics(q, qd, qdd))
    assert "closed chain 'fivebar'" in repr(kernel)
    assert "double" in kernel.c_source()
    assert "left_motor" in repr(chain)


def test_shapes():
    chain = example("fivebar")
    one = chain.inverse_dynamics([0.0, 0.0], [0.0, 0.0], [0.0, 0.0])
    assert one.tau.shape == (2,)
    assert one.converged.shape == ()
    many = chain.inverse_dynamics(np.zeros((3, 1, 2)), np.zeros((4, 2)), np.zeros(2))
    assert many.tau.shape == (3, 4, 2)
    assert many.q.shape == (3, 1, 4)
    named = chain.positions({"right_motor": 0.1, "left_motor": 0.2})
    assert np.array_equal(named.q, chain.positions([0.2, 0.1]).q)
    assert chain.positions(np.zeros((0, 2))).q.shape == (0, 4)


REFUSALS = {
    r"expected shape \(..., 2\), positions of 'left_motor', 'right_motor', got \(3,\)": ([0.0, 0.0, 0.0], {}),
    r"expected shape \(..., 2\)": (0.0, {}),
    "expected an array of real numbers, got 'a'": ("a", {}),
    "real numbers, got None": (None, {}),
    r"expected positions of 'left_motor', 'right_motor', got 'left_motor'": ({"left_motor": 0.0}, {}),
    r"guess: expected positions of the whole tree, shape \(..., 4\)": ([0.0, 0.0], {"guess": [0.0, 0.0]}),
    "unknown joint with coordinates 'elbow'": ([0.0, 0.0], {"guess": {"elbow": 1.0}}),
    r"do not broadcast": (np.zeros((2, 2)), {"guess": np.zeros((3, 4))}),
    r"along: expected rows of a motion \(..., steps, 2\)": ([0.0, 0.0], {"along": True}),
    "along: expected True or False": ([[0.0, 0.0]], {"along": "yes"}),
    "at least one row": (np.zeros((0, 2)), {"along": True}),
    "parameters: expected the 0 numbers": ([0.0, 0.0], {"parameters": [1.0]}),
}


@pytest.mark.parametrize("message", REFUSALS)
def test_bad_input_is_named(message):
    q_active, how = REFUSALS[message]
    with pytest.raises(lw.LinkwiseError, match=message):
        example("fivebar").positions(q_active, **how)


def test_unknown_names_are_answered_with_valid_ones():
    chain = example("fivebar")
    with pytest.raises(lw.LinkwiseError, match="unknown function of closed configurations 'forwards_dynamics'"):
        chain.assembled.forwards_dynamics  # noqa: B018
    assert not hasattr(chain.assembled, "nothing")
    with pytest.raises(lw.InputError, match=r"expected guess=... or along=..., got 'start'"):
        chain.inverse_dynamics([0, 0], [0, 0], [0, 0], start=None)
    with pytest.raises(lw.InputError, match=r"expected qd_active of shape \(..., 2\), got \(3,\)"):
        chain.inverse_dynamics([0, 0], [0, 0, 0], [0, 0])
    with pytest.raises(lw.InputError, match=r"shape \(..., 4\)"):
        chain.of([0.0])
