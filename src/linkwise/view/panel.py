"""The panel beside a live robot: sliders of its coordinates, the frame that the mouse drags, buttons."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.spatial.transform import Rotation

from linkwise.errors import InputError, printable
from linkwise.view.scene import Slider
from linkwise.view.solids import Array

if TYPE_CHECKING:
    from linkwise.view.live import Show

NOTHING = "nothing"  # is dragged
DIGITS = 3  # of a slider's numbers
MANY = 24  # sliders, from which their folder is closed at first


class Panel:
    """The controls of a show."""

    def __init__(self, show: Show) -> None:
        self.show, gui = show, show.server.viser.gui
        gui.configure_theme(show_logo=False, show_share_button=False, control_width="medium")
        self.pause = gui.add_checkbox("pause", False, hint="a motion that is played, or the simulation")
        self.pause.on_update(self._paused)
        self.frames = {printable(name): name for name in _draggable(show)}
        self.choice = gui.add_dropdown(
            "drag", (NOTHING, *self.frames), initial_value=self._label(show.tool), hint="the frame that the arrows move"
        )
        self.choice.on_update(self._chosen)
        gui.add_button("reset", color="gray").on_click(self._reset)
        gui.add_button("end", color="gray", hint="end the show, and with it the page").on_click(self._end)
        with gui.add_folder("position", expand_by_default=len(show.scene.sliders) <= MANY):
            self.sliders = [(s, self._slider(gui, s)) for s in show.scene.sliders]

    def place(self, q: Array) -> None:
        """Put sliders where the robot is."""
        for slider, handle in self.sliders:
            x = min(max(value(slider, q), slider.lower), slider.upper)
            if abs(x - handle.value) > 0.5 * handle.step:
                handle.value = min(max(round(x / handle.step) * handle.step, slider.lower), slider.upper)

    def choose(self, frame: str | None) -> None:
        """Name the frame that has arrows."""
        self.choice.value = self._label(frame)

    def _label(self, frame: str | None) -> str:
        return next((label for label, name in self.frames.items() if name == frame), NOTHING)

    def _slider(self, gui: Any, slider: Slider) -> Any:
        start = min(max(value(slider, self.show.q), slider.lower), slider.upper)
        span = slider.upper - slider.lower
        step = 10.0 ** (math.floor(math.log10(span)) - DIGITS) if span > 0.0 else 1.0
        hint = "m" if slider.slides else "rad"
        handle = gui.add_slider(printable(slider.name), slider.lower, slider.upper, step, start, hint=hint)

        async def moved(event: Any) -> None:
            if event.client is not None:  # a person, not the robot
                self.show.painter.ask(f"slider {slider.name}", lambda: self._slide(slider, float(handle.value)))

        handle.on_update(moved)
        return handle

    def _slide(self, slider: Slider, x: float) -> None:
        try:
            self.show.q = slid(slider, self.show.q, x)
        except InputError:  # loops do not close there
            self.place(self.show.q)

    def _take(self, name: str | None) -> None:
        self.show.tool = name

    async def _paused(self, event: Any) -> None:
        self.show.paused = bool(self.pause.value)

    async def _chosen(self, event: Any) -> None:
        if event.client is not None:
            name = self.frames.get(self.choice.value)
            self.show.painter.ask("tool", lambda: self._take(name))

    async def _reset(self, event: Any) -> None:
        self.show.painter.ask("reset", self.show.reset)

    async def _end(self, event: Any) -> None:
        self.show._over.set()


def _draggable(show: Show) -> list[str]:
    """Frames, then links that move."""
    fixed = {place.link for place in show.scene.places if place.row < 0}
    robot = show.robot
    names = [f.name for f in robot.frames if f.link not in fixed]
    names += [k.name for k in robot.links if k.name not in fixed]
    return list(dict.fromkeys(names))


def value(slider: Slider, q: Array) -> float:
    """Where a slider stands at a position."""
    if slider.turn < 0:
        return float(q[slider.at])
    return float(Rotation.from_quat(q[slider.at : slider.at + 4]).as_euler("xyz")[slider.turn])


def slid(slider: Slider, q: Array, x: float) -> Array:
    """The position with a slider moved; motors behind springs go with their joints."""
    moved = np.array(q)
    if slider.turn < 0:
        moved[[slider.at, *slider.also]] = x
        return moved
    four = slice(slider.at, slider.at + 4)
    angles = Rotation.from_quat(q[four]).as_euler("xyz")
    angles[slider.turn] = x
    moved[four] = Rotation.from_euler("xyz", angles).as_quat()
    return moved
