"""What torques are linear in, and numbers of the model as inputs."""

from dataclasses import replace

import numpy as np
import pytest

import linkwise as lw
from linkwise.kernel.base_parameters import base_parameters
from linkwise.robot import Frame, Friction, Mimic
from linkwise.robot.parameters import QUANTITIES, read, substitute
from linkwise.vector import Mat3, Vec3
from support.trees import SEEDS, dynamics, error, ideal, states, tree


def linear(seed):
    """A robot whose friction is viscous and Coulomb's, in joints and motors; without springs."""
    robot = tree(seed, springs=0.0)
    return robot.replace(joints=[
        replace(
            j,
            friction=replace(j.friction, law="coulomb"),
            drive=j.drive and replace(j.drive, friction=replace(j.drive.friction, law="coulomb")),
        )
        for j in robot.joints
    ])  # fmt: skip


@pytest.mark.parametrize("seed", SEEDS)
def test_torque_is_linear_in_the_parameters(seed):
    """tau = Y @ parameters, with motors, armatures, friction and mimic joints."""
    robot = linear(seed)
    dyn, state = dynamics(robot), states(robot)
    assert dyn.regressor(*state).shape[-1] == len(robot.parameter_names)
    assert error(dyn.regressor(*state) @ robot.parameters(), dyn.inverse_dynamics(*state)) < 1e-12


@pytest.mark.parametrize("seed", SEEDS)
def test_base_parameters_are_as_many_as_the_rank(seed):
    """Their number = the rank of a regressor at other states, and they give the same torques."""
    robot = linear(seed)
    base = base_parameters(robot)
    state = states(robot, 600 // robot.nv + 40, seed=77)
    dyn = dynamics(robot)
    Y = dyn.regressor(*state).reshape(-1, len(robot.parameter_names))
    size = np.linalg.norm(Y, axis=0)
    seen = size > 1e-9 * size.max()
    singular = np.linalg.svd(Y[:, seen] / size[seen], compute_uv=False)
    rank = int((singular > 1e-10).sum())
    gap = singular[rank - 1] / max(singular[rank], 1e-17) if rank < len(singular) else np.inf
    assert gap > 1e6
    assert len(base) == rank == len(base.names)
    assert error(base.regressor(*state) @ base.values, dyn.inverse_dynamics(*state)) < 1e-12


@pytest.mark.parametrize("seed", SEEDS)
def test_unidentifiable_parameters_do_not_matter(seed):
    """No torque depends on a parameter said to be unidentifiable."""
    robot = linear(seed)
    base = base_parameters(robot)
    lost = [robot.parameter_names.index(n) for n in base.unidentifiable]
    Y = dynamics(robot).regressor(*states(robot))
    assert np.abs(Y[..., lost]).max(initial=0.0) < 1e-12 * np.abs(Y).max()


# ---- numbers of the model as inputs


def everything(seed):
    """A robot that has all that a path can name: joint 3 mimics, joint 4 has a motor, joint 2 one behind a spring."""
    robot = tree(seed, joints=4, floating=False, kinds=("revolute",), mimic=0.0, motors=1.0, springs=1.0)
    law = Friction(0.3, 0.5, "stribeck", 0.2, 0.9, 0.4)
    first, second, third, last = (robot.joint(f"joint{k}") for k in (1, 2, 3, 4))
    return robot.replace(
        replace(first, friction=law, drive=None, armature=0.2),
        replace(second, drive=replace(second.drive, stiffness=200.0, damping=0.5)),
        replace(third, mimic=Mimic("joint2", -0.7, 0.2)),
        replace(last, drive=replace(last.drive, friction=Friction(1e-3, 2e-3))),
    )


PATHS = {
    "mass": "link2.mass", "com": "link2.com", "inertia": "link3.inertia", "xyz": "joint2.xyz",
    "rotation": "joint2.rotation", "anchor": "joint2.anchor", "ratio": "joint3.ratio", "offset": "joint3.offset",
    "armature": "joint1.armature", "viscous": "joint1.viscous", "coulomb": "joint1.coulomb",
    "static": "joint1.static", "stribeck": "joint1.stribeck", "width": "joint1.width",
    "friction_offset": "joint1.friction_offset",
    "stiffness": "joint1.stiffness", "damping": "joint1.damping", "rest": "joint1.rest", "gear": "joint4.gear",
    "drive_stiffness": "joint2.drive_stiffness", "drive_damping": "joint2.drive_damping",
    "rotor": "joint4.rotor", "motor_mass": "joint4.motor_mass", "motor_com": "joint4.motor_com",
    "motor_inertia": "joint4.motor_inertia", "motor_axis": "joint4.motor_axis",
    "motor_viscous": "joint4.motor_viscous", "motor_coulomb": "joint4.motor_coulomb",
}  # fmt: skip
COMPONENTS = ("link2.com.y", "link3.inertia.xz", "joint3.xyz.z", "tool.xyz", "tool.rotation", "joint3.rotation.xy")


def test_every_quantity_is_tried():
    assert set(PATHS) == set(QUANTITIES)


@pytest.mark.parametrize("path", [*PATHS.values(), *COMPONENTS])
def test_a_number_at_its_own_value_changes_nothing(path):
    """A kernel with a number of the model as input, at the robot's own value = the kernel without."""
    robot = everything(2)
    q, qd, qdd = states(robot)
    f_ext = np.random.default_rng(4).normal(size=(len(q), 1, 6))
    plain = lw.compile(robot, lw.inverse_dynamics, external="tool")
    traced = lw.compile(robot, lw.inverse_dynamics, external="tool", parameters=path)
    assert error(traced(q, qd, qdd, f_ext, traced.parameters), plain(q, qd, qdd, f_ext)) < 1e-12


@pytest.mark.parametrize("quantity", QUANTITIES)
def test_a_changed_number_is_a_rebuilt_robot(quantity):
    """A kernel at another value = the kernel of the robot built with that value, and the value matters."""
    robot, path = everything(1), PATHS[quantity]
    q, qd, qdd = states(robot)
    kernel = lw.compile(robot, lw.inverse_dynamics, parameters=path)
    values = other_values(quantity, np.array(read(robot, path)))
    name, kind = path.split(".")[0], QUANTITIES[quantity][-1]
    item = next(x for x in getattr(robot, kind.group) if x.name == name)
    again = robot.replace(rebuilt(item, kind.path, values))
    tau = lw.compile(again).inverse_dynamics(q, qd, qdd)
    assert error(kernel(q, qd, qdd, values), tau) < 1e-12
    assert error(dynamics(robot).inverse_dynamics(q, qd, qdd), tau) > 1e-7


def other_values(quantity, now):
    """Numbers unlike the present ones, but of the same sort."""
    values = now * 1.3 + 0.01 * np.arange(1, 1 + len(now))
    if quantity == "rotation":
        Q = np.linalg.qr(values.reshape(3, 3))[0]
        return (Q * np.linalg.det(Q)).reshape(-1)
    return values / np.linalg.norm(values) if quantity == "motor_axis" else values


def rebuilt(item, path, values):
    """The item with the numbers at a path of attributes exchanged, every part made by its constructor."""
    field, *further = path
    old = getattr(item, field)
    if further:
        new = rebuilt(old, further, values)
    elif isinstance(old, Mat3):
        new = Mat3.of(values.reshape(3, 3).tolist())
    else:
        new = Vec3(*values.tolist()) if isinstance(old, Vec3) else tuple(values.tolist())
        new = new[0] if isinstance(old, float) else new
    return replace(item, **{field: new})


@pytest.mark.parametrize("seed", range(2))
def test_many_numbers_at_once_in_every_algorithm(seed):
    """Parameters of several items, in their order, for algorithms of all sorts."""
    robot = everything(seed)
    paths = ("link3.inertia", "joint2.xyz", "link1.com.x", "joint3.ratio", "link4.mass", "joint4.gear")
    traced = lw.compile(robot, parameters=paths)
    values = traced.mass_matrix.parameters * 1.1
    dyn = lw.compile(substitute(robot, by_path(robot, paths, values)))
    q, qd, qdd = states(robot)
    for name, given in (
        ("mass_matrix", (q,)), ("bias_forces", (q, qd)), ("gravity_forces", (q,)), ("kinetic_energy", (q, qd)),
        ("potential_energy", (q,)), ("momentum", (q, qd)), ("poses", (q,)), ("regressor", (q, qd, qdd)),
    ):  # fmt: skip
        assert error(getattr(traced, name)(*given, values), getattr(dyn, name)(*given)) < 1e-12, name
    C, expected = traced.coriolis_matrix(q, qd, values), dyn.coriolis_matrix(q, qd)
    assert error(np.einsum("bij,bj->bi", C, qd), np.einsum("bij,bj->bi", expected, qd)) < 1e-12  # C is one of many


def by_path(robot, paths, values):
    """The flat values by path."""
    found, rest = {}, list(values.tolist())
    for path in paths:
        width = len(read(robot, path))
        found[path], rest = tuple(rest[:width]), rest[width:]
    return found


@pytest.mark.parametrize("seed", range(2))
def test_a_frame_as_input_moves_the_load(seed):
    """External wrench on a frame whose placement is an input = on a frame placed there."""
    robot = ideal(seed)
    state = states(robot)
    f_ext = np.random.default_rng(6).normal(size=(len(state[0]), 1, 6))
    xyz = np.array([0.3, -0.2, 0.5])
    frame = robot.frame("tool")
    moved = robot.replace(Frame("tool", frame.link, lw.Pose(frame.origin.R, Vec3(*xyz.tolist()))))
    kernel = lw.compile(robot, lw.inverse_dynamics, external="tool", parameters="tool.xyz")
    tau = lw.compile(moved, lw.inverse_dynamics, external="tool")(*state, f_ext)
    assert error(kernel(*state, f_ext, xyz), tau) < 1e-12
