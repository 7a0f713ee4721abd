"""MJCF texts by parts, and MuJoCo's answers about them in Linkwise's coordinates."""

from collections.abc import Sequence

import mujoco
import numpy as np

from linkwise.robot import Robot
from linkwise.rotation import from_quaternion

BODY = '<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>'


def mjcf(*bodies: str, head: Sequence[str] = (), tail: Sequence[str] = ()) -> str:
    """A file of these lines; the first body is line 3 plus the lines of `head`."""
    return "\n".join(('<mujoco model="arm">', *head, "<worldbody>", *bodies, "</worldbody>", *tail, "</mujoco>"))


def body(name: str, *inside: str, attributes: str = "") -> str:
    return "\n".join((f'<body name="{name}" {attributes}>', *inside, "</body>"))


class Oracle:
    """MuJoCo's model of a text, without contacts, limits, equalities, and with dry friction as Linkwise has it."""

    def __init__(self, text: str) -> None:
        self.model = mujoco.MjModel.from_xml_string(text)
        bits = mujoco.mjtDisableBit
        self.model.opt.disableflags |= bits.mjDSBL_CONTACT | bits.mjDSBL_LIMIT | bits.mjDSBL_EQUALITY
        self.frictionloss = self.model.dof_frictionloss.copy()  # a soft constraint there, a sign here
        self.model.dof_frictionloss[:] = 0.0
        self.data = mujoco.MjData(self.model)

    def names(self, kind: str, count: str) -> list[str]:
        """The names of all joints, bodies or sites that have one."""
        found = (
            mujoco.mj_id2name(self.model, getattr(mujoco.mjtObj, f"mjOBJ_{kind.upper()}"), k)
            for k in range(getattr(self.model, count))
        )
        return [name for name in found if name]

    def place(self, q: np.ndarray) -> None:
        """Bring MuJoCo to Linkwise's position."""
        self.data.qpos[:] = q
        for start in self.free(self.model.jnt_qposadr):
            self.data.qpos[start + 3 : start + 7] = np.roll(q[start + 3 : start + 7], 1)  # w first
        mujoco.mj_kinematics(self.model, self.data)

    def free(self, addresses: np.ndarray) -> list[int]:
        return [int(a) for a, kind in zip(addresses, self.model.jnt_type, strict=True) if kind == 0]

    def inverse(self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
        """Generalised forces; a free joint moves there by world axes, here by its own."""
        self.place(q)
        v, a = qd.copy(), qdd.copy()
        turns = []
        free = zip(self.free(self.model.jnt_qposadr), self.free(self.model.jnt_dofadr), strict=True)
        for at, k in free:
            R = np.array(from_quaternion(*q[at + 3 : at + 7]))
            linear, angular = qd[k : k + 3], qd[k + 3 : k + 6]
            v[k : k + 3] = R @ linear
            a[k : k + 3] = R @ (qdd[k : k + 3] + np.cross(angular, linear))
            turns.append((k, R))
        self.data.qvel[:], self.data.qacc[:] = v, a
        mujoco.mj_inverse(self.model, self.data)
        tau = self.data.qfrc_inverse + self.frictionloss * np.sign(v)
        for k, R in turns:
            tau[k : k + 3] = R.T @ tau[k : k + 3]
        return tau


def full(robot: Robot, q: np.ndarray, rate: bool = False) -> np.ndarray:
    """A position or rate with the joints that mimic in their places, as MuJoCo has it."""
    parts = []
    for j in robot.joints:
        if j.is_fixed:
            continue
        slot = robot.slots[j.mimic.joint if j.mimic else j.name]
        part = q[slot.v : slot.v + slot.nv] if rate else q[slot.q : slot.q + slot.nq]
        if j.mimic:
            part = part * j.mimic.ratio + (0.0 if rate else j.mimic.offset)
        parts.append(part)
    return np.concatenate(parts) if parts else np.zeros(0)


def reduced(robot: Robot, tau: np.ndarray) -> np.ndarray:
    """MuJoCo's forces at the joints that lead."""
    columns = [full(robot, e, rate=True) for e in np.eye(robot.nv)]
    return np.array(columns).reshape(robot.nv, len(tau)) @ tau
