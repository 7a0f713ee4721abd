"""Forward dynamics of loops by articulated bodies: the other route's answers, in operations linear in the loops."""

import numpy as np
import pytest

import linkwise as lw
from linkwise.mechanism.machine import machine_of
from linkwise.robot import Drive, Friction, Joint, Link, Loop, Motor, Spring
from linkwise.spatial import Pose
from linkwise.vector import Vec3
from support.linkages import EXAMPLES, bar, chain_of_four_bars, hinge, redundant_four_bar
from support.trees import STEP, error

ROWS = 12
ROUTES = ("inertia", "articulated")
PUSHED = ("tool", "middle")


def branched(seed):
    """A random tree with loops at two of its links, branches on their bodies, and a loop on one of the branches.

    Joints have friction, springs and rotor inertia, those in loops too.
    """
    robot = lw.random_tree(seed, 5, floating=seed % 2 == 1, friction=0.6, armature=0.5, springs=0.4)
    robot = robot.attach(chain_of_four_bars(2, 0.6), at=robot.links[-1].name, prefix="a_")
    robot = robot.attach(chain_of_four_bars(1, cut="pivot"), at=robot.links[2].name, prefix="b_")
    slide = Joint("slide", "a_coupler1", "slider", "prismatic", Pose.of((0.1, 0.2, 0.0), (0.4, 0.1, 0.3)))
    robot = robot.add(bar("twig", 0.3), hinge("twig", "a_coupler0", Pose.of((0.2, 0.1, 0.0), (0.3, 0.5, 0.1))))
    robot = robot.add(bar("slider", 0.2), slide, bar("end", 0.2), hinge("end", "b_rocker0", Pose.of((0.1, 0.0, 0.1))))
    robot = robot.attach(chain_of_four_bars(1, 0.3), at="twig", prefix="c_")
    felt = {"friction": Friction(0.2, 0.1, "tanh"), "spring": Spring(3.0, 0.2, 0.1), "armature": 0.01}
    names = ("a_coupler0", "a_rocker1", "b_crank0", "twig")
    return robot.replace(*(replaced(robot.joint(name), **felt) for name in names))


def replaced(joint, **fields):
    kept = {"friction": joint.friction, "spring": joint.spring, "armature": joint.armature, **fields}
    return Joint(joint.name, joint.parent, joint.child, joint.kind, joint.origin, joint.axis, joint.anchor, **kept)


def six_bar(inner):
    """A four-bar and a second loop, from its rocker to the base, or from its coupler to its crank, which carries it."""
    robot = chain_of_four_bars(1)
    arm, lever = ("coupler0", "crank0") if inner else ("rocker0", "base")
    pivots = (0.3, 0.1), ((0.05, -0.15) if inner else (0.9, -0.3))
    first, second = (Pose.of((x, y, 0.0)) for x, y in pivots)
    robot = robot.add(
        bar("arm", 0.4),
        hinge("arm", arm, first),
        bar("lever", 0.3),
        hinge("lever", lever, second),
        Loop("second", "arm", "lever", "revolute", Pose.of((0.4, 0.0, 0.0)), Pose.of((0.3, 0.0, 0.0))),
    )
    return robot.replace(reference=())


def elastic_chain():
    """Four-bars whose cranks have motors behind springs, one of them on a link that moves."""
    robot = chain_of_four_bars(3, 0.6)
    for name, link in (("crank0", "base"), ("crank1", "coupler0")):
        inertia = (1e-3, 0.0, 0.0, 2e-3, 0.0, 1e-3)
        drive = Drive(Motor(link, 0.3, (0.1, 0.0, 0.0), inertia, 1e-4, Vec3(0.0, 0.6, 0.8)), 20.0, stiffness=90.0)
        robot = robot.replace(replaced(robot.joint(name), drive=drive, armature=0.0))
    return robot


MACHINES = {
    **{name: lambda name=name: lw.load(name) for name in EXAMPLES},
    "chain": lambda: chain_of_four_bars(4, 0.6),
    "flat chain": lambda: chain_of_four_bars(3),
    "chain cut at pivots": lambda: chain_of_four_bars(3, 0.6, "pivot"),
    "floating": lambda: chain_of_four_bars(2, 0.6, floating=True),
    "floating, cut at pivots": lambda: chain_of_four_bars(2, 0.6, "pivot", floating=True),
    "branched": lambda: branched(0),
    "branched, floating": lambda: branched(1),
    "six-bar": lambda: six_bar(False),
    "six-bar, one loop on the crank": lambda: six_bar(True),
    "elastic": elastic_chain,
    "redundant": lambda: redundant_four_bar().replace(leads=("crank",)),
    "hexapod": lw.gough_stewart,
    "Delta": lw.delta,
    "3-RRR": lw.three_rrr,
    "hexapod on an arm": lambda: lw.load("puma560").attach(lw.gough_stewart(), at="link6", prefix="wrist_"),
}


def states(robot, rows=ROWS, seed=0):
    """Random states near the reference, quaternions normalised, in which the loops are well held."""
    rng = np.random.default_rng(seed)
    q = robot.q() + rng.uniform(-0.2, 0.2, (4 * rows, robot.nq)) * (0.1 if "platform" in robot.name else 1.0)
    for slot in robot.slots.values():
        if slot.nq == 7:
            q[:, slot.q + 3 : slot.q + 7] /= np.linalg.norm(q[:, slot.q + 3 : slot.q + 7], axis=1, keepdims=True)
    found = lw.compile(robot).positions(q)
    good = np.flatnonzero(found.converged & (found.condition < 100.0))[:rows]
    assert len(good) == rows
    return q[good], *rng.uniform(-2.0, 2.0, (2, rows, robot.nv))


@pytest.mark.parametrize("name", MACHINES)
def test_both_routes_agree(name):
    """Accelerations under random torques, and those that inverse dynamics gave torques for."""
    robot = MACHINES[name]()
    q, qd, qdd = states(robot)
    tau = np.random.default_rng(1).uniform(-3.0, 3.0, (ROWS, robot.nu))
    there = lw.compile(robot).inverse_dynamics(q, qd, qdd)
    inertia, articulated = (lw.compile(robot, lw.forward_dynamics, route=route) for route in ROUTES)
    assert error(articulated(q, qd, tau), inertia(q, qd, tau)) < 1e-10
    assert error(articulated(q, qd, there), qdd) < 1e-10


@pytest.mark.parametrize("name", ["chain", "six-bar", "floating"])
def test_by_newtons_method(name):
    """Where all that follows is one block of unknowns, units are no less apart."""
    robot = MACHINES[name]()
    q, qd, qdd = states(robot, seed=7)
    inverse = lw.compile(robot, lw.inverse_dynamics, closure="newton")
    forward = lw.compile(robot, lw.forward_dynamics, closure="newton", route="articulated")
    assert error(forward(q, qd, inverse(q, qd, qdd)), qdd) < 1e-10


@pytest.mark.parametrize("name", ["chain", "chain cut at pivots", "floating"])
def test_pushed_and_moved(name):
    """Wrenches on a coupler and at the end, on a base that moves."""
    robot = MACHINES[name]()
    q, qd, qdd = states(robot, seed=2)
    options = {"external": PUSHED, "base_motion": True, "gravity": "input"}
    inverse = lw.compile(robot, lw.inverse_dynamics, **options)
    rng = np.random.default_rng(3)
    extra = [5.0 * rng.normal(size=(ROWS, *shape)) for shape in list(inverse.inputs.values())[3:]]
    assert len(extra) == 4
    tau = inverse(q, qd, qdd, *extra)
    back = [lw.compile(robot, lw.forward_dynamics, route=route, **options)(q, qd, tau, *extra) for route in ROUTES]
    assert error(back[1], qdd) < 1e-10
    assert error(back[1], back[0]) < 1e-10


@pytest.mark.parametrize(
    "name",
    [
        "palletiser",
        "ankle",
        "chain cut at pivots",
        "branched",
        "branched, floating",
        "six-bar",
        "six-bar, one loop on the crank",
        "elastic",
    ],
)
def test_every_mix_of_known_and_unknown(name):
    """Some joints driven, others free: accelerations, forces, and the wrenches through all joints, cut ones too."""
    robot = MACHINES[name]()
    q, qd, qdd = states(robot, seed=4)
    for driven in ((), robot.coordinates[::2], robot.coordinates):
        theirs, ours = (
            lw.compile(robot, lw.hybrid_dynamics, driven=driven, route=route)(q, qd, qdd) for route in ROUTES
        )
        for name_, x, y in zip(theirs._fields, ours, theirs, strict=True):
            assert error(x, y) < 1e-9, name_


def test_a_floating_body_moves_as_its_base_is_moved():
    """Cranks accelerate alike on a body that floats, and on a base whose motion is that body's."""
    afloat, standing = chain_of_four_bars(2, 0.6, floating=True), chain_of_four_bars(2, 0.6)
    q, qd, tau = states(afloat, seed=5)
    qdd = lw.compile(afloat, lw.forward_dynamics, route="articulated")(q, qd, tau)
    R = np.array([lw.compile(afloat).pose(x, "body")[:3, :3] for x in q])
    v, a = qd[:, :6], qdd[:, :6].copy()
    a[:, :3] += np.cross(v[:, 3:], v[:, :3])
    moved = lw.compile(standing, lw.forward_dynamics, route="articulated", base_motion=True, gravity="input")
    named = {"base_velocity": v, "base_acceleration": a, "gravity": np.array(afloat.gravity) @ R}
    extra = [named[n] for n in list(moved.inputs)[3:]]
    assert error(moved(q[:, 7:], qd[:, 6:], tau[:, 6:], *extra), qdd[:, 6:]) < 1e-10


@pytest.mark.parametrize("cut", ["pin", "pivot"])
def test_operations_grow_linearly_with_loops(cut):
    """Each further four-bar in a row takes as many operations as the one before; the other route ever more."""

    def counted(k, **route):
        return lw.compile(chain_of_four_bars(k, 0.6, cut), lw.forward_dynamics, **route).count()

    def work(count):
        return count["mul"] + count["add"] + count["div"]

    few, some, many = (work(counted(k, route="articulated")) for k in (6, 12, 18))
    assert many - some == some - few
    few, some, many = (work(counted(k, route="inertia")) for k in (6, 12, 18))
    assert many - some > 1.4 * (some - few)
    assert counted(18) == counted(18, route="articulated")
    assert counted(2) == min((counted(2, route=route) for route in ROUTES), key=work)


def test_over_any_scalar():
    """Complex steps of the plain function are derivatives of the compiled one, by the other route."""
    robot = chain_of_four_bars(2, 0.6, floating=True)
    q, qd, tau = (x[0].tolist() for x in states(robot, seed=6))
    expected = lw.compile(robot).forward_dynamics_derivatives(q, qd, tau)
    for k in range(robot.nv):
        stepped = [x + 1j * STEP * (j == k) for j, x in enumerate(qd)]
        found = np.imag(lw.forward_dynamics.plain(robot, q, stepped, tau, route="articulated")) / STEP
        assert error(found, expected.dqdd_dqd[:, k]) < 1e-10


def test_couplings_beyond_the_tree_go_by_the_inertia_matrix():
    """A motor of a rigid drive on another link: the route by articulated bodies refuses, the other one is taken."""
    robot = chain_of_four_bars(2)
    j = robot.joint("crank1")
    motor = Motor("base", 0.3, (0.1, 0.0, 0.0), (1e-3, 0.0, 0.0, 2e-3, 0.0, 1e-3), 1e-4)
    robot = robot.replace(Joint(j.name, j.parent, j.child, j.kind, j.origin, j.axis, drive=Drive(motor, 20.0)))
    q, qd, qdd = states(robot)
    with pytest.raises(lw.LinkwiseError, match='only route="inertia" knows'):
        lw.compile(robot, lw.forward_dynamics, route="articulated")
    dyn = lw.compile(robot)
    assert error(dyn.forward_dynamics(q, qd, dyn.inverse_dynamics(q, qd, qdd)), qdd) < 1e-10


def test_bodies_without_inertia_are_named():
    """A four-bar of massless bars has no inertia at its crank."""
    robot = chain_of_four_bars(1)
    bare = [Link(name) for name in ("crank0", "coupler0", "rocker0")]
    crank = robot.joint("crank0")
    robot = robot.replace(*bare, Joint("crank0", "base", "crank0", "revolute", crank.origin, crank.axis))
    with pytest.raises(lw.LinkwiseError, match="crank0"):
        lw.compile(robot, lw.forward_dynamics, route="articulated")


def test_units_of_a_tree():
    """Loops that share coordinates are one unit, on the body that carries them all; the others are alone."""
    names = {}
    for name in ("chain", "six-bar", "six-bar, one loop on the crank", "branched"):
        machine = machine_of(MACHINES[name]())
        at = machine.at(MACHINES[name]().q().tolist())
        names[name] = [tuple(at.tree.bodies[i].link for i in unit.bodies) for unit in at.units if unit.looped]
        carried = {0}
        for unit in at.units:
            assert unit.carrier in carried
            carried |= set(unit.bodies)
        assert carried == set(range(len(at.tree.bodies)))
    assert names["chain"] == [(f"crank{k}", f"coupler{k}", f"rocker{k}") for k in range(4)]
    assert names["six-bar"] == [("crank0", "coupler0", "rocker0", "arm", "lever")]
    assert names["six-bar, one loop on the crank"] == [("crank0", "coupler0", "arm", "lever", "rocker0")]
    assert [len(unit) for unit in names["branched"]] == [3, 3, 3, 3]
