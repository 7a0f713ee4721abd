"""Platforms on legs in motion, as robots with loops whose platform leads."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import linkwise as lw
from linkwise.platforms import delta, gough_stewart, three_rrr
from linkwise.robot import Joint, Link

HOME = np.array([0.0, 0.0, 0.75, 0.0, 0.0, 0.0, 1.0])
# the free motion from there on springs, after 2.5, 5, 7.5 and 10 s: pose, then velocity in world axes, as the equations
# of platform and legs, each leg by itself, give them when the pose is integrated
FREE = np.array([
    [0.005399538699, -0.020317234553, 0.777667961271, -0.056718151495, -0.031979852776, -0.022070011033,
     0.997633828075, 0.415937225779, -0.169390779172, 0.252119490249, 1.515728762317, 0.927109089316, 0.404010183223],
    [-0.029223385253, 0.004178443931, 0.766399586468, 0.039080697004, 0.03190719595, 0.004494023163,
     0.998716393039, 0.260373616482, -0.256593674943, -0.371019624083, -3.424240778748, -2.370710238982,
     -1.010532019002],
    [-0.030935895649, 0.020226564772, 0.764636376196, -0.015227089891, -0.009719447951, 0.014820695763,
     0.999726970248, -0.242712840937, -0.065920176128, 0.289552008028, 4.326596733303, 3.106761551919, 0.77955950645],
    [0.005542977436, 0.00920374343, 0.780426643425, -0.001166705947, 0.003177771939, -0.023039105667,
     0.999728833321, -0.473200465957, 0.216375700026, -0.153677872805, -4.749064482408, -2.684394539447,
     0.091769464765],
])  # fmt: skip
START, SPEED = np.array([0.03, -0.02, 0.76, 0.05, 0.03, 0.02, 1.0]), np.array([0.1, 0.2, 0.0, 0.3, -0.2, 0.5])


def own_axes(pose, velocity):
    """A velocity in the axes of the platform, from one in those of the world."""
    R = Rotation.from_quat(pose[..., 3:]).as_matrix()
    return np.concatenate([np.einsum("...ji,...j->...i", R, x) for x in np.split(velocity, 2, axis=-1)], axis=-1)


@pytest.fixture(scope="module")
def sprung():
    """A hexapod on six springs, without motors that push."""
    return gough_stewart(spring=lw.Spring(stiffness=4000.0, rest=0.87))


def test_a_passive_machine_keeps_its_energy(sprung):
    """Ten seconds of free motion on springs, platform and legs with their masses: drift below 1e-6."""
    start = START / np.r_[1.0, 1.0, 1.0, [np.linalg.norm(START[3:])] * 4]
    result = lw.simulate(sprung, START, own_axes(start, SPEED), 10.0)
    assert (result.status, result.notes) == ("finished", ())
    assert result.energy.drift < 1e-6
    assert np.ptp(result.energy.kinetic) > 5.0
    np.testing.assert_allclose(np.linalg.norm(result.q[:, 3:], axis=1), 1.0, rtol=1e-14)
    found = lw.compile(sprung).positions(result.q)
    assert found.converged.all()
    np.testing.assert_allclose(result.positions, found.q, rtol=0, atol=1e-9)
    at = lw.simulate(sprung, START, own_axes(start, SPEED), [0.0, 2.5, 5.0, 7.5, 10.0])
    poses, velocities = np.split(FREE, [7], axis=1)
    np.testing.assert_allclose(at.q[1:], poses, rtol=0, atol=1e-6)
    np.testing.assert_allclose(at.qd[1:], own_axes(poses, velocities), rtol=0, atol=1e-5)


def test_work_of_motors_and_friction_is_counted():
    """A controlled machine with dry friction, pushed from outside: energy balances, and drives have their torques."""
    robot = gough_stewart(friction=lw.Friction(viscous=30.0, coulomb=3.0), armature=0.2)
    dyn = lw.compile(robot)

    def hold(t, q, qd):
        shift = Rotation.from_quat(q[3:]).inv().apply(HOME[:3] - q[:3])
        error = np.concatenate([shift, -2.0 * q[3:6] * q[6]])
        push = np.repeat([2000.0, 200.0], 3) * error - np.repeat([200.0, 20.0], 3) * qd
        return dyn.share(q, dyn.gravity_forces(q) + push)

    result = lw.simulate(
        robot, [0.0, 0.02, 0.72, 0.1, 0.0, 0.0, 1.0], None, 2.0, control=hold,
        external={"platform": [5.0, 0.0, 0.0, 0.0, 0.0, 0.1]},
    )  # fmt: skip
    assert result.tau.shape == (201, 6)
    np.testing.assert_allclose(result.tau[7], hold(0.0, result.q[7], result.qd[7]), rtol=1e-9)
    np.testing.assert_array_equal(result["leg3.slide"].tau, result.tau[:, 2])
    assert result.energy.drift < 1e-7
    assert result.energy.friction[-1] > 0.0
    assert "smoothed" in result.notes[0]
    np.testing.assert_allclose(result.q[-1], HOME, rtol=0, atol=2e-2)


@pytest.mark.parametrize("make", [delta, three_rrr, gough_stewart])
def test_forces_of_a_motion_give_the_motion(make):
    """Torques that hold a machine hold it; a little more moves it as forward dynamics says."""
    robot = make(gravity=(0.3, -2.0, -9.0)) if make is three_rrr else make()
    dyn, still = lw.compile(robot), np.zeros(robot.nv)
    start = dyn.integrate(robot.q(), np.full(robot.nv, 0.02), 1.0)
    held = dyn.inverse_dynamics(start, still, still)
    result = lw.simulate(robot, start, None, 0.3, control=held)
    np.testing.assert_allclose(result.q[-1], start, rtol=0, atol=1e-6)
    pushed = lw.simulate(robot, start, None, [0.0, 1e-3], control=dict(zip(robot.drives, held + 0.1, strict=True)))
    expected = dyn.forward_dynamics(start, still, held + 0.1)
    np.testing.assert_allclose(pushed.qdd[0], expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(pushed.qd[-1] / 1e-3, expected, rtol=1e-2, atol=1e-3)


def test_it_starts_at_home_and_events_stop_a_fall():
    """A hexapod without motors falls; an event ends it at a height."""

    def low(t, q, qd):
        return q[2] - 0.6

    low.terminal = True
    result = lw.simulate(gough_stewart(), None, None, 5.0, events=low)
    np.testing.assert_allclose(result.q[0], HOME, rtol=0, atol=1e-12)
    assert not result.qd[0].any()
    assert result.status == "stopped by event 'low'"
    assert abs(result.q[-1, 2] - 0.6) < 1e-9
    assert result.events["low"].q.shape == (1, 7)
    assert result.energy.drift < 1e-7


def test_a_driven_platform_or_leg():
    """A platform on a given motion takes its force at its own joint; a slide on one takes it at the slide."""
    robot = gough_stewart()

    def bounce(t):
        s, w = 0.02 * np.sin(5.0 * t), 0.1 * np.cos(5.0 * t)
        return [0.0, 0.0, 0.75 + s, 0.0, 0.0, 0.0, 1.0], [0.0, 0.0, w, 0.0, 0.0, 0.0], [0.0, 0.0, -25.0 * s, 0, 0, 0]

    result = lw.simulate(robot, None, None, 1.0, driven={"platform": bounce})
    assert result.energy.drift < 1e-7
    np.testing.assert_array_equal(result.tau, np.zeros((101, 6)))
    dyn = lw.compile(robot)
    tau = dyn.inverse_dynamics(result.q, result.qd, result.qdd)
    force = np.einsum("nij,ni->nj", dyn.drive_jacobian(result.q), tau)
    np.testing.assert_allclose(result["platform"].tau, force, rtol=0, atol=1e-6)
    locked = dict.fromkeys(robot.drives, lw.compile(robot).positions(robot.q()).q[9])
    stiff = lw.simulate(robot, None, None, 0.5, driven=locked)
    np.testing.assert_allclose(stiff.q, np.tile(HOME, (101, 1)), rtol=0, atol=1e-9)
    still = np.zeros(6)
    np.testing.assert_allclose(stiff.tau[-1], dyn.inverse_dynamics(robot.q(), still, still), rtol=1e-6)


def test_stops_of_joints_that_follow():
    """A hexapod without motors falls on the ends of its slides."""
    robot = gough_stewart(stroke=(0.7, 1.2))
    stops = lw.simulation.joint_stops(robot, stiffness=1e5)
    assert set(stops) >= set(robot.drives)
    result = lw.simulate(robot, None, None, 1.0, joint_forces=stops)
    slides = np.stack([result[name].q for name in robot.drives])
    assert 0.69 < slides.min() < 0.7
    assert result.energy.drift < 1e-6


def test_legs_without_mass():
    """A tree whose legs have no inertia of their own is moved by what the platform has."""
    robot = gough_stewart(cylinder=Link("cylinder"), rod=Link("rod"))
    start, tau = [0.02, 0.01, 0.74, 0.03, 0.0, 0.05, 1.0], np.linspace(10.0, 30.0, 6)
    result = lw.simulate(robot, start, SPEED, 0.2, control=tau)
    assert result.energy.drift < 1e-7
    expected = lw.compile(robot).forward_dynamics(result.q, result.qd, tau)
    np.testing.assert_allclose(result.qdd, expected, rtol=1e-8, atol=1e-8)
    slide = {"leg1.slide": lambda t: (0.9 + 0.1 * t, 0.1, 0.0)}
    driven = lw.simulate(robot, None, None, 0.1, driven=slide, control=tau)
    torque = driven.tau.copy()
    torque[:, 0] = driven["leg1.slide"].tau
    expected = lw.compile(robot).forward_dynamics(driven.q, driven.qd, torque)
    np.testing.assert_allclose(driven.qdd, expected, rtol=1e-7, atol=1e-7)


def test_an_arm_on_a_platform():
    """Coordinates outside of loops beside a platform."""
    arm = lw.Robot(
        [Link("foot"), Link("bob", 2.0, (0.0, 0.0, 0.3), (0.1, 0.1, 0.01))],
        [Joint("swing", "foot", "bob", axis=(0.0, 1.0, 0.0), drive=lw.Drive(gear=10.0, stiffness=200.0), armature=0.1)],
        name="arm",
    )
    robot = gough_stewart(spring=lw.Spring(4000.0, 5.0, 0.87)).attach(arm, "platform", "arm_")
    assert robot.coordinates == ("platform", "arm_swing", "arm_swing.motor")
    result = lw.simulate(robot, {"arm_swing": 0.3}, {"arm_swing": 1.0}, 0.5, control={"arm_swing": 1.0})
    assert result.energy.drift < 1e-6
    assert result["arm_swing.motor"].q[0] == result["arm_swing"].q[0] == 0.3
    expected = lw.compile(robot).forward_dynamics(result.q, result.qd, result.tau)
    np.testing.assert_allclose(result.qdd, expected, rtol=1e-7, atol=1e-7)


def test_a_singular_configuration_is_passed():
    """Motors lead a five-bar linkage, which falls through configurations in which they do not determine the rest."""
    robot = lw.load("fivebar").without_friction()
    result = lw.simulate(robot, {"left_motor": -0.3, "right_motor": 0.2}, None, 3.0)
    found = lw.compile(robot).positions(result.q)
    other = ~found.converged | (np.abs(np.sin(0.5 * (found.q - result.positions))).max(axis=1) > 1e-3)
    assert other.any()
    assert result.energy.drift < 1e-6


def test_a_platform_at_the_end_of_its_reach():
    """Legs that are stretched straight throw it back; what leads would have no answer there."""
    robot = delta()
    result = lw.simulate(robot, [0.0, 0.0, -0.5], [0.0, 0.0, -3.0], 0.5)
    assert result.energy.drift < 1e-6
    assert result.q[:, 2].min() < -0.8
    assert result.q[-1, 2] > result.q[:, 2].min() + 0.05


@pytest.mark.parametrize("suffix", [".npz", ".parquet"])
def test_files_have_all_joints(tmp_path, suffix):
    if suffix == ".parquet":
        pytest.importorskip("pyarrow")
    result = lw.simulate(delta(), None, None, 0.1, control=[-1.0, -1.2, -1.1], events={"never": lambda t, q, qd: 1.0})
    result.save(tmp_path / f"run{suffix}")
    again = lw.simulation.Simulation.load(tmp_path / f"run{suffix}")
    assert again.robot == result.robot
    for key in ("t", "q", "qd", "qdd", "tau", "positions"):
        np.testing.assert_array_equal(getattr(again, key), getattr(result, key))
    assert {"q.platform.x", "q.leg1.motor", "tau.leg2.motor"} <= set(result.columns())
    assert len(result.columns()) == 1 + 4 * result.robot.opened().nv + 6
    result.plot(tmp_path / "run.png")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"q0": HOME[:3]}, r"q0: expected 7 finite numbers, 25 for all joints of the tree, or a mapping"),
        ({"q0": np.full(7, np.nan)}, r"q0: expected 7 finite numbers"),
        ({"q0": [0, 0, 0.75, 0, 0, 0, 0]}, r"q0: joint 'platform': expected a quaternion x, y, z, w that is not zero"),
        ({"qd0": [1.0]}, r"qd0: expected 6 finite numbers, 24 for all joints"),
        ({"control": [1.0, 2.0]}, r"control: expected 6 finite numbers, or a mapping of joints"),
        ({"control": lambda t, x, v: [1.0]}, r"control at t = 0 s: expected 6 numbers, got \[1.0\]"),
        ({"external": {"platform": [1.0]}}, r"external at t = 0 s: expected 6 numbers"),
        ({"robot": delta(), "q0": [5.0, 0.0, 0.0]}, r"q0: the loops of robot 'Delta' do not close there"),
        (
            {"driven": {"platfrom": 0.0}},
            r"unknown joint in driven 'platfrom'. Did you mean 'platform'",
        ),
    ],
)
def test_refusals(arguments, message):
    given = {"robot": gough_stewart(), "q0": HOME, "qd0": None, "t": 1.0, **arguments}
    with pytest.raises(lw.LinkwiseError, match=message):
        lw.simulate(**given)
