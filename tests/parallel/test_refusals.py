"""Models and arguments that cannot be: each is answered with what, where, and what to do."""

from dataclasses import replace

import numpy as np
import pytest

import linkwise as lw
from linkwise import InputError, Joint, Link, ModelError, Pose, Robot, UnknownNameError, Vec3
from linkwise.parallel import Leg, ParallelRobot

GOUGH = lw.gough_stewart()
LEG = GOUGH.legs[0]
HOME = np.array([0.0, 0.0, 0.75, 0.0, 0.0, 0.0, 1.0])


def changed(**fields):
    """The first leg with other fields."""
    given = {n: getattr(LEG, n) for n in ("name", "robot", "tip", "at", "actuated", "base", "home")}
    return Leg(**{**given, **fields})


def chain(*joints):
    names = ["ground", *(f"link{k}" for k in range(len(joints)))]
    made = [Joint(f"j{k}", names[k], names[k + 1], **given) for k, given in enumerate(joints)]
    return Robot([Link(n) for n in names], made)


# ---- models


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"robot": "leg"}, r"leg 'leg1' robot: expected a Robot, got 'leg'"),
        ({"tip": "end"}, r"leg 'leg1' tip: unknown frame or link 'end'.*Valid names: .*'rod'"),
        ({"tip": "cylinder"}, r"leg 'leg1': expected a serial chain with its tip on the last link"),
        ({"actuated": "slid"}, r"leg 'leg1' actuated: unknown joint 'slid'. Did you mean 'slide'\?"),
        ({"actuated": ("slide", "slide")}, r"leg 'leg1' actuated joint 'slide': expected one"),
        ({"home": {"slid": 1.0}}, r"leg 'leg1' home: unknown joint 'slid'"),
        ({"home": {"slide": np.nan}}, r"leg 'leg1' home of 'slide': expected a finite number"),
        ({"at": (1.0, 2.0)}, r"leg 'leg1' at: expected 3 numbers, got 2"),
        ({"base": np.diag([1.0, 1.0, 2.0, 1.0])}, r"leg 'leg1' base.R: expected a rotation"),
        ({"name": ""}, r"leg name: expected a name"),
        ({"actuated": 5}, r"leg 'leg1' actuated: expected names of joints, got 5"),
        ({"home": 5}, r"leg 'leg1' home: expected positions by joint, .*, got 5"),
        ({"home": [1.0, 2.0]}, r"leg 'leg1' home: expected positions by joint"),
    ],
)
def test_legs(fields, message):
    with pytest.raises(ModelError, match=message):
        changed(**fields)


@pytest.mark.parametrize(
    ("joint", "message"),
    [
        ({"kind": "floating"}, "expected a revolute or prismatic joint, got a floating one"),
        ({"spring": lw.Spring(1.0)}, "Springs of legs are on slides"),
        ({"drive": lw.Drive(stiffness=10.0)}, r"expected a rigid drive, got an elastic one. Use robot.rigid\(\)"),
        ({"mimic": lw.Mimic("j1", 2.0)}, "expected a joint that moves by itself, got one that mimics 'j1'"),
    ],
)
def test_joints_of_legs(joint, message):
    with pytest.raises(ModelError, match=f"leg 'a' joint 'j0': .*{message}"):
        Leg("a", chain(joint, {}, {"kind": "prismatic"}), "link2")


@pytest.mark.parametrize(
    ("legs", "message"),
    [
        (GOUGH.legs[:5], r"expected at least 6 actuated joints, .*'spatial', got 5 on 5 leg\(s\)"),
        ([], "expected at least 6 actuated joints"),
        ([*GOUGH.legs, LEG], "leg 'leg1': expected one leg of that name, got two"),
        (LEG, "legs: expected a list of Leg"),
        ([LEG, "leg"], r"legs\[1\]: expected a Leg, got 'leg'"),
        (lw.three_rrr().legs, "leg 'leg1': expected 3 joints that move, because the mobility is 'spatial', got 2"),
    ],
)
def test_wrong_legs(legs, message):
    with pytest.raises(ModelError, match=message):
        ParallelRobot(GOUGH.platform, legs)


def test_other_fields():
    with pytest.raises(ModelError, match="platform: expected a Link"):
        ParallelRobot(10.0, GOUGH.legs)
    with pytest.raises(ModelError, match=r"unknown mobility 'spherical'.*'spatial', 'translation', 'planar'"):
        GOUGH.replace(mobility="spherical")
    with pytest.raises(UnknownNameError, match="unknown field of a parallel robot 'mass'"):
        GOUGH.replace(mass=1.0)
    with pytest.raises(ModelError, match="gravity"):
        GOUGH.replace(gravity=(0, 0, np.nan))


def test_legs_without_a_closed_form():
    """Axes that pass each other, and too many slides."""
    apart = {"origin": Pose(p=Vec3(0.1, 0.1, 0.1)), "axis": Vec3(0, 1, 0)}
    for joints in (({}, apart, {"kind": "prismatic"}), ({"kind": "prismatic"}, {}, {"kind": "prismatic"})):
        leg = Leg("a", chain(*joints), "link2", actuated="j0")
        with pytest.raises(ModelError, match=r"leg 'a': expected one joint for the distance.*loops of a Robot"):
            ParallelRobot(Link("p", 1.0), [leg, replace_name(leg, "b"), replace_name(leg, "c")], "translation")


def replace_name(leg, name):
    return replace(leg, name=name)


def test_a_home_at_a_singular_configuration():
    leg = replace(LEG, home={"slide": 0.0})
    with pytest.raises(ModelError, match="leg 'leg1' home: expected a configuration in which the leg can move its tip"):
        GOUGH.replace(legs=[leg, *GOUGH.legs[1:]])


def test_a_planar_leg_out_of_its_plane():
    tilted = replace(lw.three_rrr().legs[0], base=Pose.of(rpy=(0.3, 0.0, 0.0)))
    with pytest.raises(ModelError, match=r"leg 'leg1' joint 'leg1.motor': expected an axis along z"):
        lw.three_rrr().replace(legs=[tilted, *lw.three_rrr().legs[1:]])


@pytest.mark.parametrize(
    ("build", "fields", "message"),
    [
        (lw.gough_stewart, {"height": 0.0}, "gough_stewart height: expected a number above 0"),
        (lw.gough_stewart, {"base_radius": "1"}, "gough_stewart base_radius: expected a number"),
        (lw.gough_stewart, {"stroke": 3.0}, "gough_stewart stroke: expected 2 numbers, got 3.0"),
        (lw.gough_stewart, {"stroke": (2.0, 1.0)}, "limits: expected lower <= upper"),
        (lw.gough_stewart, {"base_spread": "x"}, "gough_stewart base_spread: expected a number"),
        (lw.gough_stewart, {"rod": 3.0}, "gough_stewart: expected a Link for cylinder and rod, got 3.0"),
        (lw.delta, {"forearm": 0.3}, "delta forearm: expected more than .* = 0.4 m, got 0.3 m. Make it longer"),
        (lw.three_rrr, {"elbow": 0}, "three_rrr elbow: expected 1 or -1, got 0"),
        (lw.three_rrr, {"proximal_mass": -1.0}, "near mass: expected a number of at least 0"),
    ],
)
def test_builders(build, fields, message):
    with pytest.raises(lw.LinkwiseError, match=message):
        build(**fields)


# ---- compile and calls


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"algorithm": lw.inverse_dynamics}, "unknown option of compile for a parallel robot 'algorithm'"),
        ({"parameters": ("platform.mass",)}, "'parameters'.*Valid names: 'external', 'gravity', 'threads'"),
        ({"frame": "tool"}, "'frame'"),
        ({"external": ("tool",)}, "external: expected True, or 'platform'"),
        ({"gravity": "inputs"}, "gravity: expected a vector of three, 'input' or None"),
        ({"threads": 0}, "threads: expected a whole number"),
    ],
)
def test_options(options, message):
    with pytest.raises(lw.LinkwiseError, match=message):
        lw.compile(GOUGH, **options)


def test_shapes_are_named():
    par = lw.compile(GOUGH)
    with pytest.raises(InputError, match=r"inverse_dynamics: expected velocity of shape \(..., 6\), got \(5,\)"):
        par.inverse_dynamics(HOME, np.zeros(5), np.zeros(6))
    with pytest.raises(InputError, match=r"expected pose of shape \(..., 7\), got \(6,\)"):
        par.inverse_kinematics(HOME[:6])
    with pytest.raises(InputError, match=r"inverse_kinematics: expected pose .* got object"):
        par.inverse_kinematics(None)
    with pytest.raises(InputError, match=r"expected positions of shape \(..., 6\), got \(7,\)"):
        par.forward_kinematics(np.zeros(7), HOME)
    with pytest.raises(InputError, match=r"expected pose of shape \(..., 7\), got \(3,\)"):
        par.forward_kinematics(np.ones(6), HOME[:3])
    with pytest.raises(InputError, match="real numbers, got complex128"):
        par.mass_matrix(HOME + 0j)
    with pytest.raises(InputError, match="the leading axes do not broadcast: pose"):
        par.forward_kinematics(np.ones((3, 6)), np.tile(HOME, (2, 1)))
    with pytest.raises(InputError, match="tolerance: expected a number from 1e-14 to 1, got 0"):
        par.forward_kinematics(np.ones(6), HOME, tolerance=0)
    with pytest.raises(InputError, match="condition length: expected a number above 0, got -1"):
        par.condition(HOME, length=-1)


# ---- rows that have no answer


def test_rows_out_of_reach_are_nan():
    """A Delta cannot go everywhere: those rows are NaN, the others as if they were alone."""
    par = lw.compile(lw.delta())
    poses = np.array([[0.0, 0.0, -0.5], [2.0, 0.0, -0.5], [0.0, np.nan, -0.5], [0.05, 0.0, -0.45]])
    v = np.ones((4, 3))
    alone = [par.inverse_dynamics(x, v[0], v[0]) for x in poses]
    found = par.inverse_dynamics(poses, v, v)
    np.testing.assert_array_equal(found, alone)
    assert np.isnan(found[[1, 2]]).all()
    assert np.isfinite(found[[0, 3]]).all()
    assert np.isnan(par.forward_dynamics(poses, v, v)[[1, 2]]).all()
    space = par.workspace(poses)
    np.testing.assert_array_equal(space.reachable, [True, False, False, True])
    np.testing.assert_array_equal(space.within, [True, False, False, True])
    np.testing.assert_array_equal(np.isnan(space.condition), [False, True, True, False])


def test_a_leg_that_reaches_keeps_its_numbers():
    """Inverse kinematics is NaN for the legs that do not reach alone."""
    q = lw.compile(lw.delta()).inverse_kinematics([0.75, 0.0, -0.2])
    assert np.isfinite(q[:3]).all()
    assert np.isnan(q[3:]).any()


def test_positions_that_no_pose_has():
    par = lw.compile(GOUGH)
    lengths = np.tile(par.actuators(HOME), (3, 1))
    lengths[1, 0] = 5.0
    lengths[2, 3] = np.nan
    found = par.forward_kinematics(lengths, HOME)
    np.testing.assert_array_equal(found.converged, [True, False, False])
    assert np.isnan(found.pose[1:]).all()
    assert found.residual[1] > 0.1
    np.testing.assert_allclose(found.pose[0], HOME, rtol=0, atol=1e-12)


def test_a_guess_out_of_reach():
    par = lw.compile(lw.delta())
    found = par.forward_kinematics([0.1, 0.1, 0.1], [5.0, 0.0, 0.0])
    assert not found.converged
    assert np.isnan(found.pose).all()
