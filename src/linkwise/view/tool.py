"""The frame of a live robot that a user drags by arrows, and the joints that follow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.spatial.transform import Rotation

from linkwise.errors import InputError
from linkwise.planning.inverse_kinematics_solver import inverse_kinematics
from linkwise.view.solids import Array

if TYPE_CHECKING:
    from linkwise.view.live import Show

CLOSE = 1e-6  # m and rad, within which a tool has arrived
TRIES = 30  # steps of inverse kinematics from where the robot is
FREE = 6  # degrees of freedom from which a tool is turned as well as moved
ARROWS = 0.22  # length of the arrows, in sizes of the robot


class Tool:
    """Arrows on a frame of a robot.

    Args:
        show: of the robot.
        frame: a frame or link; None for no arrows until `take`.
    """

    def __init__(self, show: Show, frame: str | None) -> None:
        self.show, self._held, self._hidden = show, False, False
        self.frame: str | None = None
        freedoms = sum(slot.nv for slot in show.robot.slots.values() if slot.nv == 1 or show.robot.loops)
        self.turns = freedoms >= FREE
        self.arrows = show.server.viser.scene.add_transform_controls(
            "/tool", ARROWS * show.scene.size, disable_rotations=not self.turns, depth_test=False, visible=False
        )
        self.arrows.on_update(self._dragged)
        self.take(frame)

    def take(self, frame: str | None) -> None:
        """Put the arrows on another frame, or on none."""
        self.frame = frame
        self._held = False
        self.hide(self._hidden)

    def hide(self, hidden: bool) -> None:
        """Show no arrows for a while."""
        self._hidden = hidden
        self.arrows.visible = self.frame is not None and not hidden
        self.place()

    def place(self) -> None:
        """Put the arrows where the frame is, unless they are in somebody's hand."""
        if self.frame is not None and not self._held:
            T = self.pose()
            self.arrows.wxyz = Rotation.from_matrix(T[:3, :3]).as_quat(scalar_first=True)
            self.arrows.position = T[:3, 3]

    def pose(self) -> Array:
        """T_world_frame (4, 4) now."""
        frame = self.show.robot.frame(self.frame or "")
        link = self.show.poses()[self.show.placed.links[frame.link]]
        return np.asarray(link @ np.array(frame.origin.matrix(), dtype=float))

    def target(self) -> Array:
        """The pose (4, 4) at which the arrows are."""
        T = np.eye(4)
        T[:3, :3] = Rotation.from_quat(self.arrows.wxyz, scalar_first=True).as_matrix()
        T[:3, 3] = self.arrows.position
        return T

    def reach(self, pose: Any) -> bool:
        """Bring the frame to a pose, or as near as it goes from here; whether it arrived."""
        if self.frame is None:
            raise InputError("show reach: expected a tool, got none. Give lw.show(robot, tool=...).")
        mask = (1.0, 1.0, 1.0, *[1.0 if self.turns else 0.0] * 3)
        found = inverse_kinematics(
            self.show.robot, self.frame, pose, self.show.q, mask=mask, tolerance=CLOSE, iterations=TRIES, restarts=0
        )
        self.show.q = found.q
        return bool(found.converged)

    async def _dragged(self, event: Any) -> None:
        self._held = event.phase != "end"
        self.show.painter.ask("drag", self._follow)

    def _follow(self) -> None:
        if self.frame is not None and self.show.on_drag is not None:
            self.show.on_drag(self.target())
        self.place()
