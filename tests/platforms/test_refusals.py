"""Models and arguments that cannot be: each is answered with what, where, and what to do."""

from dataclasses import replace

import numpy as np
import pytest

import linkwise as lw
from linkwise import InputError, Joint, Link, ModelError, Pose, Robot
from linkwise.platforms import Leg, on_legs

GOUGH = lw.gough_stewart()
HOME = np.array([0.0, 0.0, 0.75, 0.0, 0.0, 0.0, 1.0])
PLATE = Link("platform", 1.0)
UPS = Robot(
    [Link("ground"), Link("cross"), Link("cylinder", 1.0), Link("rod", 1.0)],
    [
        Joint("tilt", "ground", "cross", axis=(1, 0, 0)),
        Joint("swing", "cross", "cylinder", axis=(0, 1, 0)),
        Joint("slide", "cylinder", "rod", "prismatic"),
    ],
)
RR = Robot(
    [Link("ground"), Link("near"), Link("far")], [Joint("motor", "ground", "near"), Joint("elbow", "near", "far")]
)
LEG = Leg("leg1", UPS, "rod", (0.1, 0.0, 0.0), "slide", Pose(), {"slide": 0.8})


def legs(count, leg=LEG):
    return [replace(leg, name=f"leg{k}") for k in range(1, count + 1)]


# ---- models


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"robot": "leg"}, r"leg 'leg1' robot: expected a Robot, got 'leg'"),
        ({"tip": "end"}, r"leg 'leg1' tip: unknown frame or link 'end'.*Valid names: .*'rod'"),
        ({"actuated": "slid"}, r"leg 'leg1' actuated: unknown joint 'slid'. Did you mean 'slide'\?"),
        ({"actuated": ("slide", "slide")}, r"leg 'leg1' actuated joint 'slide': expected one"),
        ({"home": {"slid": 1.0}}, r"leg 'leg1' home: unknown joint 'slid'"),
        ({"home": {"slide": np.nan}}, r"leg 'leg1' home of 'slide'.*: expected a finite number"),
        ({"home": {"slide": (1.0, 2.0)}}, r"leg 'leg1' home of 'slide': expected 1 number"),
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
        replace(LEG, **fields)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (legs(5), r"expected at least 6 actuated joints, .*'floating', got 5 on 5 leg\(s\)"),
        ([], "expected at least 6 actuated joints"),
        ([*legs(6), LEG], "leg 'leg1': expected one leg of that name, got two"),
        (LEG, "legs: expected a list of Leg"),
        ([LEG, "leg"], r"legs\[1\]: expected a Leg, got 'leg'"),
    ],
)
def test_wrong_legs(given, message):
    with pytest.raises(ModelError, match=message):
        on_legs(PLATE, given)


def test_legs_that_leave_the_platform_loose_or_hold_it():
    """Two joints at a ball in space take one degree of freedom of six."""
    two = Leg("leg1", RR, "far", (0.1, 0.0, 0.0), ("motor",))
    with pytest.raises(ModelError, match="robot 'platform on legs': "):
        lw.compile(on_legs(PLATE, legs(6, two))).inverse_dynamics(HOME, np.zeros(6), np.zeros(6))


def test_a_leg_that_floats():
    """A floating joint in a leg leaves more freedom than the platform leads."""
    free = Robot([Link("ground"), Link("far", 1.0)], [Joint("motor", "ground", "far", "floating")])
    robot = on_legs(PLATE, [Leg("leg", free, "far", actuated="motor"), *legs(5)], home=HOME)
    with pytest.raises(ModelError, match="robot 'platform on legs': "):
        lw.compile(robot).mass_matrix(HOME)


def test_other_fields():
    with pytest.raises(ModelError, match="platform: expected a Link"):
        on_legs(10.0, legs(6))
    with pytest.raises(ModelError, match=r"unknown motion of a platform 'spherical'.*'floating', 'translation'"):
        on_legs(PLATE, legs(6), "spherical")
    with pytest.raises(ModelError, match="gravity"):
        on_legs(PLATE, legs(6), gravity=(0, 0, np.nan))
    with pytest.raises(ModelError, match="reference 'platform': expected 7 numbers, got 3"):
        on_legs(PLATE, legs(6), home=(0.0, 0.0, 0.7))
    with pytest.raises(ModelError, match="robot name"):
        on_legs(PLATE, legs(6), name="")


def test_a_home_at_which_legs_have_no_length():
    """It is left for one where the machine closes."""
    robot = GOUGH.replace(reference={**dict(GOUGH.reference), "leg1.slide": 0.1})
    np.testing.assert_allclose(lw.compile(robot).positions(HOME).q, lw.compile(GOUGH).positions(HOME).q, atol=1e-9)


def test_a_planar_leg_out_of_its_plane():
    tilted = Leg("leg1", RR, "far", (0.1, 0.0, 0.0), "motor", Pose.of(rpy=(0.3, 0.0, 0.0)))
    with pytest.raises(ModelError, match=r"leg 'leg1' joint 'motor': expected an axis along z"):
        on_legs(PLATE, legs(3, tilted), "planar")
    with pytest.raises(ModelError, match=r"leg 'leg1' joint 'tilt': expected an axis along z"):
        on_legs(PLATE, legs(3), "planar")


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
        ({"algorithm": "inverse_dynamics"}, "compile: expected an algorithm"),
        ({"parameters": ("platform.weight",)}, "platform.weight"),
        ({"frame": "tool"}, "unknown option of compile 'frame'"),
        ({"external": ("tool",)}, "unknown frame or link 'tool'.*'platform'"),
        ({"gravity": "inputs"}, "gravity: expected"),
        ({"threads": 0}, "threads: expected a whole number"),
    ],
)
def test_options(options, message):
    with pytest.raises(lw.LinkwiseError, match=message):
        lw.compile(GOUGH, **options)


def test_shapes_are_named():
    dyn = lw.compile(GOUGH)
    with pytest.raises(InputError, match=r"inverse_dynamics.*: expected qd of shape \(..., 6\), got \(5,\)"):
        dyn.inverse_dynamics(HOME, np.zeros(5), np.zeros(6))
    with pytest.raises(InputError, match=r"q: expected shape \(..., 7\), positions of .platform., got \(6,\)"):
        dyn.positions(HOME[:6])
    with pytest.raises(InputError, match=r"positions: expected q, or drives=..., got neither"):
        dyn.positions(None)
    with pytest.raises(InputError, match=r"positions drives: expected shape \(..., 6\), got \(7,\)"):
        dyn.positions(drives=np.zeros(7))
    with pytest.raises(InputError, match="real numbers, got complex128"):
        dyn.mass_matrix(HOME + 0j)
    with pytest.raises(lw.LinkwiseError, match=r"guess: expected positions of all joints, shape \(25,\).* got \(3,\)"):
        dyn.positions(drives=np.ones(6), guess=HOME[:3])


# ---- rows that have no answer


def test_rows_out_of_reach_are_nan():
    """A Delta cannot go everywhere: those rows are NaN, the others as if they were alone."""
    dyn = lw.compile(lw.delta())
    q = np.array([[0.0, 0.0, -0.5], [2.0, 0.0, -0.5], [0.0, np.nan, -0.5], [0.05, 0.0, -0.45]])
    v = np.ones((4, 3))
    alone = [dyn.inverse_dynamics(x, v[0], v[0]) for x in q]
    found = dyn.inverse_dynamics(q, v, v)
    np.testing.assert_array_equal(found, alone)
    assert np.isnan(found[[1, 2]]).all()
    assert np.isfinite(found[[0, 3]]).all()
    assert np.isnan(dyn.forward_dynamics(q, v, v)[[1, 2]]).all()
    space = dyn.workspace(q)
    np.testing.assert_array_equal(space.reached, [True, False, False, True])
    np.testing.assert_array_equal(space.within, [True, False, False, True])
    np.testing.assert_array_equal(np.isnan(space.drive_condition), [False, True, True, False])
    np.testing.assert_array_equal(np.isnan(space.condition), [False, True, True, False])


def test_a_leg_that_reaches_keeps_its_numbers():
    """The kernel behind positions is NaN for the legs that do not reach alone."""
    found = lw.compile(lw.delta()).tree_positions([0.75, 0.0, -0.2])
    assert not found.converged
    assert np.isfinite(found.q_tree[:6]).all()
    assert np.isnan(found.q_tree[6:]).any()


def test_positions_that_no_platform_has():
    dyn = lw.compile(GOUGH)
    slots = GOUGH.opened().slots
    lengths = np.tile(dyn.positions(HOME).q[[slots[n].q for n in GOUGH.drives]], (3, 1))
    lengths[1, 0] = 5.0
    lengths[2, 3] = np.nan
    found = dyn.positions(drives=lengths)
    np.testing.assert_array_equal(found.converged, [True, False, False])
    assert np.isnan(found.q[1:]).all()
    np.testing.assert_allclose(found.q[0, :7], HOME, rtol=0, atol=1e-12)
