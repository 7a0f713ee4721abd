"""Elastic drives against MuJoCo: rotors are bodies of their own, springs are tendons over the gear."""

from dataclasses import replace

import mujoco
import numpy as np

import linkwise as lw
from support.geared_arm import GRAVITY, MOTORS, PARTS, arm, words

SOFT = tuple(replace(m, stiffness=m.stiffness or 300.0) for m in MOTORS)  # MuJoCo's own gears give way
END, STEP = 1.0, 1e-4
START, SPEED, TORQUE = (0.3, 0.1, -0.4), (0.5, -0.2, 1.0), (4.0, -6.0, 2.0)


def xml():
    """The arm with a hinge for every rotor on the link that carries it."""

    def rotors(link):
        text = ""
        for k, m in enumerate(SOFT):
            if m.link == link:
                quaternion = (1.0 + m.axis[2], *np.cross([0.0, 0.0, 1.0], m.axis))  # takes z to the axis
                text += (
                    f'<body pos="{words(*m.xyz)}"><inertial pos="0 0 0" mass="{m.housing}"'
                    f' diaginertia="{words(*[m.shell] * 3)}"/></body>'
                    f'<body pos="{words(*m.xyz)}" quat="{words(*quaternion)}">'
                    f'<joint name="rotor{k + 1}" axis="0 0 1"/><inertial pos="0 0 0" mass="{m.spinning}"'
                    f' diaginertia="{words(m.across, m.across, m.rotor)}"/></body>'
                )
        return text

    inner = ""
    for k in (2, 1, 0):
        part = PARTS[k]
        xx, xy, xz, yy, yz, zz = part.tensor
        R = np.array([list(row) for row in lw.Pose.of((0, 0, 0), part.rpy).R])
        kind = "hinge" if part.kind == "revolute" else "slide"
        inner = (
            f'<body pos="{words(*part.xyz)}" xyaxes="{words(*R[:, 0], *R[:, 1])}">'
            f'<joint name="joint{k + 1}" type="{kind}" axis="{words(*part.axis)}"/>'
            f'<inertial pos="{words(*part.com)}" mass="{part.mass}" fullinertia="{words(xx, yy, zz, xy, xz, yz)}"/>'
            f"{rotors(k + 1)}{inner}</body>"
        )
    springs = "".join(
        f'<fixed springlength="0" stiffness="{words(m.stiffness)}">'
        f'<joint joint="rotor{k + 1}" coef="{words(1.0 / m.gear)}"/>'
        f'<joint joint="joint{k + 1}" coef="-1"/></fixed>'
        for k, m in enumerate(SOFT)
    )
    return (
        f'<mujoco><compiler angle="radian"/><option gravity="{words(*GRAVITY)}" timestep="{STEP}" integrator="RK4">'
        f'<flag contact="disable" constraint="disable"/></option><worldbody>{rotors(0)}{inner}</worldbody>'
        f"<tendon>{springs}</tendon></mujoco>"
    )


def test_trajectories_of_the_geared_arm():
    """Positions of joints and motors after a second under constant torques and gravity."""
    model = mujoco.MjModel.from_xml_string(xml())
    data = mujoco.MjData(model)
    gears = [m.gear for m in SOFT]
    at = {
        name: model.joint(name).qposadr[0] for name in (f"{kind}{k}" for kind in ("joint", "rotor") for k in (1, 2, 3))
    }
    for k, (q, qd, tau) in enumerate(zip(START, SPEED, TORQUE, strict=True)):
        data.qpos[at[f"joint{k + 1}"]], data.qvel[at[f"joint{k + 1}"]] = q, qd
        data.qpos[at[f"rotor{k + 1}"]], data.qvel[at[f"rotor{k + 1}"]] = gears[k] * q, gears[k] * qd
        data.qfrc_applied[at[f"rotor{k + 1}"]] = tau / gears[k]
    for _ in range(round(END / STEP)):
        mujoco.mj_step(model, data)
    theirs = [data.qpos[at[f"joint{k}"]] for k in (1, 2, 3)]
    theirs += [data.qpos[at[f"rotor{k}"]] / gears[k - 1] for k in (1, 2, 3)]

    robot = arm(SOFT)
    ours = lw.simulate(robot, START, SPEED, END, control=robot.tau(TORQUE), rtol=1e-10, atol=1e-12, progress=False)
    assert np.abs(ours.q[-1] - ours.q[0]).max() > 0.3  # it moved
    assert np.abs(ours.q[-1] - theirs).max() < 1e-9
