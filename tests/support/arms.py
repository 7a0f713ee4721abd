"""Small robots built in Python."""

import numpy as np

import linkwise as lw

AXES = ((0.0, 0.0, 1.0), (0.0, 1.0, 0.0), (0.6, 0.0, 0.8))


def arm(n: int = 3, mass: float = 1.0, name: str = "arm") -> lw.Robot:
    """A chain of n revolute joints about various axes, with friction, and a frame "tool" on its last link."""
    links = [lw.Link("base", mass=5.0)]
    joints = []
    for k in range(n):
        links.append(lw.Link(f"link{k + 1}", mass + k, (0.1, 0.02 * k, 0.3), (0.10, 0.12, 0.15)))
        joints.append(
            lw.Joint(
                f"joint{k + 1}", links[k].name, links[k + 1].name, origin=(0.1, 0.0, 0.2), axis=AXES[k % 3],
                friction=lw.Friction(viscous=0.1, coulomb=0.2),
            )
        )  # fmt: skip
    return lw.Robot(links, joints, frames=[lw.Frame("tool", links[-1].name, (0.0, 0.0, 0.1))], name=name)


def two_link() -> lw.Robot:
    """The textbook's arm: two links of one metre that swing about horizontal axes."""
    links = [lw.Link("base"), lw.Link("upper", 2.0, (0.5, 0.0, 0.0), (0.0, 0.2, 0.2)),
             lw.Link("lower", 1.0, (0.5, 0.0, 0.0), (0.0, 0.1, 0.1))]  # fmt: skip
    joints = [
        lw.Joint("shoulder", "base", "upper", axis=(0.0, 1.0, 0.0)),
        lw.Joint("elbow", "upper", "lower", origin=(1.0, 0.0, 0.0), axis=(0.0, 1.0, 0.0)),
    ]
    return lw.Robot(links, joints, name="two_link")


def still(links: int = 2) -> lw.Robot:
    """A robot that cannot move: one link, or several held by fixed joints."""
    bodies = [lw.Link(f"link{k}", mass=1.0 + k, com=(0.1, 0.0, 0.0)) for k in range(links)]
    joints = [lw.Joint(f"weld{k}", f"link{k - 1}", f"link{k}", "fixed") for k in range(1, links)]
    return lw.Robot(bodies, joints, name="still")


def states(robot: lw.Robot, *batch: int, seed: int = 0) -> list[np.ndarray]:
    """Random q, qd, qdd of shape (*batch, n)."""
    rng = np.random.default_rng(seed)
    return [rng.uniform(-2.0, 2.0, (*batch, n)) for n in (robot.nq, robot.nv, robot.nv)]
