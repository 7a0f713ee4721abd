"""The MJCF reader against MuJoCo itself: order, names, poses, forces, limits."""

import mujoco
import numpy as np
import pytest

import linkwise as lw
from linkwise.algorithms.inverse_dynamics import inverse_dynamics
from linkwise.algorithms.kinematics import pose, world_poses
from linkwise.formats.mjcf import load_mjcf
from linkwise.mechanism.assemble import Assembler
from linkwise.mechanism.equations import gap
from linkwise.robot.tree import Tree
from linkwise.rotation import from_quaternion
from support.mjcf import Oracle, body, full, mjcf, reduced
from support.pinocchio_bridge import random_states

A = '<inertial pos="0.1 -0.2 0.3" mass="1.5" diaginertia="0.3 0.4 0.5"/>'
B = '<inertial pos="-0.1 0.05 0.2" quat="0.3 -0.5 0.7 0.1" mass="0.8" diaginertia="0.02 0.03 0.04"/>'
C = '<inertial pos="0 0.1 0.1" mass="0.5" fullinertia="0.05 0.06 0.07 0.01 -0.02 0.005"/>'

MODELS = {
    "arm": mjcf(
        body(
            "base", A,
            body(
                "upper", A, '<joint name="shoulder" axis="0 1 0"/>', '<site name="elbow_site" pos="0 0 0.4"/>',
                body("lower", B, '<joint name="elbow" axis="1 2 -2"/>', attributes='pos="0 0 0.4"'),
                attributes='pos="0.1 0.2 0.3" quat="0.5 0.1 -0.7 0.4"',
            ),
        ),
    ),
    "orientations": mjcf(
        body(
            "a", A, '<joint name="a" axis="1 0 0"/>',
            body("b", B, '<joint name="b"/>', attributes='euler="20 -30 50" pos="1 0 0"'),
            body("c", C, '<joint name="c"/>', attributes='axisangle="1 2 3 70" pos="0 1 0"'),
            body("d", A, '<joint name="d"/>', attributes='xyaxes="1 0.5 0 -0.3 1 0.2"'),
            body("e", A, '<joint name="e"/>', attributes='zaxis="0.3 -0.4 0.5"'),
            body("f", A, '<joint name="f"/>', attributes='zaxis="0 0 -2"'),
            '<site name="s" euler="10 20 30" pos="1 2 3"/>',
            '<site name="t" type="capsule" size="0.1" fromto="0 0 0 1 2 3"/>',
            attributes='quat="0 0 3 4"',
        ),
    ),
    "inertial orientations": mjcf(
        *(
            body(
                f"b{k}", f'<joint name="j{k}" axis="1 1 0"/>',
                f'<inertial pos="0 {k} 1" {form} mass="1" diaginertia="1 2 2.5"/>',
            )
            for k, form in enumerate(
                ('euler="1 0.2 0.3"', 'axisangle="0 1 1 2"', 'zaxis="1 1 1"', 'xyaxes="0 1 0 0 0 1"')
            )
        ),
        head=['<compiler angle="radian" eulerseq="XyZ"/>'],
    ),
    "extrinsic degrees": mjcf(
        body("a", A, '<joint name="a" range="-90 45"/>', attributes='euler="20 -30 50"'),
        head=['<compiler eulerseq="ZYX"/>', '<option gravity="1 -2 3"/>'],
    ),
    "several joints": mjcf(
        body(
            "cart", A, '<joint name="x" type="slide" axis="1 0 0"/>', '<joint name="y" type="slide" axis="0 1 0"/>',
            '<joint name="yaw" pos="0.1 0.2 0.3"/>',
            body(
                "hand", B, '<joint name="roll" axis="1 0 0" pos="0 0.1 0"/>', '<joint name="pitch" axis="0 1 0.1"/>',
                '<site name="tip" pos="0 0 1"/>', attributes='pos="0 0 1" quat="1 2 3 4"',
            ),
        ),
    ),
    "reference positions": mjcf(
        body(
            "a", A, '<joint name="a" axis="0 1 0" ref="30" pos="0.1 0 0.2" springref="-40" stiffness="3"/>',
            body("b", B, '<joint name="b" type="slide" axis="1 1 0" ref="0.7" springref="0.2" stiffness="5"/>'),
            '<joint name="c" axis="1 0 0" ref="-50" pos="0 0.3 0"/>',
        ),
    ),
    "masses of geoms": mjcf(
        body(
            "a", '<joint name="a" axis="0 1 0"/>',
            '<geom type="box" size="0.1 0.2 0.3" pos="0.1 0 0.2" euler="10 20 30"/>',
            '<geom type="capsule" size="0.05 0.2" density="700" pos="0 0.1 0.3" quat="1 2 3 4"/>',
            body(
                "b", '<joint name="b" axis="1 0 0"/>', '<geom type="cylinder" size="0.1" fromto="0 0 0 0.1 0.2 0.5"/>',
                '<geom type="ellipsoid" size="0.1 0.2 0.3" mass="2"/>', '<geom size="0.1" group="1" pos="0 0 1"/>',
                body(
                    "c", '<joint name="c"/>', '<geom type="capsule" size="0.03" fromto="0 0 0 0 0.2 0.3"/>',
                    '<geom type="box" size="0.02" fromto="0 0 0 0.3 0.2 0.1" class="light"/>',
                    attributes='pos="0 0.3 0"',
                ),
                attributes='pos="0 0 0.6"',
            ),
        ),
        head=['<default><default class="light"><geom density="50"/></default></default>'],
    ),
    "passive forces": mjcf(
        body(
            "a", A, '<joint name="a" damping="0.4" armature="0.3" frictionloss="0.2" stiffness="7" springref="20"/>',
            body("b", B, '<joint name="b" axis="1 0 0" type="slide" damping="2" armature="0.5" frictionloss="1"/>'),
        ),
    ),
    "switched off": mjcf(
        body("a", A, '<joint name="a" axis="1 0 0" damping="0.4" stiffness="7"/>'),
        head=['<option><flag gravity="disable" damper="disable" spring="disable"/></option>'],
    ),
    "default classes": mjcf(
        body(
            "a", A, '<joint name="a"/>', '<site name="s"/>',
            body("b", B, '<joint name="b"/>', '<joint name="c" class="soft" axis="0 0 1"/>'),
            body(
                "c", C, '<joint name="d" damping="5"/>', '<site name="t" euler="0 0 40"/>',
                attributes='childclass="soft"',
            ),
            body("d", C, '<joint name="e" class="main"/>', '<site name="u" class="soft"/>'),
            attributes='childclass="arm"',
        ),
        body("z", A, '<joint name="z"/>'),
        head=[
            '<default><joint damping="1" axis="0 1 0"/><default class="arm"><joint armature="2" axis="1 0 0"/>',
            '<site pos="1 2 3" quat="0 1 0 0"/><default class="soft"><joint stiffness="3" damping="0.1"/>',
            '<site pos="3 2 1"/></default></default></default>',
            '<default><joint armature="0.5"/><default class="late"><joint damping="7"/></default></default>',
        ],
    ),
    "frames": mjcf(
        '<frame pos="1 2 3" euler="10 20 30"><frame axisangle="1 1 0 50">',
        body(
            "a", '<frame pos="0 0.1 0" zaxis="1 0 1" childclass="heavy">', B, '<joint name="a" axis="1 0 0"/>',
            '<site name="s" pos="1 0 0"/>', body("b", A, '<joint name="b" pos="0 0.1 0"/>', attributes='pos="0 1 0"'),
            "</frame>", '<joint name="c" type="slide"/>', body("c", C, '<joint name="d"/>'),
        ),
        '</frame><site name="w"/></frame>',
        body("d", A, "<joint/>"),
        head=['<default><default class="heavy"><joint armature="3"/></default></default>'],
    ),
    "free bodies": mjcf(
        body(
            "torso", A, '<freejoint name="root"/>', '<site name="imu" pos="0.1 0 0" quat="1 1 0 0"/>',
            body("leg", B, '<joint name="hip" axis="0 1 0" damping="0.3"/>', attributes='pos="0 0.2 -0.1"'),
            attributes='pos="1 2 3" euler="10 20 30"',
        ),
        body("ball", C, '<joint name="ball" type="free"/>', attributes='pos="3 2 1"'),
        body("pole", A, '<joint name="pole" axis="1 0 0"/>'),
        head=['<option gravity="0.3 0.2 -9"/>'],
    ),
    "massless": mjcf(
        body(
            "a", '<joint name="a"/>', body("b", A, attributes='pos="0 1 0"'), body("c"),
            attributes='pos="1 0 0"',
        ),
    ),
    "tied joints": mjcf(
        body(
            "a", A, '<joint name="a" axis="0 1 0" ref="10"/>',
            body("b", B, '<joint name="b" axis="1 0 0" ref="-20" damping="0.3" armature="0.2" frictionloss="0.1"/>'),
            body("c", C, '<joint name="c" type="slide" stiffness="3" springref="0.1"/>'),
        ),
        tail=[
            '<equality><joint joint1="b" joint2="a" polycoef="0.3 -2 0 0 0"/><joint joint1="c" joint2="a"/>',
            '<joint joint1="a" joint2="c" active="false"/></equality>',
        ],
    ),
    "balanced inertia": mjcf(
        body("a", '<inertial pos="0 0 0.5" mass="1" diaginertia="1 1 5"/>', '<joint axis="1 2 3"/>'),
        body("b", '<inertial pos="0 0 0.5" mass="1" fullinertia="1 1 5 0.1 0.2 0.3"/>', '<joint axis="1 2 3"/>'),
        body("c", A, '<joint axis="1 2 3"/>'),
        head=['<compiler balanceinertia="true"/>'],
    ),
    "geoms": mjcf(
        '<geom type="plane" size="1 1 1"/>',
        body(
            "base", '<geom size="0.1"/>',
            body(
                "a", A, '<joint axis="1 0 0"/>', '<geom size="0.1"/>', '<camera name="eye"/>', "<light/>",
                body("b", '<geom size="0.1" class="visual"/>', attributes='pos="0 0 1"'),
                body("c", '<geom size="0.1" group="3"/>'),
            ),
        ),
        head=[
            '<compiler inertiagrouprange="0 2"/>',
            '<default><default class="visual"><geom mass="0"/></default></default>',
            '<asset><material name="red"/></asset>',
        ],
        tail=['<sensor/>', '<contact><exclude body1="a" body2="b"/></contact>', "<keyframe/>", "<custom/>"],
    ),
}  # fmt: skip


@pytest.fixture(scope="module", params=MODELS)
def both(request):
    text = MODELS[request.param]
    return load_mjcf(text), Oracle(text)


def test_names_come_in_mujoco_order(both):
    robot, theirs = both
    moving = [j for j in robot.joints if not j.is_fixed]
    model = theirs.model
    assert [j.nv or 1 for j in moving] == [(6 if kind == 0 else 1) for kind in model.jnt_type]
    named = [mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_JOINT, k) for k in range(model.njnt)]
    assert all(n is None or n == j.name for n, j in zip(named, moving, strict=True))
    assert {k.name for k in robot.links} >= set(theirs.names("body", "nbody"))
    assert [f.name for f in robot.frames] == theirs.names("site", "nsite")


def test_inverse_dynamics(both):
    robot, theirs = both
    q, qd, qdd = random_states(robot, 20)
    for x, v, a in zip(q, qd, qdd, strict=True):
        state = full(robot, x), full(robot, v, rate=True), full(robot, a, rate=True)
        expected = reduced(robot, theirs.inverse(*state))
        scale = np.abs(expected).max()
        np.testing.assert_allclose(inverse_dynamics.plain(robot, x, v, a), expected, rtol=0, atol=1e-12 * scale)


def test_poses_of_bodies_and_sites(both):
    robot, theirs = both
    for x in random_states(robot, 5)[0]:
        theirs.place(full(robot, x))
        places = [(n, theirs.data.body(n)) for n in theirs.names("body", "nbody")]
        places += [(n, theirs.data.site(n)) for n in theirs.names("site", "nsite")]
        for name, there in places:
            T = np.array(pose.plain(robot, x, frame=name)).reshape(4, 4)
            np.testing.assert_allclose(T[:3, :3], there.xmat.reshape(3, 3), atol=1e-12)
            np.testing.assert_allclose(T[:3, 3], there.xpos, atol=1e-12)


def test_limits_and_masses(both):
    robot, theirs = both
    model = theirs.model
    moving = [j for j in robot.joints if not j.is_fixed]
    for j, limited, bounds in zip(moving, model.jnt_limited, model.jnt_range, strict=True):
        expected = bounds if limited else (-np.inf, np.inf)
        np.testing.assert_allclose((j.limits.lower, j.limits.upper), expected, rtol=1e-14)
    for name in theirs.names("body", "nbody"):
        if name not in (robot.root.name, "base"):
            assert robot.link(name).mass == model.body(name).mass[0]


# ---- loops

LOOPS = {
    "four bars": mjcf(
        body(
            "crank", A, '<joint name="crank" axis="0 1 0" damping="0.1" ref="15"/>',
            body("coupler", B, '<joint name="coupler" axis="0 1 0" armature="0.02"/>', attributes='pos="0.2 0 0"'),
        ),
        body("rocker", C, '<joint name="rocker" axis="0 1 0"/>', attributes='pos="0.6 0 0" euler="0 -70 0"'),
        tail=['<equality><connect body1="coupler" body2="rocker" anchor="0.5 0 0.05"/></equality>'],
    ),
    "in space": mjcf(
        body(
            "foot", A, '<joint name="pitch" axis="0 1 0"/>', '<joint name="roll" axis="1 0 0"/>',
            '<site name="heel" pos="-0.1 0.05 0.02"/>', attributes='pos="0 0 -0.4"',
        ),
        body(
            "arm", B, '<joint name="motor" axis="0 1 0"/>',
            body(
                "rod", C, '<joint name="swing" axis="0 1 0" ref="10"/>', '<joint name="lean" axis="1 0 0"/>',
                '<site name="end" pos="0 0 -0.3" euler="10 20 30"/>', attributes='pos="-0.1 0.05 0"',
            ),
        ),
        tail=['<equality><connect site1="end" site2="heel"/></equality>'],
    ),
    "on the world": mjcf(
        body("plate", A, "<freejoint/>", attributes='pos="1 2 3" quat="0.5 0.1 -0.7 0.4"'),
        tail=['<equality><connect body1="plate" anchor="0.1 0.2 0.3"/></equality>'],
    ),
}  # fmt: skip


def jacobian(theirs):
    """Of the points that are held together, in the world's axes, where a free joint moves by its own."""
    theirs.model.opt.disableflags &= ~int(mujoco.mjtDisableBit.mjDSBL_EQUALITY)
    theirs.model.opt.jacobian = mujoco.mjtJacobian.mjJAC_DENSE
    theirs.data.qvel[:] = 0.0
    mujoco.mj_forward(theirs.model, theirs.data)
    J = theirs.data.efc_J.reshape(-1, theirs.model.nv)[:3].copy()
    for at, k in zip(theirs.free(theirs.model.jnt_qposadr), theirs.free(theirs.model.jnt_dofadr), strict=True):
        w, *xyz = theirs.data.qpos[at + 3 : at + 7]
        J[:, k : k + 3] = J[:, k : k + 3] @ np.array(from_quaternion(*xyz, w))
    return J


@pytest.mark.parametrize("name", LOOPS)
def test_connected_points_and_how_they_move(name):
    """The gap in random positions, and its Jacobian where they are closed."""
    robot, theirs = load_mjcf(LOOPS[name]), Oracle(LOOPS[name])
    tree, (loop,) = Tree.of(robot), robot.loops
    # the gap is in axes of the last body that carries both points
    ways = tree.paths(tree.places[loop.a][0], tree.places[loop.b][0])
    common = tree.bodies[(ways[0] or ways[1])[0]].parent
    found = 0
    for q in random_states(robot.opened(), 8)[0]:
        closed = Assembler(robot).close(q)
        found += closed is not None
        for at in (q,) if closed is None else (q, closed):
            theirs.place(at)
            J = jacobian(theirs)
            ours, flat = gap(tree, at.tolist(), robot.loops)
            R = np.array(world_poses(tree, at.tolist())[common].R)
            np.testing.assert_allclose(R @ ours, -theirs.data.efc_pos[:3], atol=1e-12)
        if closed is not None:
            np.testing.assert_allclose(R @ np.reshape(flat, (3, -1)), -J, atol=1e-9)
    assert found > 1


WELDS = {
    "as they stand": '<weld body1="coupler" body2="rocker"/>',
    "as told": '<weld name="glue" body1="coupler" body2="rocker" relpose="0.3 0 0.1 0.9 0 0.3 0" torquescale="2"/>',
    "at sites": '<weld site1="a" site2="b" solref="0.01 1"/>',
    "to the world": '<weld body1="rocker" anchor="0.1 0 0"/>',
}


@pytest.mark.parametrize("name", WELDS)
def test_welded_bodies(name):
    """Where ours are closed theirs are, and the same motions keep them so."""
    chain = body(
        "crank", A, '<joint name="crank" axis="0 0.6 0.8"/>',
        body(
            "coupler", B, '<joint name="coupler" axis="0 1 0" ref="15"/>', '<joint name="lean" axis="1 0 0"/>',
            '<site name="a" pos="0.1 0 0.3" euler="10 20 30"/>', attributes='pos="0.2 0 0.1"',
        ),
    )  # fmt: skip
    rocker = body(
        "rocker", C, "<freejoint/>", '<site name="b" pos="0 0.1 0" euler="0 -20 0"/>', attributes='pos="0.6 0 0"'
    )
    text = mjcf(chain, rocker, tail=[f"<equality>{WELDS[name]}</equality>"])
    robot, theirs = load_mjcf(text), Oracle(text)
    (loop,) = robot.loops
    assert loop.kind == "fixed"
    found = 0
    for q in random_states(robot.opened(), 40)[0]:
        closed = Assembler(robot).close(q)
        if closed is None:
            continue
        found += 1
        theirs.place(closed)
        jacobian(theirs)
        np.testing.assert_allclose(theirs.data.efc_pos[:6], 0.0, atol=1e-9)
        J = theirs.data.efc_J.reshape(-1, theirs.model.nv)[:6].copy()
        for at, k in zip(theirs.free(theirs.model.jnt_qposadr), theirs.free(theirs.model.jnt_dofadr), strict=True):
            w, *xyz = theirs.data.qpos[at + 3 : at + 7]
            J[:, k : k + 3] = J[:, k : k + 3] @ np.array(from_quaternion(*xyz, w))
        ours = Assembler(robot).jacobian_si(closed)
        both = [np.linalg.matrix_rank(x, tol=1e-7) for x in (J, ours, np.vstack([J, ours]))]
        assert both == [6, 6, 6]
    assert found > 1


def test_a_linkage_from_a_file_moves_as_there():
    """From rest, by their inertia, bias and Jacobian."""
    text = LOOPS["four bars"].replace("</mujoco>", '<actuator><motor joint="crank"/></actuator></mujoco>')
    robot, theirs = load_mjcf(text), Oracle(text)
    dyn = lw.compile(robot)
    assert robot.drives == ("crank",)
    q = robot.q() + 0.1
    at = dyn.positions(q)
    assert at.converged
    found = dyn.tree_motion(q, [0.0], dyn.forward_dynamics(q, [0.0], [3.0]))
    theirs.place(at.q)
    J = jacobian(theirs)[[0, 2]]  # in the plane
    M = np.zeros((3, 3))
    for column, unit in zip(M, np.eye(3), strict=True):
        mujoco.mj_mulM(theirs.model, theirs.data, column, unit)
    rest = np.concatenate([[3.0, 0.0, 0.0] - theirs.data.qfrc_bias, np.zeros(2)])
    qdd = np.linalg.solve(np.block([[M, J.T], [J, np.zeros((2, 2))]]), rest)[:3]
    np.testing.assert_allclose(found.qdd_tree, qdd, rtol=1e-9)
