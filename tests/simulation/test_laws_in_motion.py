"""What robots do under the ready-made laws: physics that can be worked out by hand."""

import numpy as np
import pytest

import linkwise as lw

G = 9.81
STIFF = {"method": "LSODA", "rtol": 1e-8, "atol": 1e-10}


def ball(mass=2.0, **options):
    """A free body with a frame at its centre."""
    inertia = (0.02, 0.03, 0.04)
    links = [lw.Link("world"), lw.Link("ball", mass, inertia=inertia)]
    return lw.Robot(links, [lw.Joint("free", "world", "ball", "floating")], **options)


def at(height=0.0, quaternion=(0.0, 0.0, 0.0, 1.0)):
    return [0.0, 0.0, height, *quaternion]


def slider(mass=2.0, axes="xyz", **options):
    """A body that slides along the axes named, and does not turn."""
    links, joints = [lw.Link("world")], []
    for k, name in enumerate(axes):
        axis = tuple(float(name == a) for a in "xyz")
        links.append(lw.Link(name, mass if k == len(axes) - 1 else 0.0))
        joints.append(lw.Joint(f"along {name}", links[k].name, name, "prismatic", axis=axis))
    return lw.Robot(links, joints, **options)


def test_drag_brings_a_falling_body_to_its_terminal_speed():
    """m g = d v^2, approached as v_end tanh(g t / v_end)."""
    drag = lw.simulation.Drag.of_shape(1.2, (0.5, 0.5, 0.4), (1.0, 1.0, 1.1))
    end = np.sqrt(2.0 * G / drag.quadratic.z)
    result = lw.simulate(ball(), at(), None, 20.0, forces={"ball": drag}, rtol=1e-10, atol=1e-11)
    assert np.abs(result.qd[:, 2] + end * np.tanh(G * result.t / end)).max() < 1e-8 * end
    assert result.energy.drift < 1e-9
    assert np.all(np.diff(result.energy.environment) <= 0.0)


def test_linear_drag_decays_and_flow_carries_along():
    drag = lw.simulation.Drag(linear=(1.0, 2.0, 4.0), turning_linear=(0.1, 0.1, 0.1), flow=(0.5, 0.0, 0.0))
    robot = ball(mass=2.0, gravity=(0, 0, 0))
    result = lw.simulate(robot, at(), [0.0, 1.0, 1.0, 0.0, 0.0, 0.0], 8.0, forces={"ball": drag}, rtol=1e-10)
    v = np.stack([0.5 * (1 - np.exp(-result.t / 2)), np.exp(-result.t), np.exp(-2 * result.t)], axis=1)
    assert np.abs(result.qd[:, :3] - v).max() < 1e-8


def test_drag_turns_with_the_body():
    """Blade-like: little drag along x, much along y; a body turned by 45 degrees is pushed off sideways."""
    half = np.pi / 8
    start = at(quaternion=(0.0, 0.0, np.sin(half), np.cos(half)))
    robot = ball(gravity=(0, 0, 0))
    result = lw.simulate(
        robot, start, [1.0, -1.0, 0, 0, 0, 0], 1.0, forces={"ball": lw.simulation.Drag((0.0, 50.0, 0.0))}
    )
    assert result.qd[-1, 0] == pytest.approx(1.0, rel=1e-6)
    assert result.qd[-1, 1] == pytest.approx(-1.0 / 26.0, rel=1e-6)  # v0 / (1 + d v0 t / m)


def test_thrust_holds_a_flyer():
    """As much thrust as weight: it stays; a moment about z turns it at a constant acceleration."""
    thrust = lw.simulation.Thrust(force=(0, 0, 2.0 * G), moment=(0, 0, 0.08))
    result = lw.simulate(ball(), at(1.0), None, 3.0, forces={"ball": thrust})
    assert np.abs(result.q[:, :3] - [0, 0, 1]).max() < 1e-12
    assert result.qd[:, 5] == pytest.approx(2.0 * result.t, abs=1e-9)


def test_ground_holds_weight_at_the_depth_it_states():
    contact = lw.simulation.GroundContact(1e4, damping=2.0, radius=0.1, height=-0.2, onset=1e-3)
    result = lw.simulate(ball(), at(0.0), None, 6.0, forces={"ball": contact}, **STIFF)
    depth = -0.2 + 0.1 - result.q[-1, 2]
    assert depth == pytest.approx(2.0 * G / 1e4 + 0.5e-3, rel=1e-5)
    assert np.abs(result.qd[-1]).max() < 1e-4
    assert result.energy.environment.max() < 1e-9
    assert result.energy.drift < 1e-6


def test_a_bounce_loses_what_hunt_and_crossley_say():
    """1 - e = 2/3 damping v for small losses."""
    damping, speed = 0.05, 1.0
    contact = lw.simulation.GroundContact(1e6, damping=damping, onset=1e-7)
    robot = ball(gravity=(0, 0, 0))
    result = lw.simulate(
        robot, at(0.1), [0, 0, -speed, 0, 0, 0], 0.3, forces={"ball": contact}, rtol=1e-10, max_step=1e-3
    )
    assert 1.0 - result.qd[-1, 2] / speed == pytest.approx(2.0 / 3.0 * damping * speed, rel=0.05)


def test_the_ground_never_pulls_and_does_not_reach_up():
    """Normal forces over a grid of heights and speeds."""
    robot = slider(axes="z", gravity=(0, 0, 0))
    k = lw.compile(robot, lw.inverse_dynamics, forces={"z": lw.simulation.GroundContact(1e3, damping=3.0, onset=0.01)})
    q, qd = (x.reshape(-1, 1) for x in np.meshgrid(np.linspace(-0.1, 0.1, 41), np.linspace(-2, 2, 41)))
    force = -k(q, qd, 0.0 * q)
    assert np.all(force >= 0.0)
    assert np.all(force[q >= 0.0] == 0.0)
    rest = -k(q, 0.0 * q, 0.0 * q)[:, 0]
    depth = -q[:, 0]
    assert rest[depth > 0.01] == pytest.approx(1e3 * (depth - 0.005)[depth > 0.01])


def test_friction_stops_a_sliding_block():
    """v^2 / (2 mu g), but for the creep below the slip speed."""
    mu = 0.4
    contact = lw.simulation.GroundContact(1e5, damping=10.0, friction=mu, slip=1e-4)
    weight_depth = 2.0 * G / 1e5 + 0.5e-4
    robot = slider(axes="xz")
    result = lw.simulate(robot, [0.0, -weight_depth], [2.0, 0.0], 1.0, forces={"z": contact}, **STIFF)
    assert result.q[-1, 0] == pytest.approx(2.0**2 / (2 * mu * G), rel=2e-3)
    assert abs(result.qd[-1, 0]) < 1e-6


def test_a_slope_holds_a_block_when_friction_suffices():
    angle = np.radians(20)
    normal = (np.sin(angle), 0.0, np.cos(angle))
    for mu, holds in ((0.5, True), (0.2, False)):
        contact = lw.simulation.GroundContact(1e4, damping=5.0, friction=mu, normal=normal, slip=1e-3)
        result = lw.simulate(slider(axes="xz"), [0.0, 0.0], None, 2.0, forces={"z": contact}, **STIFF)
        along = result.qd[-1, 0] * np.cos(angle) - result.qd[-1, 1] * np.sin(angle)
        if holds:
            assert 0.0 < along < 2e-3  # creeps slower than the slip speed
        else:
            expected = G * (np.sin(angle) - mu * np.cos(angle)) * 2.0
            assert along == pytest.approx(expected, rel=0.02)


def test_a_thrown_ball_starts_to_roll():
    """Sliding friction at the rim turns a ball until v = omega r; a solid ball keeps 5/7 of its speed."""
    r, m = 0.1, 2.0
    inertia = 0.4 * m * r * r
    links = [lw.Link("world"), lw.Link("ball", m, inertia=(inertia,) * 3)]
    robot = lw.Robot(links, [lw.Joint("free", "world", "ball", "floating")])
    contact = lw.simulation.GroundContact(1e5, damping=10.0, friction=0.3, radius=r, slip=1e-4)
    start = at(r - m * G / 1e5 - 0.5e-4)
    result = lw.simulate(robot, start, [1.0, 0, 0, 0, 0, 0], 1.0, forces={"ball": contact}, **STIFF)
    world = lw.compile(robot).velocity(result.q[-1], result.qd[-1], "ball")
    assert world[0] == pytest.approx(5.0 / 7.0, rel=1e-3)
    assert world[4] * r == pytest.approx(world[0], rel=1e-3)


def planar(mass=1.0, inertia=0.05):
    """A body in the plane: x, y, and a turn."""
    names = ("world", "sled", "cross", "body")
    links = [lw.Link(n) for n in names[:-1]] + [lw.Link("body", mass, inertia=(inertia,) * 3)]
    joints = [
        lw.Joint("x", "world", "sled", "prismatic", axis=(1, 0, 0)),
        lw.Joint("y", "sled", "cross", "prismatic", axis=(0, 1, 0)),
        lw.Joint("turn", "cross", "body", axis=(0, 0, 1)),
    ]
    return lw.Robot(links, joints)


def test_ground_friction_differs_along_and_across():
    robot = planar()
    law = lw.simulation.GroundFriction.of_rod(0.5, along=1.0, across=20.0)
    assert (law.along, law.across) == (0.5, 10.0)
    assert law.turning == pytest.approx(20.0 * 0.5**3 / 12)
    result = lw.simulate(
        robot, [0, 0, 0.0], [1.0, 1.0, 2.0], 1.0, forces={"body": law}, rtol=1e-10, driven={"turn": 0.0}
    )
    assert result.qd[-1, :2] == pytest.approx([np.exp(-0.5), np.exp(-10.0)], abs=1e-8)
    spinning = lw.simulate(robot, [0, 0, 0.0], [0, 0, 2.0], 1.0, forces={"body": law}, rtol=1e-10)
    assert spinning.qd[-1, 2] == pytest.approx(2.0 * np.exp(-law.turning / 0.05), abs=1e-8)


def test_a_wheel_without_side_slip_leads_where_it_points():
    """A sled on a skate turned by 30 degrees keeps the part of its velocity along the skate."""
    heading = np.radians(30)
    law = lw.simulation.RollingWheel(across=1e3)
    result = lw.simulate(
        planar(), [0, 0, heading], [1.0, 0, 0], 1.0, forces={"body": law}, driven={"turn": heading}, **STIFF
    )
    speed = np.cos(heading)
    assert result.qd[-1, :2] == pytest.approx(speed * np.array([np.cos(heading), np.sin(heading)]), abs=1e-6)
    assert result.energy.environment[-1] == pytest.approx(-0.5 * np.sin(heading) ** 2, rel=1e-6)


def test_a_driven_wheel_pulls_its_cart():
    """Torque on a wheel that hardly slips: the cart gains tau / r over its mass and the wheel's inertia."""
    r, torque = 0.2, 1.0
    links = [lw.Link("world"), lw.Link("cart", 3.0), lw.Link("wheel", 1.0, inertia=(0.02, 0.03, 0.02))]
    joints = [
        lw.Joint("drive", "world", "cart", "prismatic", axis=(1, 0, 0)),
        lw.Joint("axle", "cart", "wheel", axis=(0, 1, 0)),
    ]
    law = lw.simulation.RollingWheel(across=1e4, along=1e5, radius=r)
    robot = lw.Robot(links, joints)
    result = lw.simulate(robot, [0, 0], [0, 0], 2.0, forces={"wheel": law}, control=[0.0, torque], **STIFF)
    acceleration = torque / r / (4.0 + 0.03 / r**2)
    assert result.qd[-1, 0] == pytest.approx(2.0 * acceleration, rel=1e-3)
    assert result.qd[-1, 1] * r == pytest.approx(result.qd[-1, 0], rel=1e-3)
    braked = lw.simulation.RollingWheel(across=1e4, along=1e5, radius=r, resistance=0.1)
    slower = lw.simulate(robot, [0, 0], [0, 0], 2.0, forces={"wheel": braked}, control=[0.0, torque], **STIFF)
    assert slower.qd[-1, 0] < result.qd[-1, 0]


def test_stops_hold_a_joint_within_its_limits():
    limits = lw.Limits(lower=-0.5, upper=0.3)
    arm = lw.Robot(
        [lw.Link("ground"), lw.Link("arm", 1.0, (0.5, 0.0, 0.0), (0.01, 0.1, 0.1))],
        [lw.Joint("hinge", "ground", "arm", axis=(0, 1, 0), limits=limits)],
    )
    stops = lw.simulation.joint_stops(arm, stiffness=2e3, damping=1.0)
    assert stops == {"hinge": lw.simulation.JointStop(-0.5, 0.3, 2e3, 1.0)}
    result = lw.simulate(arm, [0.0], [0.0], 5.0, joint_forces=stops, **STIFF)
    depth = result.q[-1, 0] - 0.3
    assert 2e3 * (depth - 0.5e-3) == pytest.approx(G * 0.5 * np.cos(result.q[-1, 0]), rel=1e-3)
    assert result.q.max() < 0.3 + 0.15
    up = lw.simulate(arm, [0.0], [0.0], 5.0, joint_forces=stops, control=[-20.0], **STIFF)
    assert up.q[-1, 0] < -0.5
    assert result.energy.drift < 1e-6


def test_stops_have_free_ends():
    half = lw.simulation.JointStop(upper=1.0, stiffness=10.0, damping=0.0, onset=1e-6)
    assert half(-100.0, 0.0) == 0.0
    assert half(2.0, 0.0) == pytest.approx(-10.0)
    assert lw.simulation.joint_stops(planar()) == {}


@pytest.mark.parametrize(
    "law",
    [
        lw.simulation.GroundFriction(1.0, 10.0, 0.3, 2.0),
        lw.simulation.Drag((1, 2, 3), (0.1, 0.2, 0.3), (1, 1, 1), (0.1, 0.1, 0.1)),
        lw.simulation.GroundContact(1e3, 1.0, 0.8, radius=0.2, height=-0.1),
        lw.simulation.RollingWheel(10.0, 5.0, 0.3, resistance=0.2),
    ],
)
def test_passive_laws_never_give_energy_for_good(law):
    """A tumbling body with springs of the ground: what the environment gave by the end is not above zero."""
    start = at(0.2, quaternion=(0.1, 0.4, -0.2, 0.9))
    result = lw.simulate(
        ball(gravity=(0, 0, -2.0)), start, [0.3, -1, 0.5, 2, -1, 3], 1.0, forces={"ball": law}, **STIFF
    )
    assert result.energy.environment[-1] < 0.0
    assert result.energy.environment.max() <= 1e-9
    assert result.energy.drift < 1e-6
