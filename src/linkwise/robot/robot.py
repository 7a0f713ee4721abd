"""A robot: frozen, validated data; edits return new robots."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from linkwise.errors import InputError, ModelError, UnknownNameError, listing
from linkwise.robot import check, coordinates, edit, leading
from linkwise.robot.coordinates import Slot as Slot
from linkwise.robot.coupling import Coupling, couplings, uncoupled
from linkwise.robot.geometry import Shape
from linkwise.robot.joint import Joint
from linkwise.robot.link import Frame, Link
from linkwise.robot.loop import Loop
from linkwise.robot.structure import check_references, depth_first
from linkwise.vector import Vec3

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from linkwise.robot.diagnose import Diagnostic
    from linkwise.robot.tree import Tree

GRAVITY = Vec3(0.0, 0.0, -9.81)
SHOWN = 12  # names of each sort in a `repr`


@dataclass(frozen=True, repr=False)
class Robot:
    """A tree of links joined by joints, with frames, loops and gravity.

    Links and joints are put in depth-first order, siblings as given, so that a parent always stands before its
    children. The root link's frame is the world.

    Args:
        links: at least one `Link`.
        joints: one `Joint` for every link but the root.
        frames: named frames on links.
        loops: cut joints that close the tree.
        gravity: acceleration of free fall in the root's axes, m/s^2.
        name: of the robot.
        notes: remarks a reader left for `robot.diagnostics`, each (level, where, message).
        leads: joints inside loops whose positions are chosen, the others follow; without them an undriven floating,
            planar or translation joint inside loops leads (a platform), else the active joints.
        reference: positions of joints by name near which the loops close; they choose the assembly mode. Joints that
            are not named are at zero.
        shapes: what links look like and where they touch; dynamics does not ask for them.
        provenance: where the numbers come from: a text, or several by name, such as {"log": "arm.csv", "method": ...};
            kept as pairs, in files too.
    """

    links: tuple[Link, ...]
    joints: tuple[Joint, ...] = ()
    frames: tuple[Frame, ...] = ()
    loops: tuple[Loop, ...] = ()
    gravity: Vec3 = GRAVITY
    name: str = "robot"
    notes: tuple[tuple[str, str, str], ...] = ()
    leads: tuple[str, ...] = ()
    reference: tuple[tuple[str, tuple[float, ...]], ...] = ()
    shapes: tuple[Shape, ...] = ()
    provenance: tuple[tuple[str, str], ...] = ()

    def __init__(
        self,
        links: Iterable[Link],
        joints: Iterable[Joint] = (),
        frames: Iterable[Frame] = (),
        loops: Iterable[Loop] = (),
        gravity: Any = GRAVITY,
        name: str = "robot",
        notes: Iterable[tuple[str, str, str]] = (),
        leads: str | Iterable[str] = (),
        reference: Any = (),
        shapes: Iterable[Shape] = (),
        provenance: Any = (),
    ) -> None:
        link_list = _items(links, Link, "links")
        joint_list = _items(joints, Joint, "joints")
        set_ = object.__setattr__
        set_(self, "name", check.name(name, "robot name"))
        set_(self, "gravity", check.vector(gravity, "gravity"))
        set_(self, "frames", tuple(_items(frames, Frame, "frames")))
        set_(self, "loops", tuple(_items(loops, Loop, "loops")))
        set_(self, "notes", tuple(check.note(n) for n in notes))
        set_(self, "provenance", check.provenance(provenance))
        ordered_links, ordered_joints = depth_first(link_list, joint_list)
        set_(self, "links", ordered_links)
        set_(self, "joints", ordered_joints)
        places = {link.name: k for k, link in enumerate(ordered_links)}
        drawn = sorted(_items(shapes, Shape, "shapes"), key=lambda shape: places.get(shape.link, 0))
        set_(self, "shapes", tuple(drawn))
        set_(self, "leads", leading.names(leads))
        set_(self, "reference", leading.reference(reference, ordered_joints))
        check_references(self)
        leading.check_robot(self)

    def __getstate__(self) -> dict[str, Any]:
        """What a pickle has: what the robot was made of, not what follows."""
        return {f.name: getattr(self, f.name) for f in fields(self)}

    def __repr__(self) -> str:
        """A few lines, however large the robot is."""

        def named(what: str, names: Iterable[str]) -> list[str]:
            shown = listing(names, SHOWN)
            return [] if shown == listing(()) else [f"  {what}: {shown}"]

        from linkwise.robot.robot_card import robot_size

        lines = [f"<Robot {self.name!r}: {robot_size(self)}"]
        lines += named("coordinates", self.coordinates)
        lines += named("frames", (f.name for f in self.frames)) + named("loops", (c.name for c in self.loops))
        return "\n".join(lines) + ">"

    def _repr_html_(self) -> str:
        """The card of a notebook: what `repr` says, and tables of joints and links."""
        from linkwise.robot.robot_card import robot_card

        return robot_card(self)

    # ---- names and sizes

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The joints that have coordinates, in the order of `q` and `qd`; with loops that close, those that lead."""
        return tuple(j.name for j in self.joints if j.nv and j.name in self.slots)

    @cached_property
    def coordinates(self) -> tuple[str, ...]:
        """The names of all coordinates: of the joints that lead, then "elbow.motor" for each motor behind a spring."""
        return tuple(self.slots)

    @cached_property
    def drives(self) -> tuple[str, ...]:
        """The names of what pushes, in the order of `tau`: for an open tree, and where all drives lead, `coordinates`.

        Where active joints of loops follow, as the legs of a platform do, these joints and the others that are driven.
        """
        return leading.drives(self)

    @cached_property
    def nu(self) -> int:
        """Width of `tau`; a floating joint counts six."""
        return sum(self.opened().slots[name].nv for name in self.drives)

    @cached_property
    def nq(self) -> int:
        """Width of `q`: positions of the joints, then of motors behind springs."""
        return sum(s.nq for s in self.slots.values())

    @cached_property
    def nv(self) -> int:
        """Width of `qd` and `qdd`; of `tau` too, unless `nu` differs."""
        return sum(s.nv for s in self.slots.values())

    @cached_property
    def motors(self) -> NDArray[np.intp]:
        """Where the drives act in `tau`: `tau[..., robot.motors]` are the drives' torques, one for each joint.

        The joint's own place where its drive is rigid, its motor's where it is elastic; in the order of `names`, then
        of elastic joints that mimic.
        """
        import numpy as np

        if self.follows:
            return np.array(leading.drive_places(self), dtype=int)
        return np.array(coordinates.drive_places(self.joints, self.slots), dtype=int)

    @cached_property
    def root(self) -> Link:
        """The link that carries all others; its frame is the world."""
        return self.links[0]

    @cached_property
    def moving_links(self) -> tuple[str, ...]:
        """The links that a joint moves, one for every joint that is not fixed; the rows of `joint_wrenches`."""
        return tuple(j.child for j in self.joints if not j.is_fixed)

    @cached_property
    def slots(self) -> dict[str, Slot]:
        """For each of `coordinates`: where its numbers stand in `q` and `qd`."""
        return coordinates.packed(self.joints, leading.leading_joints(self), self.rolls)

    @cached_property
    def speeds(self) -> tuple[str, ...]:
        """The names of what `qd` has: all of `coordinates`, but on wheels those alone whose velocities lead."""
        return tuple(n for n, s in self.slots.items() if s.nv)

    @cached_property
    def rolls(self) -> bool:
        """Whether it stands on wheels: these tie velocities and no positions, so that `nq` and `nv` differ."""
        return any(loop.is_wheel for loop in self.loops)

    def link(self, name: str) -> Link:
        """The link of that name."""
        return edit.find(self.links, name, "link")

    def joint(self, name: str) -> Joint:
        """The joint of that name."""
        return edit.find(self.joints, name, "joint")

    def frame(self, name: str) -> Frame:
        """The frame of that name, or a link's own frame: a frame is valid wherever a point of a link is meant."""
        for f in self.frames:
            if f.name == name:
                return f
        for link in self.links:
            if link.name == name:
                return Frame(name, name)
        raise UnknownNameError("frame or link", name, [f.name for f in self.frames] + [k.name for k in self.links])

    # ---- vectors by name

    def q(self, values: Mapping[str, Any] | ArrayLike | None = None) -> NDArray[np.float64]:
        """A vector of positions: zero (identity for a floating joint) but for the joints named in `values`.

        Motors behind springs go with their joints unless they are named too. `values` may also be one vector of the
        joints' positions, to which those of motors are added.
        """
        return coordinates.vector(self, values, "q")

    def v(self, values: Mapping[str, Any] | ArrayLike | None = None) -> NDArray[np.float64]:
        """A vector of velocities or accelerations, made as `q` makes positions; for torques of drives use `tau`."""
        return coordinates.vector(self, values, "v")

    def tau(self, torques: Mapping[str, Any] | ArrayLike) -> NDArray[np.float64]:
        """The generalised forces (..., nv) of the drives' torques, given by joint or as an array in `motors`' order.

        On a joint with an elastic drive a torque acts on the motor, on the joint's side of the gear.
        """
        return coordinates.forces(self, torques)

    def parameters(self) -> NDArray[np.float64]:
        """The numbers that torques are linear in, so that tau = regressor @ parameters.

        For each moving link m, mc (3) and Ixx Ixy Ixz Iyy Iyz Izz about the link's origin, fixed links lumped in; then
        rotor inertia, viscous and Coulomb friction for each joint that moves, the motor's friction seen through its
        gear; then viscous and Coulomb friction of motors behind springs. `parameter_names` names them.
        """
        import numpy as np

        return np.array(self._tree.parameters(), dtype=float)

    @cached_property
    def parameter_names(self) -> tuple[str, ...]:
        """Names of `parameters()`, such as "forearm.m" and "elbow.viscous"."""
        inertial = ("m", "mcx", "mcy", "mcz", "Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz")
        moving = [j for j in self.joints if not j.is_fixed]
        return (
            tuple(f"{j.child}.{p}" for j in moving for p in inertial)
            + tuple(f"{j.name}.{p}" for j in moving for p in ("rotor", "viscous", "coulomb"))
            + tuple(f"{j.name}.{p}" for j in moving if j.is_elastic for p in ("motor_viscous", "motor_coulomb"))
        )

    @cached_property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """What looks wrong about this robot but does not stop it from being computed."""
        from linkwise.robot.diagnose import diagnose

        return diagnose(self)

    def view(self, path: str | PathLike[str] | None = None, motion: Any = None, **options: Any) -> Path:
        """A page of one HTML file that shows the robot, to be turned and moved in any browser.

        Args:
            path: of the page, ending in .html; without one it is a temporary file that the browser opens.
            motion: a result, a .csv, .npz or .parquet file, a data frame, or positions (nq,) or (rows, nq).
            options: `ghost`, another motion, drawn pale; `wrenches=True`, forces and moments through joints as arrows;
                `base_motion`, the base's `Pose` in the world as a function of time; `trace="tool"`, a line along the
                way of a frame, or of several; `meshes=False`, links drawn from joints instead of their meshes;
                `triangles`, of all meshes together; `title`; `compact=True`, without panel and plots at first.

        Returns:
            The path of the page.
        """
        from linkwise.view.page import view

        return view(self, motion, path, **options)

    # ---- what follows

    def opened(self) -> Robot:
        """The tree that is left when the loops are cut, an ordinary robot."""
        return self._opened if self.follows else self

    @cached_property
    def _opened(self) -> Robot:
        joints, links = uncoupled(self.joints)
        return self.replace(links=[*self.links, *links], joints=joints, loops=(), leads=(), reference=())

    @cached_property
    def _tree(self) -> Tree:
        from linkwise.robot.tree import Tree

        return Tree.built(self)

    @cached_property
    def couplings(self) -> tuple[Coupling, ...]:
        """Joints of `opened()` that follow others by functions."""
        return couplings(self.joints)

    @cached_property
    def follows(self) -> bool:
        """Whether some joints follow others, by loops or by functions, so that not all coordinates lead."""
        return bool(self.loops or self.couplings)

    # ---- edits, each returning a new robot

    def replace(self, *items: Link | Joint | Frame | Loop, **fields: Any) -> Robot:
        """This robot with some items exchanged for those of the same kind and name, or with other fields.

        `robot.replace(Link("hand", mass=2.0), gravity=(0, 0, 0))`
        """
        return edit.replaced(self, items, fields)

    def add(self, *items: Link | Joint | Frame | Loop | Shape) -> Robot:
        """This robot with further links, joints, frames, loops or shapes."""
        return edit.extended(self, items)

    def lock(self, names: str | Iterable[str], at: ArrayLike | None = None) -> Robot:
        """This robot with some joints fixed, at zero or at their values in the position vector `at`.

        Their motors stay as dead weight: mass and tensor are lumped into the links that carry them. In loops they are
        active no longer. With loops, `at` has positions of what leads, or of all joints where some that follow are
        fixed.
        """
        return edit.locked(self, {names} if isinstance(names, str) else set(names), at)

    def rigid(self) -> Robot:
        """This robot with its elastic drives made rigid."""
        return self._rigid if any(j.is_elastic for j in self.joints) else self

    @cached_property
    def _rigid(self) -> Robot:
        return edit.rigid(self)

    def without_friction(self) -> Robot:
        """The ideal robot: no friction and no damping in joints, springs or drives."""
        return edit.without_friction(self)

    def with_parameters(self, theta: ArrayLike | Mapping[str, float]) -> Robot:
        """This robot with other inertias, rotors and frictions: the one whose `parameters()` are `theta`.

        A moving link gets what is missing to its parameters, so that links fixed to it and motors that it carries stay
        as they are; where that would leave it less than nothing, it gets all, they get none, and `diagnostics` says
        so. Rotor inertia goes to the motor of the drive, else to the armature; friction to the joint, or to the motor
        where there is more of it than wanted. A negative mass, rotor inertia or friction is refused; a tensor that no
        body has is listed in `diagnostics`, as it is when a file has one.

        `robot.with_parameters({"forearm.m": 2.1, "elbow.viscous": 0.3})`

        Args:
            theta: all of `parameters()`, or some of them by their names in `parameter_names`; by name also what a
                joint's friction has beside: `offset`, `static`, `stribeck` and `width`, and `motor_offset`, a
                constant torque of a motor behind a spring, seen through its gear.
        """
        from linkwise.robot.lumped_parameters import with_parameters

        return with_parameters(self, theta)

    def with_payload(
        self,
        mass: Any,
        com: Any = (0.0, 0.0, 0.0),
        inertia: Any = (0.0, 0.0, 0.0),
        *,
        at: str,
        name: str = "payload",
    ) -> Robot:
        """This robot carrying a further body, welded to the frame or link `at`, in whose axes it is given."""
        return edit.loaded(self, Link(name, mass, com, inertia), at)

    def attach(self, other: Robot, at: str, prefix: str = "") -> Robot:
        """This robot with `other` welded to the frame or link `at`; `prefix` goes before the names of `other`."""
        if not isinstance(other, Robot):
            raise InputError(f"attach: expected a Robot, got {other!r}.")
        return edit.attached(self, other, at, prefix)


def _items(values: Any, kind: type, what: str) -> list[Any]:
    try:
        items = list(values)
    except TypeError as error:
        raise ModelError(f"{what}: expected a list of {kind.__name__}, got {values!r}.") from error
    for k, x in enumerate(items):
        if not isinstance(x, kind):
            raise ModelError(f"{what}[{k}]: expected a {kind.__name__}, got {x!r}.")
    return items
