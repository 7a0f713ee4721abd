"""From a pose of the tool to the fastest motion there, and a reference that is too fast, slowed as it runs."""

from __future__ import annotations

import numpy as np

import linkwise as lw


def main() -> None:
    robot = lw.load("arm7")
    home = robot.q({"joint2": 0.3, "joint4": 0.9, "joint6": 0.4})
    limits = [robot.joint(name).limits for name in robot.names]
    effort = 0.6 * np.array([k.effort for k in limits])

    # positions of the joints for three poses of the tool, each near the one before
    T = lw.compile(robot).pose(home, "tool")
    points = [home]
    for step in ((0.0, 0.2, -0.1), (-0.15, 0.4, -0.1), (-0.3, 0.3, 0.0)):
        target = T.copy()
        target[:3, 3] += step
        found = lw.inverse_kinematics(robot, "tool", target, guess=points[-1])
        print(f"tool moved by {step}: reached {bool(found.converged)}, error {float(found.position_error):.1e} m")
        points.append(found.q)

    # the fastest motion through them, without and with bounded rates of torque
    for name, rate in (("torques may jump", None), ("torques change by 8 efforts a second", 8.0 * effort)):
        motion = lw.retime(robot, points, effort=effort, effort_rate=rate)
        uses = ", ".join(f"{kind} {use.share:.0%} at {use.joint}" for kind, use in motion.uses.items())
        print(f"{name}: {motion.duration:.3f} s; {uses}")

    # a reference that wants to do the same in half of that time
    wanted = 0.5 * motion.duration
    path = lw.planning.Path.through(points, robot).eased()

    def reference(s: np.ndarray) -> np.ndarray:
        return path.derivatives(np.clip(s / wanted, 0.0, 1.0)) * (wanted ** -np.arange(4.0))[:, None, None]

    run = lw.scaler(robot, effort=effort, effort_rate=8.0 * effort).run(reference, wanted)
    print(f"reference of {wanted:.3f} s, slowed: {run.t[-1]:.3f} s, limits kept in all samples: {run.kept.all()}")
    largest = np.abs(run.tau / effort).max(), np.abs(run.tau_dot / (8.0 * effort)).max()
    print(f"largest shares: effort {largest[0]:.3f}, rate {largest[1]:.3f}")


if __name__ == "__main__":
    main()
