"""Joints of every kind that Pinocchio has too: torques, derivatives, accelerations, steps; balls against MuJoCo."""

import mujoco
import numpy as np
import pinocchio as pin
import pytest

import linkwise as lw
from linkwise.robot.joint import KINDS

MODELS = {
    "revolute": lambda axis: pin.JointModelRevoluteUnaligned(axis),
    "prismatic": lambda axis: pin.JointModelPrismaticUnaligned(axis),
    "spherical": lambda _: pin.JointModelSpherical(),
    "translation": lambda _: pin.JointModelTranslation(),
    "floating": lambda _: pin.JointModelFreeFlyer(),
}
KINDS_TRIED = ("revolute", "spherical", "translation", "prismatic", "screw", "planar", "universal")


def placed(X):
    return pin.SE3(np.array([list(row) for row in X.R]), np.array(list(X.p)))


def model_of(robot):
    model, place = pin.Model(), {robot.root.name: (0, pin.SE3.Identity())}
    links = {link.name: link for link in robot.links}
    for j in robot.joints:
        parent, before = place[j.parent]
        frame = placed(j.freedom.frame(j.axis, j.anchor))
        at = before * placed(j.origin)
        if j.freedom.parts:  # one after the other, with nothing between them
            shift, at = frame, at * frame
            for k, (kind, axis) in enumerate(j.freedom.parts):
                parent = model.addJoint(parent, MODELS[kind.name](np.array(list(axis))), at, f"{j.name}.{k}")
                at = pin.SE3.Identity()
        else:
            shift = pin.SE3(np.eye(3), frame.translation)  # a point that the joint turns about
            axis = np.array(list(j.axis))
            of_kind = pin.JointModelHelicalUnaligned(axis, j.pitch) if j.kind == "screw" else MODELS[j.kind](axis)
            parent = model.addJoint(parent, of_kind, at * shift, j.name)
        k = parent
        place[j.child] = (k, shift.inverse())
        xx, xy, xz, yy, yz, zz = links[j.child].inertia
        tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        inertia = pin.Inertia(links[j.child].mass, np.array(list(links[j.child].com)), tensor)
        model.appendBodyToJoint(k, inertia, shift.inverse())
    return model


def state(robot, seed):
    rng = np.random.default_rng(seed)
    q = rng.normal(size=robot.nq)
    for slot in robot.slots.values():
        if (at := slot.quaternion) is not None:
            q[at] /= np.linalg.norm(q[at])
    return q, *rng.normal(size=(2, robot.nv))


def close(ours, theirs, relative=1e-11):
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=relative * max(1.0, np.abs(theirs).max()))


def test_every_kind_is_tried():
    assert set(KINDS) == {*KINDS_TRIED, "floating", "fixed", "continuous", "coupled"}


@pytest.mark.parametrize("seed", range(8))
def test_against_pinocchio(seed):
    robot = lw.random_tree(seed, 5, kinds=KINDS_TRIED, fixed=0.0, floating=seed % 2 == 1)
    q, qd, qdd = state(robot, seed)
    model, dyn = model_of(robot), lw.compile(robot)
    data = model.createData()
    tau = dyn.inverse_dynamics(q, qd, qdd)
    close(tau, pin.rnea(model, data, q, qd, qdd))
    d = dyn.inverse_dynamics_derivatives(q, qd, qdd)
    by_q, by_qd, M = pin.computeRNEADerivatives(model, data, q, qd, qdd)
    close(d.dtau_dq, by_q)
    close(d.dtau_dqd, by_qd)
    close(d.M, np.triu(M) + np.triu(M, 1).T)
    bound = max(1e-11, 1e-15 * np.linalg.cond(d.M))
    close(dyn.forward_dynamics(q, qd, tau), qdd, bound)
    theirs = pin.computeABADerivatives(model, data, q, qd, tau)
    for a, b in zip(dyn.forward_dynamics_derivatives(q, qd, tau)[:2], theirs[:2], strict=True):
        close(a, b, bound)
    there = dyn.integrate(q, qd, 0.3)
    close(there, pin.integrate(model, q, 0.3 * qd))
    close(dyn.difference(q, there), pin.difference(model, q, there))


BALLS = """
<mujoco><option gravity="0 0 -9.81"/><compiler angle="radian"/><worldbody>
  <body name="upper" pos="0.1 0 0.3"><joint name="shoulder" type="ball" pos="0 0.05 0.1"/>
    <inertial pos="0 0.1 0.2" mass="2" fullinertia="0.03 0.04 0.05 0.001 0.002 0.003"/>
    <body name="fore" pos="0 0 0.4" euler="0.3 0.2 0.1"><joint name="elbow" type="hinge" axis="0 1 0"/>
      <inertial pos="0.1 0 0.1" mass="1" fullinertia="0.01 0.02 0.02 0 0 0"/>
      <body name="hand" pos="0 0.1 0.3"><joint name="wrist" type="ball"/>
        <inertial pos="0 0.02 0.05" mass="0.5" fullinertia="0.002 0.003 0.002 0 0 0"/>
      </body></body></body>
</worldbody></mujoco>
"""


def test_balls_of_mjcf_against_mujoco(tmp_path):
    path = tmp_path / "balls.xml"
    path.write_text(BALLS)
    robot = lw.load(path)
    assert [j.kind for j in robot.joints if j.nv] == ["spherical", "revolute", "spherical"]
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    dyn = lw.compile(robot)
    for seed in range(3):
        q, qd, qdd = state(robot, seed)
        w_first = q.copy()
        for slot in robot.slots.values():
            if (at := slot.quaternion) is not None:
                w_first[at] = q[at][[3, 0, 1, 2]]
        data.qpos, data.qvel, data.qacc = w_first, qd, qdd
        mujoco.mj_inverse(model, data)
        close(dyn.inverse_dynamics(q, qd, qdd), data.qfrc_inverse, 1e-12)


def test_simulation_keeps_energy(tmp_path):
    robot = lw.random_tree(2, 4, kinds=("spherical", "translation", "revolute"), fixed=0.0)
    result = lw.simulate(robot, None, None, 0.5, rtol=1e-10, atol=1e-10)
    assert result.status == "finished"
    assert result.energy.drift <= 1e-7
    assert sum(np.ptp(result.q, axis=0) > 1e-3) >= 4  # it does move
    names = list(result.columns())
    assert any(name.endswith(".qw") for name in names)
    assert any(name.endswith(".vz") for name in names)
    result.save(tmp_path / "fall.npz")
    assert np.array_equal(lw.simulation.Simulation.load(tmp_path / "fall.npz").q, result.q)
    path = tmp_path / "fall.csv"
    result.save(path)


def test_in_files(tmp_path):
    """TOML keeps them; URDF says that it has none."""
    robot = lw.random_tree(2, 4, kinds=("spherical", "translation"), fixed=0.0)
    lw.save(robot, tmp_path / "robot.toml")
    assert lw.load(tmp_path / "robot.toml") == robot
    with pytest.raises(lw.InputError, match=r"URDF has no (spherical|translation) joints. Save the robot as .toml"):
        lw.save(robot, tmp_path / "robot.urdf")
    with pytest.raises(lw.ModelError, match="spherical joint cannot have friction"):
        lw.Joint("j", "a", "b", "spherical", friction=lw.Friction(1.0))


def test_planar_joints_of_urdf(tmp_path):
    """x and y in the plane across the axis, and the angle about it; written back as they were read."""
    text = """<robot name="puck">
      <link name="table"/>
      <link name="puck">
        <inertial><origin xyz="0.1 0 0.2"/><mass value="2"/>
          <inertia ixx="0.1" iyy="0.2" izz="0.3" ixy="0" ixz="0" iyz="0"/></inertial>
      </link>
      <joint name="slip" type="planar">
        <parent link="table"/><child link="puck"/><origin xyz="0 0 1"/><axis xyz="0 0 1"/><dynamics damping="0.5"/>
      </joint>
    </robot>"""
    robot = lw.load(text)
    assert (robot.nq, robot.nv) == (3, 3)
    assert any("friction of a planar joint is not modelled" in d.message for d in robot.diagnostics)
    dyn = lw.compile(robot)
    T = dyn.pose([0.3, 0.4, np.pi / 2], "puck")
    np.testing.assert_allclose(T, [[0, -1, 0, 0.3], [1, 0, 0, 0.4], [0, 0, 1, 1], [0, 0, 0, 1]], atol=1e-15)
    # a push along the table's x, with the centre 0.1 m beside the joint and the puck turned by a quarter
    np.testing.assert_allclose(
        dyn.inverse_dynamics([0.3, 0.4, np.pi / 2], np.zeros(3), [1.0, 0.0, 0.0]), [2.0, 0.0, -0.2], atol=1e-14
    )
    lw.save(robot, tmp_path / "puck.urdf")
    again = lw.load(tmp_path / "puck.urdf")
    assert again.joint("slip") == robot.joint("slip")
