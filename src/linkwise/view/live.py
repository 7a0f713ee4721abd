"""A robot in a live page of this machine: it moves while somebody looks, and can be slid, dragged and pushed."""

from __future__ import annotations

import threading
import time
import warnings
import webbrowser
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from linkwise.card import framed, in_notebook
from linkwise.check import positive
from linkwise.errors import InputError, UnknownNameError, printable
from linkwise.kernel.compile import compile
from linkwise.robot.geometry import Shape
from linkwise.robot.robot import Robot
from linkwise.scalar import is_number
from linkwise.view.motion import Motion
from linkwise.view.nodes import Nodes, Placed
from linkwise.view.painter import Painter
from linkwise.view.panel import Panel
from linkwise.view.playing import play
from linkwise.view.pushes import Push, arrows, wrenches
from linkwise.view.real_time import RealTime
from linkwise.view.scene import Scene
from linkwise.view.server import Server
from linkwise.view.solids import Array
from linkwise.view.tool import Tool

AWAY = 3.0  # seconds after which a page that was closed ends `wait`
HEAVY = 3.0  # how many times its weight a robot is pulled by, when the mouse is as far away as the robot is large
SLOW = 0.1  # seconds between two looks of the sliders


def show(
    robot: Robot,
    q: Any = None,
    *,
    tool: str | None = None,
    obstacles: Iterable[Shape] = (),
    meshes: bool = True,
    port: int | None = None,
    open_browser: bool | None = None,
) -> Show:
    """Show a robot in a live page: it moves when `show.q` is set, and a user slides, drags and pushes it.

    The server listens on 127.0.0.1 alone, and nothing is fetched from elsewhere. It needs the extra `view`.

        show = lw.show(robot, tool="tool0")
        show.q = {"elbow": 0.5}     # it moves
        show.play(result)           # a simulation, a plan, a table
        show.simulate()             # it falls, and can be pulled with the mouse
        show.wait()                 # until the page is closed

    Args:
        robot: any with something to draw.
        q: where it stands first (nq), or by name; where it starts, within its limits, if not given.
        tool: a frame or link with arrows, by which a user drags it: the joints follow by inverse kinematics.
        obstacles: shapes `lw.Shape` in the world, whatever link they name.
        meshes: draw the meshes that the robot names; else shapes made from joints and links in their place.
        port: of the server; None for any that is free.
        open_browser: open the page; None does so except in a notebook, which has it inline.
    """
    made = Show(robot, q, tool, obstacles, meshes, port)
    wanted = not in_notebook() if open_browser is None else open_browser
    if wanted and not webbrowser.open(made.address):
        warnings.warn(f"show: expected a browser, got none. Open {made.address} yourself.", stacklevel=2)
    return made


class Show:
    """A robot in a live page; made by `lw.show`."""

    def __init__(
        self, robot: Robot, q: Any, tool: str | None, obstacles: Iterable[Shape], meshes: bool, port: int | None
    ) -> None:
        self.scene = Scene.of(robot, use_meshes=meshes)
        if not self.scene.parts:
            raise InputError(f"show: expected a robot with links to draw, got {robot.name!r}, which has none.")
        self.robot, self.dynamics, self.links = robot, compile(robot), tuple(robot.moving_links)
        self.placed = Placed(robot)
        self._q = self._start = self._position(q)
        if tool is not None:
            robot.frame(tool)
        #: N/m of the spring by which the mouse pulls
        self.stiffness = HEAVY * 9.81 * max(_mass(robot), 1e-3) / max(self.scene.size, 1e-3)
        #: called with the pose (4, 4) to which a user drags the tool; at first `reach`
        self.on_drag: Callable[[Array], Any] | None = self.reach
        self.paused = False
        self._pushes: dict[str, Push] = {}
        self._begun = 0  # how often somebody put the robot elsewhere
        self._over = threading.Event()
        self.server, self.painter = Server(port, printable(robot.name)), Painter()
        try:
            self.nodes = Nodes(self.scene, self.server.viser, self.poses(), obstacles, self._pulled)
            self._tool = Tool(self, tool)
            self.panel = Panel(self)
        except BaseException:
            self.server.close()
            raise
        self.painter.start()

    # ---- where the robot is

    @property
    def q(self) -> Array:
        """Where the robot is (nq). Setting it moves the robot, from any thread and at any rate, without waiting."""
        return self._q.copy()

    @q.setter
    def q(self, q: Any) -> None:
        self._q = self._position(q)
        self._begun += 1
        self._draw()

    @property
    def address(self) -> str:
        """Of the page."""
        return self.server.address

    @property
    def is_open(self) -> bool:
        """Whether the page is there, and nobody has pressed its button to end."""
        return self.server.open and not self._over.is_set()

    def poses(self) -> Array:
        """T_world_link of all `robot.links` (links, 4, 4), where the robot is."""
        return self.placed(self.dynamics.poses(self._q))

    def reset(self) -> None:
        """Put the robot where it was first, and take pushes away."""
        self._pushes = {}
        self.q = self._start

    def _position(self, q: Any) -> Array:
        """Positions that can be drawn."""
        if q is None:
            return _within(self.robot)
        found = self.robot.q(q) if isinstance(q, Mapping) or np.shape(q) != (self.robot.nq,) else np.array(q, float)
        if not np.isfinite(found).all():
            raise InputError("show q: expected finite positions, got NaN or infinity.")
        if self.robot.follows and not np.isfinite(self.dynamics.poses(found)).all():
            raise InputError("show q: expected a position at which the loops close, got one at which they do not.")
        return found

    # ---- the tool

    @property
    def tool(self) -> str | None:
        """The frame or link that has arrows; may be set."""
        return self._tool.frame

    @tool.setter
    def tool(self, frame: str | None) -> None:
        if frame is not None:
            self.robot.frame(frame)
        self._tool.take(frame)
        self.panel.choose(frame)

    @property
    def target(self) -> Array | None:
        """The pose (4, 4) to which a user has dragged the tool; None where there is none."""
        return None if self.tool is None else self._tool.target()

    def reach(self, pose: Any) -> bool:
        """Bring the tool to a pose (4, 4), or as near as it goes from here; whether it arrived."""
        return self._tool.reach(pose)

    # ---- pushes

    @property
    def pushes(self) -> dict[str, Push]:
        """The forces on links right now, by link."""
        return dict(self._pushes)

    @property
    def external(self) -> Array:
        """Wrenches on `show.links` right now (links, 6), in their axes: the input that external=show.links adds."""
        return wrenches(self._pushes.values(), self.dynamics.poses(self._q))

    def push(self, link: str, force: Any, at: Any = (0.0, 0.0, 0.0)) -> None:
        """Push on a point of a link, in its frame, by a force (3,) in the world, N, until another one or None."""
        if link not in self.links:
            raise UnknownNameError("link that moves", link, self.links)
        others = {name: push for name, push in self._pushes.items() if name != link}
        if force is not None:
            f, point = _three(force, "force"), _three(at, "point")
            others[link] = Push(self.links.index(link), point, f)
        self._pushes = others
        self._draw()

    def _pulled(self, link: str, event: Any) -> None:
        """The mouse drags a link: a spring from the point that it took to where it is."""
        row = next(place.row for place in self.scene.places if place.link == link)
        if row < 0:
            return
        name = self.links[row]
        if event.phase == "end":
            self.push(name, None)
            return
        push = self._pushes.get(name)
        if push is None or push.to is None:
            T = self.dynamics.poses(self._q)[row]
            at = T[:3, :3].T @ (np.array(event.start_position, dtype=float) - T[:3, 3])
            push = Push(row, at, np.zeros(3), None, self.stiffness)
        self._pushes = {**self._pushes, name: push._replace(to=np.array(event.end_position, dtype=float))}
        self._draw()

    # ---- motions

    def play(self, motion: Any, speed: float = 1.0, *, base_motion: Any = None) -> None:
        """Play a motion to its end: a simulation, a plan, a table, positions; `speed` 1 is real time."""
        play(self, Motion.of(self.robot, motion, base_motion=base_motion), positive(speed, "play speed"))

    def simulate(
        self,
        control: Any = None,
        *,
        speed: float = 1.0,
        duration: float | None = None,
        dt: float | None = None,
        method: str | None = None,
        stops: bool = True,
    ) -> tuple[Array, Array]:
        """Let the robot move by itself, from rest where it is, under gravity and what pushes on it.

        A user pulls on links with the mouse. Setting `show.q`, or a slider, puts the robot elsewhere, at rest.

        Args:
            control: `control(t, q, qd) -> tau` of `robot.drives`, asked at every step; constant torques; or None.
            speed: 1 for real time; inf for as fast as it goes.
            duration: s; until the page ends it if not given.
            dt: length of a step, s; None for 1 ms, or less where elastic drives swing fast.
            method: of `lw.compile_rollout`; None for "implicit" where joints have dry or strong friction, else "rk4".
            stops: whether joints end at their limits, softly.

        Returns:
            Position and velocity at the end, also after Ctrl-C.
        """
        pace, until = _pace(speed, "simulate speed"), duration and positive(duration, "simulate duration")
        run = RealTime(self, control, dt, method, stops)
        self._tool.hide(True)
        try:
            return run.run(until, pace)
        except KeyboardInterrupt:
            return run.q, run.qd
        finally:
            self._tool.hide(False)

    def wait(self, seconds: float = np.inf) -> None:
        """Wait until the page ends it, by its button or by being closed, or Ctrl-C or a time does; then close."""
        came, began = False, time.monotonic()
        seen, until = began, began + _pace(seconds, "wait")
        try:
            while self.is_open and time.monotonic() < until and not (came and time.monotonic() - seen > AWAY):
                if self.server.viser.get_clients():
                    came, seen = True, time.monotonic()
                self._over.wait(min(0.2, max(until - time.monotonic(), 0.0)))
        except KeyboardInterrupt:
            pass
        self.close()

    def close(self) -> None:
        """End the server; a second time does nothing."""
        self._over.set()
        self.painter.stop()
        self.server.close()

    def __enter__(self) -> Show:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Show of the robot {self.robot.name!r} {f'at {self.address}' if self.server.open else 'closed'}>"

    def _repr_html_(self) -> str | None:
        return framed(self.address) if self.server.open else None

    # ---- what is drawn, by the painter alone

    def _moved(self, q: Array) -> None:
        """The robot is elsewhere, by its own motion."""
        self._q = q
        self._draw()

    def _draw(self, paint: Callable[[], None] | None = None) -> None:
        self.painter.ask("robot", paint or self._paint)
        self.painter.ask("sliders", lambda: self.panel.place(self._q), SLOW)

    def _paint(self) -> None:
        T = self.dynamics.poses(self._q)
        self.nodes.place(self.placed(T))
        self.nodes.push(arrows(self._pushes.values(), T, 1.0 / self.stiffness))
        self._tool.place()


def _within(robot: Robot) -> Array:
    """Where a robot starts, its joints within their limits."""
    q = robot.q()
    for j in robot.joints if not robot.follows else ():
        if j.name in robot.slots and j.freedom.is_single and not j.freedom.endless:
            at = robot.slots[j.name].q
            q[at] = min(max(q[at], j.limits.lower), j.limits.upper)
    return q if robot.follows else robot.q(q)


def _mass(robot: Robot) -> float:
    moving = set(robot.moving_links)
    return sum(float(k.mass) for k in robot.links if k.name in moving and is_number(k.mass))


def _three(given: Any, what: str) -> Array:
    try:
        found = np.array(given, dtype=float)
    except (TypeError, ValueError):
        found = np.empty(0)
    if found.shape != (3,) or not np.isfinite(found).all():
        raise InputError(f"show push {what}: expected three finite numbers, got {given!r}.")
    return found


def _pace(given: Any, what: str) -> float:
    """A number above zero, which may be infinite."""
    return np.inf if isinstance(given, float) and given == np.inf else positive(given, what)
