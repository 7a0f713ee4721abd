"""The tree of moving bodies that algorithms walk along: fixed joints lumped, every joint axis turned to z.

Body 0 is the base; body i hangs on `parent` < i. Each body has a frame of its own whose z axis is the joint's axis, so
that algorithms know three motions only. `Tree.of` keeps the origin of that frame at the joint; `aligned` and
`regrouped` (in their own files) shift and refill the bodies without changing the generalised forces.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from linkwise.errors import UnknownNameError
from linkwise.robot.body import Body as Body
from linkwise.robot.coordinates import drive_places
from linkwise.robot.drive import Friction
from linkwise.robot.joint import KINDS, Joint, Kind
from linkwise.robot.motors import Elastic as Elastic
from linkwise.robot.motors import Rotor as Rotor
from linkwise.robot.motors import elastic_drive, mount
from linkwise.robot.posture import TreePosture
from linkwise.robot.robot import Robot
from linkwise.robot.round_off import snapped, snapped_inertia
from linkwise.rotation import with_z_along
from linkwise.scalar import Scalar, absolute, is_number
from linkwise.spatial import Inertia, Pose
from linkwise.vector import Vec3


@dataclass(frozen=True, slots=True)
class Tree:
    """The bodies of a robot, where its links and frames are on them, and where its drives act in `tau`."""

    bodies: tuple[Body, ...]
    rotors: tuple[Rotor, ...]
    places: dict[str, tuple[int, Pose]]
    nq: int
    nv: int
    gravity: Vec3
    drives: tuple[int, ...] = ()

    @classmethod
    def of(cls, robot: Robot, keep: Sequence[str] = ()) -> Tree:
        """The tree of a robot; fixed joints named in `keep` stay joints, so that the wrench through them can be had."""
        return cls.built(robot, keep) if keep else robot._tree

    @classmethod
    def built(cls, robot: Robot, keep: Sequence[str] = ()) -> Tree:
        """The same, walked along once more; a robot keeps its own."""
        named, robot = {k.name for k in robot.links}, robot.opened()
        links = {k.name: k for k in robot.links}
        base = Body("", robot.root.name, 0, KINDS["fixed"], Pose())
        bodies, inertias = [base], [robot.root.spatial_inertia]
        place: dict[str, tuple[int, Pose]] = {robot.root.name: (0, Pose())}
        joint_body: dict[str, int] = {}
        for joint in robot.joints:
            i, X_body_parent = place[joint.parent]
            X_body_child = X_body_parent @ joint.origin
            inertia = links[joint.child].spatial_inertia
            if joint.is_fixed and joint.name not in keep:
                place[joint.child] = (i, snapped(X_body_child))
                X = place[joint.child][1]
                inertias[i] = inertias[i] + inertia.seen_from(X.R, X.p)
                continue
            of_link = joint.freedom.frame(joint.axis, joint.anchor)
            placement = X_body_child @ of_link
            for k, (kind, axis) in enumerate(joint.freedom.parts):
                own = Pose(with_z_along(axis))
                bodies.append(_part(robot, joint, i, snapped(placement @ own), of_link @ own, kind, k))
                i, placement, last = len(bodies) - 1, own.inverse(), of_link @ own
                inertias.append(Inertia())
            if joint.freedom.parts:
                bodies[-1], of_link = replace(bodies[-1], link=joint.child), last
                inertias.pop()
            else:
                bodies.append(_body(robot, joint, i, snapped(placement), of_link))
            joint_body[joint.name] = len(bodies) - 1
            X = of_link.inverse()
            inertias.append(inertia.seen_from(X.R, X.p))
            place[joint.child] = (len(bodies) - 1, X)
        rotors = mount(robot, place, joint_body, inertias)
        for f in robot.frames:
            i, X = place[f.link]
            place.setdefault(f"frame:{f.name}", (i, X @ f.origin))
        full = tuple(  # links that stand between the parts of a coupled joint are none of the robot's
            replace(b, inertia=snapped_inertia(I), link=b.link if b.link in named else "")
            for b, I in zip(bodies, inertias, strict=True)
        )
        marked, drives = _light_ones_marked(full, rotors), drive_places(robot.joints, robot.slots)
        return cls(marked, rotors, place, robot.nq, robot.nv, robot.gravity, drives)

    def place(self, name: str) -> tuple[int, Pose]:
        """The body that carries a frame or link, and its pose there."""
        found = self.places.get(f"frame:{name}") or self.places.get(name)
        if found is None:
            raise UnknownNameError("frame or link", name, [k.removeprefix("frame:") for k in self.places])
        return found

    # ---- a tree is a machine in which everything leads: it answers what a machine with loops does

    def only_tree(self, what: str) -> Tree:
        """This tree; a machine with loops refuses."""
        return self

    @property
    def tree(self) -> Tree:
        """This tree; a machine with loops has one."""
        return self

    @property
    def tree_drives(self) -> tuple[int, ...]:
        """Where the drives of joints are in forces of the tree."""
        return self.drives

    def unsprung(self) -> Tree:
        """The same with nothing between motors and their joints, which drives then push."""
        return replace(self, bodies=tuple(b.unsprung() for b in self.bodies))

    def without_forces(self) -> Tree:
        """The same without springs, friction and damping."""
        return replace(self, bodies=tuple(b.without_forces() for b in self.bodies))

    def at(self, q: Sequence[Scalar]) -> TreePosture:
        """The tree in one configuration."""
        return TreePosture(self, q)

    def complete(self, q: Sequence[Scalar], *motion: Sequence[Scalar]) -> tuple[Any, ...]:
        """The tree, its positions and, where given, velocities, accelerations and so on."""
        return (self, q, *motion)

    @property
    def leading_bodies(self) -> tuple[Body, ...]:
        """The bodies whose inertia is alone in what a leading coordinate feels."""
        return self.bodies

    def tree_coordinate(self, k: int) -> tuple[Tree, int]:
        """The tree, and the place in it of a leading coordinate."""
        return self, k

    @property
    def named_coordinates(self) -> dict[str, set[int]]:
        """The places in `qd` of joints, and of motors behind springs, named as "elbow.motor"."""
        names: dict[str, set[int]] = {}
        for b in self.bodies[1:]:
            names.setdefault(b.name, set()).update(k for k, _ in b.axes)
        return names | {f"{b.name}.motor": {e.v} for b, e in self.elastic_bodies}

    @property
    def looped(self) -> list[set[str]]:
        """The joints that lie in loops: none."""
        return []

    @property
    def unknowns(self) -> tuple[Scalar, ...]:
        """Positions that a machine with loops is given beside those that lead: none."""
        return ()

    def leaf_rates(self, q: Sequence[Scalar], qd: Sequence[Scalar]) -> list[Scalar]:
        """The rates of the numbers in `q`, and of `unknowns`, at velocities of what leads."""
        rate: list[Scalar] = [0.0] * self.nq
        for kind, at, to in self.coordinates:
            rate[at] = kind.q_dot(q[at], qd[to])
        return rate

    def near(self, numbers: Sequence[Scalar]) -> tuple[Tree, list[Scalar]]:
        """This tree, and the numbers of `q`; a machine with loops closes them there."""
        return self, list(numbers)

    def on(self, tree: Tree) -> Tree:
        """The other tree, which has other numbers of the bodies."""
        return tree

    @property
    def linked(self) -> list[int]:
        """The bodies that are links, in the order of `robot.moving_links`: all but the base and parts of joints."""
        return [i for i, b in enumerate(self.bodies) if i and b.link]

    def ancestors(self, i: int) -> list[int]:
        """Body i and those it hangs on, up to but without the base."""
        chain = []
        while i:
            chain.append(i)
            i = self.bodies[i].parent
        return chain

    def paths(self, i: int, j: int) -> tuple[list[int], list[int]]:
        """The bodies that lead to i and to j from the last one that carries both, each outwards."""
        to_i: list[int] = []
        to_j: list[int] = []
        while i != j:  # a body comes after what carries it
            if i > j:
                to_i.append(i)
                i = self.bodies[i].parent
            else:
                to_j.append(j)
                j = self.bodies[j].parent
        return to_i[::-1], to_j[::-1]

    def parameters(self) -> list[Scalar]:
        """The numbers that torques are linear in, in the order of `Robot.parameters`."""
        inertial: list[Scalar] = []
        for b in (self.bodies[i] for i in self.linked):
            inertial.extend(b.inertia.seen_from(b.of_link.R, b.of_link.p).parameters())
        spinning = {r.drives: r.inertia for r in self.rotors}
        for i, b in ((i, self.bodies[i]) for i in self.linked):
            viscous = b.friction.viscous + b.motor_friction.viscous * b.gear * b.gear
            coulomb = b.friction.coulomb + b.motor_friction.coulomb * absolute(b.gear)
            inertial.extend((spinning.get(i, (b.elastic or b).armature), viscous, coulomb))
        for e in (b.elastic for b in self.bodies if b.elastic):
            inertial.extend((e.friction.viscous * e.gear * e.gear, e.friction.coulomb * absolute(e.gear)))
        return inertial

    @property
    def elastic_bodies(self) -> list[tuple[Body, Elastic]]:
        """The bodies whose joints have elastic drives, each with its drive."""
        return [(b, b.elastic) for b in self.bodies if b.elastic is not None]

    @property
    def motor_coordinates(self) -> set[int]:
        """The places in `qd` of motors that move by themselves."""
        return {e.v for _, e in self.elastic_bodies}

    @property
    def coordinates(self) -> Iterator[tuple[Kind, slice, slice]]:
        """How every joint, then every motor with a coordinate of its own, moves, and its places in `q` and `qd`."""
        yield from ((b.kind, slice(b.q, b.q + b.kind.nq), slice(b.v, b.v + b.kind.nv)) for b in self.bodies)
        yield from ((KINDS["revolute"], slice(e.q, e.q + 1), slice(e.v, e.v + 1)) for _, e in self.elastic_bodies)

    @property
    def singles(self) -> Iterator[tuple[int, int]]:
        """The places in `q` and in `qd` of every coordinate that is one number: of joints, and of their motors."""
        yield from ((at.start, to.start) for kind, at, to in self.coordinates if kind.is_single)


def _part(robot: Robot, joint: Joint, parent: int, placement: Pose, of_link: Pose, kind: Kind, k: int) -> Body:
    """The body of the k-th of the simple joints that a joint is made of."""
    slot = robot.slots[joint.name]
    return Body(joint.name, "", parent, kind, placement, of_link, joint.anchor, q=slot.q + k, v=slot.v + k, part=True)


def _body(robot: Robot, joint: Joint, parent: int, placement: Pose, of_link: Pose) -> Body:
    """The body of a joint, still without inertia."""
    leader = joint.mimic.joint if joint.mimic else joint.name
    slot = robot.slots.get(leader)
    drive = joint.drive
    elastic = elastic_drive(robot, joint)
    rigid = drive if elastic is None else None
    return Body(
        name=joint.name, link=joint.child, parent=parent, kind=joint.freedom, placement=placement, of_link=of_link,
        anchor=joint.anchor, q=slot.q if slot else 0, v=slot.v if slot else 0,
        ratio=joint.mimic.ratio if joint.mimic else 1.0, offset=joint.mimic.offset if joint.mimic else 0.0,
        armature=joint.armature if elastic is None else 0.0, friction=joint.friction, spring=joint.spring,
        gear=rigid.gear if rigid else 1.0, motor_friction=rigid.friction if rigid else Friction(), elastic=elastic,
    )  # fmt: skip


def _light_ones_marked(bodies: tuple[Body, ...], rotors: Sequence[Rotor]) -> tuple[Body, ...]:
    """The bodies, marked where their own inertia is next to nothing of what they and all they carry have.

    A rotor that turns freely on its body adds none about its axis. Where numbers of a model are inputs, a body is
    light unless it is known not to be.
    """
    mass, size = [b.inertia.m for b in bodies], [b.inertia.E.x.x + b.inertia.E.y.y + b.inertia.E.z.z for b in bodies]
    for i in range(len(bodies) - 1, 0, -1):
        mass[bodies[i].parent] += mass[i]
        size[bodies[i].parent] += size[i]
    loose = [0.0] * len(bodies)
    for r in rotors:
        if any(b.elastic and b.elastic.v == r.v for b in bodies) and is_number(r.inertia):
            loose[r.on] += r.inertia
    own_size = zip(bodies, mass, size, loose, strict=True)
    return tuple(replace(b, light=_is_light(b, m, s, free)) for b, m, s, free in own_size)


def _is_light(b: Body, mass: Scalar, size: Scalar, loose: Scalar) -> bool:
    known = (mass, size, loose, b.armature, *b.inertia.parameters())
    if not all(is_number(x) for x in known):
        return b.kind.nv > 0
    return b.kind.is_light(b.inertia, b.armature, loose, mass, size)
