"""Controllers of every machine: errors of the closed loop, by the machine's own dynamics, are as they were designed."""

import numpy as np
import pytest

import linkwise as lw
from linkwise.control.tracking import reference_velocity
from linkwise.mechanism.machine import machine_of
from support.every_machine import MIXTURES, TABLE, sort
from support.led_machines import Case, case

KP, KD = 30.0, 5.0
GAINS = {"kp": 580.0, "kd": 65.0, "kp_motor": 375.0, "kd_motor": 14.0}
FREE = {"floating", "palletiser, floating"}  # no drive holds their bases
ELASTIC = [n for n in (*TABLE, *MIXTURES) if "elastic" in n]
RIGID = [n for n in (*TABLE, *MIXTURES) if n not in ELASTIC and n not in FREE]
QUICK = {"coupled", "five-bar", "Delta", "hexapod", "ankle, moving base", "five-bar, elastic"}


def marked(names: list[str]) -> list:
    return [n if n in QUICK else pytest.param(n, marks=pytest.mark.slow) for n in names]


class Loop:
    """A machine in a state off a reference, both as motions near t = 0."""

    def __init__(self, made: Case) -> None:
        self.made, self.robot = made, made.robot
        self.options = {"base_motion": True, "gravity": "input"} if made.base_motion else {}
        self.links = self.robot.rigid()
        self.step = lw.compile(self.links).integrate
        rng, nv = np.random.default_rng(5), self.links.nv
        near = [made.width * rng.uniform(-0.5, 0.5, nv) for _ in range(2)]
        self.q, self.q_ref = (self.step(self.links.q(), x, 1.0) for x in near)
        self.qd, *self.rates = rng.uniform(-0.5, 0.5, (5, nv))
        surrounding = rng.uniform(-1.0, 1.0, (4, 6)) if made.base_motion else []
        self.around = [*surrounding[:2], np.array([1.0, -2.0, -9.0])] if made.base_motion else []

    @property
    def reference(self) -> list[np.ndarray]:
        return [self.q_ref, *self.rates[:2]]

    def dynamics(self) -> lw.Dynamics:
        return lw.compile(self.robot, **self.options)

    def after(self, t: float, q, qd, qdd):
        """Positions and velocities after a time, to third order but for a term that is odd in it."""
        return self.step(q, qd + 0.5 * t * qdd, t), qd + t * qdd

    def error(self, q, q_ref):
        """Differences of numbers, and of quaternions the turn 4 tan(angle / 4) between them."""
        found = []
        for slot in self.links.slots.values():
            a, b, turn = q[slot.q : slot.q + slot.nq], q_ref[slot.q : slot.q + slot.nq], slot.kind.quaternion
            if turn is None:
                found += list(b - a)
                continue
            (*u, u_w), (*v, v_w) = a[turn], b[turn]
            vector, w = u_w * np.array(v) - v_w * np.array(u) - np.cross(u, v), u_w * v_w + np.dot(u, v)
            found += [*(b - a)[: turn.start], *(4.0 * np.sign(w) * vector / (1.0 + abs(w)))]
        return np.array(found)


@pytest.mark.parametrize("name", marked(["coupled", *RIGID]))
def test_computed_torque_makes_errors_linear(name):
    """e'' + kd e' + kp e = 0, with one gain for each coordinate that leads."""
    loop = Loop(case(name) if name == "coupled" else sort(name))
    nv = loop.robot.nv
    kp, kd = np.random.default_rng(2).uniform(1.0, 30.0, (2, nv))
    law = lw.compile(loop.robot, lw.control.computed_torque, kp=tuple(kp), kd=tuple(kd), **loop.options)
    tau = law(loop.q, loop.qd, *loop.reference, *loop.around)
    qdd = loop.dynamics().forward_dynamics(loop.q, loop.qd, tau, *loop.around)
    h = 2e-3

    def error(t):
        return loop.error(loop.after(t, loop.q, loop.qd, qdd)[0], loop.after(t, *loop.reference)[0])

    e = [error(k * h) for k in (-2, -1, 0, 1, 2)]
    first = (e[0] - 8.0 * e[1] + 8.0 * e[3] - e[4]) / (12.0 * h)
    second = (-e[0] + 16.0 * e[1] - 30.0 * e[2] + 16.0 * e[3] - e[4]) / (12.0 * h * h)
    # the screw along which `after` goes leaves an odd term of third order in e, of which e' has h^2
    np.testing.assert_allclose(second + kd * first + kp * e[2], 0.0, atol=1e-4 * np.abs(second).max())


@pytest.mark.parametrize("name", marked(["coupled", *RIGID]))
def test_passivity_control_leaves_a_passive_error(name):
    """M sigma' + C sigma + kd sigma = 0 in what leads."""
    loop = Loop(case(name) if name == "coupled" else sort(name))
    law = lw.compile(loop.robot, lw.control.passivity_control, kp=KP, kd=KD, **loop.options)
    tau, dyn = law(loop.q, loop.qd, *loop.reference, *loop.around), lw.compile(loop.robot)
    qdd = loop.dynamics().forward_dynamics(loop.q, loop.qd, tau, *loop.around)
    machine, slope = machine_of(loop.robot), [KP / KD] * loop.robot.nv

    def sigma(t):
        (q, qd), (q_ref, qd_ref) = loop.after(t, loop.q, loop.qd, qdd), loop.after(t, *loop.reference)
        return np.array(reference_velocity(machine, list(q), list(q_ref), list(qd_ref), slope)) - qd

    h = 1e-4
    rate = (8.0 * (sigma(h) - sigma(-h)) - (sigma(2.0 * h) - sigma(-2.0 * h))) / (12.0 * h)
    M, C = dyn.mass_matrix(loop.q), dyn.coriolis_matrix(loop.q, loop.qd)
    left = M @ rate + C @ sigma(0.0) + KD * sigma(0.0)
    if not loop.around:
        np.testing.assert_allclose(left, 0.0, atol=1e-7 * np.abs(M @ rate).max())
    else:  # a base that turns has a part in C, which is skew-symmetric
        assert abs(sigma(0.0) @ left) <= 1e-7 * np.abs(sigma(0.0)).max() * np.abs(M @ rate).max() * len(left)
    # errors decay where sigma is zero: e' = -kp / kd e
    q, v = loop.q, np.array(reference_velocity(machine, *map(list, (loop.q, loop.q_ref, loop.rates[0])), slope))
    e = [loop.error(loop.step(q, v, t), loop.step(loop.q_ref, loop.rates[0], t)) for t in (-h, 0.0, h)]
    np.testing.assert_allclose((e[2] - e[0]) / (2.0 * h), -KP / KD * e[1], atol=1e-6)


@pytest.mark.parametrize("law", ["computed_torque", "passivity_control"])
@pytest.mark.parametrize("name", marked(["coupled", *RIGID]))
def test_on_the_motion_they_are_inverse_dynamics(name, law):
    loop = Loop(case(name) if name == "coupled" else sort(name))
    kernel = lw.compile(loop.robot, getattr(lw.control, law), kp=KP, kd=KD, **loop.options)
    tau = loop.dynamics().inverse_dynamics(*loop.reference, *loop.around)
    found = kernel(*loop.reference[:2], *loop.reference, *loop.around)
    np.testing.assert_allclose(found, tau, atol=1e-11 * np.abs(tau).max())


@pytest.mark.parametrize("name", marked(ELASTIC))
def test_cascaded_control_on_the_motion_is_the_feedforward(name):
    made = sort(name)
    loop = Loop(made)
    motion = [loop.q_ref, *loop.rates]
    around = made.surroundings(1, 2)
    around = [x[0] for x in around]
    kernel = lw.compile(loop.robot, lw.control.cascaded_control, **loop.options, **GAINS)
    feed = lw.compile(loop.robot, lw.algorithms.elastic_feedforward, **loop.options)(*motion, *around)
    q, qd = (np.concatenate(x) for x in zip(motion[:2], feed[:2], strict=True))
    found = kernel(q, qd, *motion, *around)
    np.testing.assert_allclose(found.theta_ref, feed.theta, atol=1e-10)
    np.testing.assert_allclose(found.tau, feed.tau, atol=1e-9 * np.abs(feed.tau).max())


@pytest.mark.parametrize("name", marked([n for n in ELASTIC if "moving" not in n]))
def test_lyapunov_function_falls(name):
    """dV2/dt of the closed loop is what springs and gains take: (52), but for sigma of the motors, which takes more."""
    made = case(name)
    loop, robot, h = Loop(made), made.robot, 1e-4
    kernel, V = (lw.compile(robot, a, **GAINS) for a in (lw.control.cascaded_control, lw.control.cascaded_lyapunov))
    dyn, n = lw.compile(robot), loop.links.nv
    rates, motors = loop.rates, robot.nv - n
    joints = [j.name for j in robot.joints if j.is_elastic]

    def reference(t):
        place = loop.after(t, loop.q_ref, *rates[:2])[0] if t else loop.q_ref
        a, j, s = rates[1:]
        return [place, rates[0] + t * a + t * t / 2 * j, a + t * j + t * t / 2 * s, j + t * s, s]

    opened = lw.compile(loop.links).positions(loop.q).q if robot.follows else loop.q
    theta = np.array([opened[loop.links.opened().slots[n].q] for n in joints]) + 1e-3
    q, qd = np.concatenate([loop.q, theta]), np.concatenate([loop.qd, np.full(motors, 0.1)])

    def flow(x, v, t):
        return dyn.forward_dynamics(x, v, robot.tau(kernel(x, v, *reference(t)).tau))

    def moved(t):
        """After four steps of the midpoint rule."""
        x, v = q, qd
        for k in range(4):
            s, a = t / 4.0, flow(x, v, k * t / 4.0)
            mid = dyn.integrate(x, v + a * s / 4.0, s / 2.0), v + a * s / 2.0
            b = flow(*mid, (k + 0.5) * t / 4.0)
            x, v = dyn.integrate(x, v + b * s / 2.0, s), v + b * s
        return V(x, v, *reference(t)).V2

    rate = (moved(h) - moved(-h)) / (2.0 * h)
    values = V(q, qd, *reference(0.0))
    assert values.V2 >= values.V1 > 0.0
    assert rate < 0.0
    e = loop.error(loop.q, loop.q_ref)
    e_dot = loop.rates[0] - loop.qd
    slope = GAINS["kp"] / GAINS["kd"]
    off = kernel(q, qd, *reference(0.0)).theta_ref - theta
    K = np.array([robot.joint(n).drive.stiffness for n in joints])
    known = GAINS["kp_motor"] / GAINS["kd_motor"] * (K @ off**2)
    if not any(slot.quaternion for slot in loop.links.slots.values()):
        known += GAINS["kd"] * (e_dot @ e_dot + slope**2 * (e @ e))
    assert -rate - known > -1e-3 * abs(rate)


@pytest.mark.parametrize("name", sorted(FREE))
@pytest.mark.parametrize("law", ["computed_torque", "passivity_control"])
def test_a_base_that_nothing_holds_is_refused(name, law):
    with pytest.raises(lw.LinkwiseError, match="floating joint 'root_joint', which no drive moves"):
        lw.compile(sort(name).robot, getattr(lw.control, law), kp=1.0, kd=1.0)
