"""What a user does with parallel robots: builders, kinematics, limits, files."""

import pickle

import numpy as np
import pytest

import linkwise as lw
from linkwise.robot import load_toml
from support.machines import NAMES, machine

GOUGH = lw.gough_stewart(stroke=(0.7, 1.0))
HOME = np.array([0.0, 0.0, 0.75, 0.0, 0.0, 0.0, 1.0])


def test_at_its_height_a_hexapod_stands_at_zero():
    """All universal joints are at zero there, all legs alike."""
    par = lw.compile(GOUGH)
    q = par.inverse_kinematics(HOME).reshape(6, 3)
    np.testing.assert_allclose(q[:, :2], 0.0, rtol=0, atol=1e-14)
    np.testing.assert_allclose(q[:, 2], q[0, 2], rtol=1e-14)
    np.testing.assert_allclose(par.actuators(HOME), q[:, 2], rtol=1e-14)


def test_a_hexapod_carries_its_weight():
    """Six equal forces; with legs that weigh nothing they are the platform's weight over six cosines."""
    none = lw.Link("part")
    par = lw.compile(lw.gough_stewart(cylinder=none, rod=none))
    forces = par.inverse_dynamics(HOME, np.zeros(6), np.zeros(6))
    length = par.actuators(HOME)[0]
    np.testing.assert_allclose(forces, 10.0 * 9.81 / 6.0 * length / 0.75, rtol=1e-12)


def test_a_delta_in_the_middle():
    """Equal angles, whose knees are an arm and a forearm from motor and platform; torques that hold it."""
    par = lw.compile(lw.delta())
    angles = par.actuators([0.0, 0.0, -0.5])
    np.testing.assert_allclose(angles, angles[0], rtol=1e-13)
    knee = np.array([0.2 + 0.25 * np.cos(angles[0]), -0.25 * np.sin(angles[0])])
    assert abs(np.linalg.norm(knee - [0.05, -0.5]) - 0.6) < 1e-14
    assert (par.inverse_dynamics([0.0, 0.0, -0.5], np.zeros(3), np.zeros(3)) < 0.0).all()  # it would fall


@pytest.mark.parametrize("elbow", [1, -1])
def test_elbows(elbow):
    par = lw.compile(lw.three_rrr(elbow=elbow))
    q = par.inverse_kinematics([0.02, 0.01, 0.1])
    assert (np.sign(q[1::2]) == elbow).all()


def test_a_horizontal_planar_machine_needs_no_force_at_rest():
    par = lw.compile(lw.three_rrr())
    assert not par.inverse_dynamics([0.02, 0.01, 0.1], np.zeros(3), np.zeros(3)).any()
    assert not par.gravity_forces([0.02, 0.01, 0.1]).any()


def test_limits_of_legs():
    par = lw.compile(GOUGH)
    poses = np.tile(HOME, (3, 1))
    poses[:, 2] += [0.0, 0.3, -0.4]
    space = par.workspace(poses)
    assert space.reachable.all()
    np.testing.assert_array_equal(space.within, [True, False, False])
    lengths = par.actuators(poses)
    np.testing.assert_allclose(space.excess[1, 2::3], lengths[1] - 1.0, rtol=1e-12)
    np.testing.assert_allclose(space.excess[2, 2::3], 0.7 - lengths[2], rtol=1e-12)
    assert not space.excess[0].any()


def test_condition_shows_singular_poses():
    """A hexapod whose platform is turned by a right angle is singular, whatever its height: Fichter's pose."""
    robot = lw.gough_stewart(platform_spread=np.radians(20.0))
    par = lw.compile(robot)
    half = np.pi / 4.0
    turned = [0.0, 0.0, 0.75, 0.0, 0.0, np.sin(half), np.cos(half)]
    assert par.condition(HOME) < 5.0
    assert par.condition(turned) > 1e12
    near = [par.condition([0.0, 0.0, 0.75, 0.0, 0.0, np.sin(half - d), np.cos(half - d)]) for d in (0.1, 0.01, 0.001)]
    assert near[0] < near[1] < near[2]
    assert par.condition(HOME, length=1.0) != par.condition(HOME)


@pytest.mark.parametrize("name", NAMES)
def test_files(name, tmp_path):
    """A saved robot reads back equal."""
    robot = machine(name).robot
    assert lw.save(robot, tmp_path / "machine.toml") == ()
    again = lw.load(tmp_path / "machine.toml")
    assert again == robot
    assert hash(again) == hash(robot)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[platform]", "[plate]", r"unknown key of a parallel robot 'plate'. Did you mean 'platform'\?"),
        ('tip = "rod"', 'tip = "rood"', r"\[\[leg\]\] 1 'leg1': tip: unknown frame or link 'rood'|leg 'leg1' tip"),
        ("mass = 10.0", 'mass = "10"', r"\[platform\]: mass: expected a number, got '10'"),
        ("actuated = ", "actuatd = ", r"\[\[leg\]\] 1: unknown key of a leg 'actuatd'"),
        (
            'kind = "prismatic"',
            'kind = "slide"',
            r"\[\[leg\]\] 1 'leg1': \[\[joint\]\] 3 'slide': kind: expected one of",
        ),
        ('mobility = "spatial"', 'mobility = "planar"', "leg 'leg1': expected 2 joints that move"),
        ("at = [", "at = [1.0, ", "leg 'leg1' at: expected 3 numbers, got 4"),
    ],
)
def test_errors_in_files_are_placed(old, new, message):
    from linkwise.parallel.files import load as load_text
    from linkwise.parallel.files import text_of

    text = text_of(GOUGH).replace(old, new, 1)
    assert text != text_of(GOUGH)
    with pytest.raises(lw.ModelError, match=message):
        load_text(text)


def test_saving_elsewhere_is_refused(tmp_path):
    with pytest.raises(lw.InputError, match=r"expected a path that ends in .toml"):
        lw.save(GOUGH, tmp_path / "machine.urdf")


def test_options_of_trees_are_refused(tmp_path):
    lw.save(GOUGH, tmp_path / "machine.toml")
    assert lw.load(str(tmp_path / "machine.toml"), strict=True) == GOUGH
    with pytest.raises(lw.InputError, match=r"load 'delta': expected no base= for a parallel robot"):
        lw.load("delta", base="floating")
    with pytest.raises(lw.InputError, match=r"load 'machine.toml': expected no side= for a parallel robot"):
        lw.load(tmp_path / "machine.toml", side=tmp_path / "side.toml")
    with pytest.raises(lw.InputError, match=r"load base: expected one of"):
        lw.load("delta", base="free")
    with pytest.raises(lw.ModelError, match=r"platform and legs of a parallel robot\. Use lw\.load"):
        load_toml(tmp_path / "machine.toml")


def test_old_names_of_files_say_the_new_ones(tmp_path):
    with pytest.warns(DeprecationWarning, match=r"ParallelRobot\.save is now lw\.save"):
        GOUGH.save(tmp_path / "machine.toml")
    with pytest.warns(DeprecationWarning, match=r"ParallelRobot\.load is now lw\.load"):
        assert lw.parallel.ParallelRobot.load(tmp_path / "machine.toml") == GOUGH


def test_kernels_travel():
    """Robots, dynamics and kernels can be pickled; a kernel tells its signature and its C source."""
    par = lw.compile(GOUGH, external=True)
    again = pickle.loads(pickle.dumps(par))
    assert again.robot == GOUGH
    kernel = pickle.loads(pickle.dumps(par.inverse_dynamics))
    assert kernel.inputs == {"pose": (7,), "velocity": (6,), "acceleration": (6,), "f_ext": (6,)}
    assert kernel.outputs == {"forces": (6,)}
    assert "inverse_dynamics of the parallel robot 'Gough-Stewart platform'" in repr(kernel)
    assert kernel.count()["mul"] < 2000
    assert "void inverse_dynamics(" in kernel.c_source()
    rest = np.zeros(6)
    np.testing.assert_array_equal(kernel(HOME, rest, rest, rest), par.inverse_dynamics(HOME, rest, rest, rest))


def test_out_lists_and_batches():
    par = lw.compile(GOUGH)
    out = np.empty((2, 3, 6))
    poses = np.broadcast_to(HOME, (3, 7))
    found = par.inverse_dynamics(poses, np.zeros((2, 1, 6)), [0] * 6, out=out)
    assert found is out
    assert par.inverse_kinematics(poses).shape == (3, 18)
    assert par.leg_forces(poses, np.zeros(6), np.zeros(6)).shape == (3, 6, 3)
    found = par.forward_kinematics(np.broadcast_to(par.actuators(HOME), (2, 3, 6)), HOME)
    assert found.pose.shape == (2, 3, 7)
    assert found.converged.shape == (2, 3)
    none = par.forward_kinematics(np.empty((0, 6)), HOME)
    assert none.pose.shape == (0, 7)


def test_a_quaternion_of_any_length():
    par = lw.compile(GOUGH)
    x = np.array([0.02, 0.01, 0.75, 0.1, 0.05, -0.1, 0.9])
    longer = x * [1, 1, 1, 3, 3, 3, 3]
    v = np.ones(6)
    np.testing.assert_allclose(par.inverse_dynamics(longer, v, v), par.inverse_dynamics(x, v, v), rtol=1e-12)
    found = par.forward_kinematics(par.actuators(x), longer)
    assert abs(np.linalg.norm(found.pose[3:]) - 1.0) < 1e-14
