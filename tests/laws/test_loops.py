"""Laws of closed chains: a cut and re-closed joint changes nothing, and every route gives the same motion."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import linkwise as lw
from linkwise.backend.python import evaluate
from linkwise.graph.derivative import along
from linkwise.graph.program import Port, trace
from linkwise.mechanism.assemble import Assembler
from linkwise.mechanism.equations import gap
from linkwise.mechanism.linkage import Linkage
from linkwise.mechanism.loops import cuts
from linkwise.mechanism.structure import structure_of
from linkwise.robot import Joint, Link, Loop
from linkwise.robot.tree import Tree
from linkwise.rotation import with_z_along
from linkwise.spatial import Pose
from linkwise.vector import EYE3, Vec3
from support.linkages import EXAMPLES, applied, by_multipliers, compiled, example, independent_equations, states
from support.trees import STEP, dynamics, error

CUTS = {"revolute": ("z",), "prismatic": ("slide",), "fixed": (), "universal": ("z", "x"), "spherical": ("z", "x", "y")}
AXES = {"z": Vec3(0.0, 0.0, 1.0), "x": Vec3(1.0, 0.0, 0.0), "y": Vec3(0.0, 1.0, 0.0), "slide": Vec3(0.0, 0.0, 1.0)}


def joined(kind, seed):
    """Two random robots, the second hanging on the first by joints that together are of that kind."""
    first = lw.random_tree(seed, 3, armature=0.4)
    rng = np.random.default_rng(seed)
    a, b = (Pose.of(rng.uniform(-0.3, 0.3, 3), rng.uniform(-1.0, 1.0, 3)) for _ in range(2))
    links, joints, parent = [], [], "link3"
    steps = CUTS[kind] or ("weld",)
    for k, axis in enumerate(steps):
        last = k == len(steps) - 1
        child = "hung" if last else f"ring{k}"
        links.append(hung(seed) if last else Link(child))
        origin = a if k == 0 else Pose()
        origin = origin @ b.inverse() if last else origin
        # the joint acts at the frames that are held together, in the child's axes
        at = b if last else Pose()
        form = {"weld": "fixed", "slide": "prismatic"}.get(axis, "revolute")
        turn = at.R @ AXES.get(axis, AXES["z"])
        joints.append(Joint(f"cut{k}", parent, child, form, origin, turn, at.p))
        parent = child
    joints.append(Joint("beyond", "hung", "tip", "revolute", Pose.of((0.1, 0.2, -0.1)), Vec3(0.6, 0.0, 0.8)))
    links.append(Link("tip", 0.7, (0.1, 0.05, 0.0), (0.01, 0.02, 0.015)))
    return first.add(*links, *joints), a, b


def hung(seed):
    return Link("hung", 1.3 + 0.1 * seed, (0.05, -0.1, 0.08), (0.05, 0.002, -0.003, 0.06, 0.004, 0.04))


def reclosed(robot, kind, a, b):
    """The same with the hanging part afloat, and a loop in place of the joints."""
    keep = [j for j in robot.joints if not j.name.startswith("cut")]
    float_ = Joint("afloat", "base", "hung", "floating")
    links = [k for k in robot.links if not k.name.startswith("ring")]
    loop = Loop("cut", "link3", "hung", kind, a, b)
    return lw.Robot(links, [*keep, float_], loops=[loop], gravity=robot.gravity, name="reclosed")


def moved_over(robot, other, q, qd):
    """A state of the tree as one of the robot with the floating part."""
    dyn = dynamics(robot)
    T = dyn.pose(q, "hung")
    x = [*T[:3, 3], *Rotation.from_matrix(T[:3, :3]).as_quat()]
    other = other.opened()
    shared = [n for n in robot.names if n in other.names]
    place = robot.slots
    return (
        other.q({"afloat": x} | {n: q[place[n].q] for n in shared}),
        other.v({"afloat": dyn.velocity(q, qd, "hung", axes="local")} | {n: qd[place[n].v] for n in shared}),
        shared,
    )


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow), pytest.param(2, marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", CUTS)
def test_a_cut_and_reclosed_joint_is_the_joint(kind, seed):
    """Accelerations of all joints, and the wrench through the cut."""
    robot, a, b = joined(kind, seed)
    other = reclosed(robot, kind, a, b)
    multipliers, assembler = by_multipliers(other, independent_equations(other)), Assembler(other)
    rng = np.random.default_rng(seed)
    for _ in range(3):
        q, qd, tau = rng.uniform(-1.0, 1.0, (3, robot.nv))
        for n in robot.names:
            tau[robot.slots[n].v] *= not n.startswith("cut")
        x, v, shared = moved_over(robot, other, q, qd)
        assert np.abs(assembler.gap(x)).max() < 1e-14
        assert np.abs(assembler.jacobian_si(x) @ v).max() < 1e-14
        forces = other.opened().v({n: tau[robot.slots[n].v] for n in shared})
        found = multipliers(x, v, forces)
        qdd = dynamics(robot).forward_dynamics(q, qd, tau)
        expected = [qdd[robot.slots[n].v] for n in shared]
        assert error([found.qdd[other.opened().slots[n].v] for n in shared], expected) < 1e-9
        through = wrench_through(robot, kind, q, qd, qdd, a, b)
        assert error(found.wrench[0], through) < 1e-9


def wrench_through(robot, kind, q, qd, qdd, a, b):
    """What link3 exerts on the hanging part at the cut, in the axes of frame a, by the tree's own recursion."""
    dyn = dynamics(robot)
    if kind == "fixed":
        force = dyn.wrench_at("cut0")(q, qd, qdd)
        force = np.concatenate([force[:3], force[3:] - np.cross(np.array(b.p), force[:3])])
    else:
        force = dyn.joint_wrenches(q, qd, qdd).wrench[robot.moving_links.index("hung")]
    R_a = dyn.pose(q, "link3")[:3, :3] @ np.array(a.R)
    R = R_a.T @ dyn.pose(q, "hung")[:3, :3]
    return np.concatenate([R @ force[:3], R @ force[3:]])


@pytest.mark.parametrize("kind", CUTS)
def test_rates_of_the_gap_are_its_derivatives(kind):
    """The Jacobian by complex steps, and the drift as the graph's derivative of J qd along the motion, gap open."""
    robot = lw.random_tree(3, 6, branching=0.6, mimic=0.3)
    ends = [j.child for j in robot.joints if not j.is_fixed]
    loop = Loop("cut", ends[-1], ends[1], kind, Pose.of((0.1, 0.2, 0.3), (0.5, 0.2, 0.1)), Pose.of((0.3, 0.0, 0.1)))
    tree = Tree.of(robot)
    rng = np.random.default_rng(1)
    q, qd = rng.uniform(-1.0, 1.0, (2, robot.nv))
    flat_gap, flat = gap(tree, q.tolist(), [loop])
    J = np.reshape(flat, (len(flat_gap), -1))
    for k in range(robot.nv):
        stepped = q.astype(complex)
        stepped[k] += 1j * STEP
        assert np.abs(J[:, k] - np.imag(gap(tree, stepped.tolist(), [loop])[0]) / STEP).max() < 1e-13

    def rates(q, qd):
        rows = gap(tree, q, [loop])[1]
        n = len(qd)
        speeds = [sum(x * v for x, v in zip(rows[k : k + n], qd, strict=True)) for k in range(0, len(rows), n)]
        return [along(speeds, q, qd), cuts(tree, q, [loop])[0].drift(qd)]

    ports = [Port("q", (robot.nq,)), Port("qd", (robot.nv,))]
    out = [Port(name, (len(J),)) for name in ("graph", "hand")]
    found = evaluate(trace("drift", rates, ports, out), q.tolist(), qd.tolist())
    assert error(*found) < 1e-12


@pytest.mark.parametrize("name", EXAMPLES)
def test_forward_after_inverse(name):
    """Over a thousand reachable states; by the leading coordinates, and by multipliers in those of all joints."""
    dyn = example(name)
    q, qd, qdd = states(name, 1000)
    held = dyn.joint_wrenches(q, qd, qdd)
    assert error(dyn.inverse_dynamics(q, qd, qdd), held.tau) < 1e-11
    assert error(dyn.forward_dynamics(q, qd, held.tau), qdd) < 1e-8
    motion = dyn.tree_motion(q, qd, qdd)
    found = by_multipliers(dyn.robot)(motion.q_tree, motion.qd_tree, applied(dyn.robot, held.tau))
    assert error(found.qdd, motion.qdd_tree) < 1e-8
    assert error(found.wrench, held.cut) < 1e-8


@pytest.mark.parametrize("name", EXAMPLES)
def test_inertia_is_what_unit_accelerations_need(name):
    """A_c and H_c by the inverse model, as the source has them, at rest and without gravity."""
    dyn = example(name)
    q, qd, _ = states(name, 20)
    inverse = lw.compile(dyn.robot, gravity=(0.0, 0.0, 0.0)).inverse_dynamics
    columns = [inverse(q, 0.0 * qd, np.broadcast_to(e, qd.shape)) for e in np.eye(qd.shape[1])]
    A = dyn.mass_matrix(q)
    assert error(A, np.stack(columns, axis=-1)) < 1e-12
    assert error(dyn.bias_forces(q, qd), dyn.inverse_dynamics(q, qd, 0.0 * qd)) < 1e-12
    assert np.linalg.eigvalsh(A).min() > 0.0


@pytest.mark.parametrize("name", EXAMPLES)
def test_power_of_motors_is_the_rate_of_energy(name):
    """The energy is that of the tree, along its own motion."""
    dyn, tree = example(name), dynamics(example(name).robot.opened())
    q_lead, qd_lead, qdd_lead = states(name, 50, seed=5)
    q, qd, qdd = dyn.tree_motion(q_lead, qd_lead, qdd_lead)
    h = 1e-5

    def energy(t):
        at = q + qd * t + 0.5 * qdd * t * t
        return tree.kinetic_energy(at, qd + qdd * t) + tree.potential_energy(at)

    rate = (8.0 * (energy(h) - energy(-h)) - (energy(2 * h) - energy(-2 * h))) / (12.0 * h)
    assert error((dyn.inverse_dynamics(q_lead, qd_lead, qdd_lead) * qd_lead).sum(axis=1), rate) < 1e-7


@pytest.mark.parametrize("name", EXAMPLES)
def test_velocities_and_accelerations_are_derivatives_of_positions(name):
    """Of closed positions along a motion of what leads, by differences."""
    dyn = example(name)
    q, qd, qdd = states(name, 20, seed=3)
    motion = dyn.tree_motion(q, qd, qdd)
    h = 1e-3
    moved = [dyn.positions(q + qd * t + 0.5 * qdd * t * t).q for t in (-2 * h, -h, 0.0, h, 2 * h)]
    moved = np.unwrap(moved, axis=0)  # what turns may be counted from another turn
    first = (8.0 * (moved[3] - moved[1]) - (moved[4] - moved[0])) / (12.0 * h)
    second = (16.0 * (moved[3] + moved[1]) - (moved[4] + moved[0]) - 30.0 * moved[2]) / (12.0 * h * h)
    assert error(motion.qd_tree, first) < 1e-7
    assert error(motion.qdd_tree, second) < 1e-5
    G = dyn.tree_jacobian(q)
    assert error((G @ qd[..., None])[..., 0], motion.qd_tree) < 1e-12
    drift = dyn.tree_motion(q, qd, 0.0 * qdd).qdd_tree
    assert error((G @ qdd[..., None])[..., 0] + drift, motion.qdd_tree) < 1e-11


@pytest.mark.parametrize("name", EXAMPLES)
def test_derivatives_of_the_inverse_model(name):
    """By differences of the whole chain of functions: loops closed anew, then torques."""
    dyn = example(name)
    motion = states(name, 6, seed=7)
    found = dyn.inverse_dynamics_derivatives(*motion)
    h = 1e-4
    for k in range(dyn.robot.nv):
        e = h * np.eye(dyn.robot.nv)[k]

        def torque(t, e=e, by=None):
            return dyn.inverse_dynamics(*(y + t * e if n == by else y for n, y in enumerate(motion)))

        for by, exact in enumerate(found):
            slope = (8 * (torque(1, by=by) - torque(-1, by=by)) - (torque(2, by=by) - torque(-2, by=by))) / (12 * h)
            assert np.abs(exact[..., k] - slope).max() < 1e-6 * (1.0 + np.abs(slope).max()), by


@pytest.mark.parametrize("name", EXAMPLES)
def test_wrenches_through_all_joints(name):
    """Along its axis a joint carries its drive's torque alone, a passive one nothing; with loads on all ends."""
    robot = example(name).robot
    frames = tuple(sorted({loop.a for loop in robot.loops} | {loop.b for loop in robot.loops}))
    dyn = lw.compile(robot, external=frames)
    q, qd, qdd = states(name, 20, seed=4)
    loads = np.random.default_rng(2).uniform(-9.0, 9.0, (20, len(frames), 6))
    tau, wrench, _ = dyn.joint_wrenches(q, qd, qdd, loads)
    assert error(dyn.inverse_dynamics(q, qd, qdd, loads), tau) < 1e-11
    drives, accelerations = applied(robot, tau), example(name).tree_motion(q, qd, qdd).qdd_tree
    for k, joint in enumerate(j for j in robot.joints if not j.is_fixed):
        six, v = wrench[:, k], robot.opened().slots[joint.name].v
        along_axis = six[:, :3] if joint.kind == "prismatic" else six[:, 3:]
        carried = along_axis @ np.array(joint.axis) + joint.armature * accelerations[:, v]
        assert np.abs(carried - drives[:, v]).max() < 1e-10 * (1.0 + np.abs(wrench).max())


def test_it_does_not_matter_which_joint_is_cut():
    """A four-bar linkage cut at one pin and at another: the same wrench through each of the four."""
    pins = {"A": 0.15, "B": 0.45, "C": 0.35}  # lengths of the bars that begin there

    def bar(name, mass):
        return Link(name, mass, (0.1, 0.03, 0.0), (0.01 * mass, 0.02 * mass, 0.03 * mass))

    links = [Link("base"), bar("crank", 1.0), bar("coupler", 2.0), bar("rocker", 1.5)]
    crank = Joint("crank", "base", "crank")
    rocker = Joint("rocker", "base", "rocker", origin=Pose.of((0.5, 0.0, 0.0)))
    pin_b = Pose.of((pins["A"], 0.0, 0.0)), Pose()
    pin_c = Pose.of((pins["C"], 0.0, 0.0)), Pose.of((pins["B"], 0.0, 0.0))
    first = lw.Robot(
        links,
        [crank, rocker, Joint("b", "crank", "coupler", origin=pin_b[0])],
        loops=[Loop("c", "rocker", "coupler", "revolute", *pin_c, ("crank",))],
        gravity=(1.0, -9.0, 0.0),
    )
    second = lw.Robot(
        links,
        [crank, rocker, Joint("c", "rocker", "coupler", origin=pin_c[0] @ pin_c[1].inverse(), anchor=pin_c[1].p)],
        loops=[Loop("b", "crank", "coupler", "revolute", *pin_b, ("crank",))],
        gravity=(1.0, -9.0, 0.0),
    )
    x, v, a = np.array([[0.8], [1.7], [4.0]]), np.array([[2.0]]), np.array([[-3.0]])
    dyn = lw.compile(first)
    ours = dyn.joint_wrenches(x, v, a)
    crank_q, b_q, rocker_q = dyn.positions(x).q.T
    c_q = crank_q + b_q - rocker_q
    at_first = {"crank": crank_q[0], "rocker": rocker_q[0], "c": c_q[0]}
    other = lw.compile(second.replace(reference=at_first))
    theirs = other.joint_wrenches(x, v, a)
    assert np.abs(np.sin(other.positions(x).q - np.stack([crank_q, rocker_q, c_q], axis=1))).max() < 1e-11
    assert error(theirs.tau, ours.tau) < 1e-11
    assert error(theirs.wrench[:, :2], ours.wrench[:, [0, 2]]) < 1e-11
    # on the coupler: in its own axes where the pin is a joint of the tree, in those of the other bar where it is cut
    for cut, through, angle in ((theirs.cut, ours.wrench[:, 1], b_q), (ours.cut, theirs.wrench[:, 2], c_q)):
        turned = Rotation.from_rotvec(np.outer(angle, (0.0, 0.0, 1.0))).apply(through[:, :3])
        assert error(cut[:, 0, :2], turned[:, :2]) < 1e-11
        assert np.abs(through[:, 5]).max() < 1e-11


@pytest.mark.parametrize("name", EXAMPLES)
def test_rates_are_those_of_the_motion(name):
    """Jerks, torque rates and wrench rates against differences of a closed motion; loads and the base change too."""
    plain = example(name)
    dyn = lw.compile(plain.robot, external=plain.robot.loops[0].b, base_motion=True)
    q, qd, qdd = (x[:8] for x in states(name, 40, seed=9))
    good = plain.positions(q).condition < 20.0
    q, qd, qdd = q[good], qd[good], qdd[good]
    rng = np.random.default_rng(5)
    qddd = rng.uniform(-5.0, 5.0, qd.shape)
    load, load_dot = rng.uniform(-5.0, 5.0, (2, 1, 6))
    pushed, jerked = ([*rng.uniform(-5.0, 5.0, 3), 0.0, 0.0, 0.0] for _ in range(2))
    still = np.zeros(6)

    def at(t):
        lead = (q + qd * t + qdd * t**2 / 2.0 + qddd * t**3 / 6.0, qd + qdd * t + qddd * t**2 / 2.0, qdd + qddd * t)
        base = (still, np.array(pushed) + np.array(jerked) * t)
        return dyn.joint_wrenches(*lead, load + load_dot * t, *base), plain.tree_motion(*lead)

    h = 2e-4
    steps = [at(k * h) for k in (-2, -1, 1, 2)]

    def slope(pick):
        a, b, c, d = (pick(step) for step in steps)
        return (8.0 * (c - b) - (d - a)) / (12.0 * h)

    assert error(plain.tree_jerks(q, qd, qdd, qddd), slope(lambda s: s[1].qdd_tree)) < 1e-6
    around = (load, load_dot, still, pushed, jerked)
    found = dyn.force_rates(q, qd, qdd, qddd, *around)
    assert error(found.tau, at(0.0)[0].tau) < 1e-10
    assert error(found.tau_dot, slope(lambda s: s[0].tau)) < 1e-6
    rates = dyn.joint_wrench_rates(q, qd, qdd, qddd, *around)
    assert error(rates.tau_dot, found.tau_dot) < 1e-9
    assert error(rates.wrench_dot, slope(lambda s: s[0].wrench)) < 1e-6
    assert error(rates.cut_dot, slope(lambda s: s[0].cut)) < 1e-6


def test_plain_python_is_the_kernel():
    """The reduced model on Python's numbers, which nothing compiled."""
    dyn = example("fivebar")
    q, qd, qdd = states("fivebar", 1)
    motion = dyn.tree_motion(q[0], qd[0], qdd[0])
    linkage = Linkage(Tree.of(dyn.robot), motion.q_tree.tolist(), structure_of(dyn.robot).part)
    assert error(linkage.rates(qd[0].tolist()), motion.qd_tree) < 1e-13
    plain = lw.inverse_dynamics.plain(dyn.robot, *(x[0].tolist() for x in (q, qd, qdd)))
    assert error(plain, dyn.inverse_dynamics(q[0], qd[0], qdd[0])) < 1e-12


def test_frames_of_a_cut_do_not_matter():
    """Turned together, frames of a spherical cut leave the motion as it is, and turn the wrench."""
    robot = lw.load("ankle")
    turn = with_z_along(Vec3(0.6, 0.48, 0.64))
    loops = [replace(c, origin_a=Pose(turn, c.origin_a.p), origin_b=Pose(EYE3, c.origin_b.p)) for c in robot.loops]
    motion = states("ankle", 5)
    ours, theirs = (compiled(r).joint_wrenches(*motion) for r in (robot, robot.replace(loops=loops)))
    assert error(theirs.tau, ours.tau) < 1e-11
    assert error(theirs.cut[..., :3] @ np.array(turn).T, ours.cut[..., :3]) < 1e-11
