"""Motors behind springs in recursions over bodies: they yield on the link that carries them, wherever that is."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from linkwise.algorithms.articulated import ArticulatedInertia, Seeming, together
from linkwise.algorithms.inertia_route import no_rotor
from linkwise.robot.tree import Body, Elastic, Rotor, Tree
from linkwise.scalar import Scalar, is_number
from linkwise.spatial import Motion, Wrench
from linkwise.vector import ZERO33, Vec3, cross, dot, outer


class FreeMotors:
    """The motors of elastic drives, each with its own coordinate theta, of which `driven` ones have a given rate.

    A rotor of axial inertia I on body b takes tau = ratio I (z . omega_dot_b + ratio thetadd) + resistance, and gives
    its body the moment I (ratio thetadd z + ratio thetad omega_b x z). Where tau is given, thetadd can be eliminated:
    the body feels the torque as a moment about z, and has no inertia of the rotor about z any more.

    Source: [Hua] (24)-(29), eliminated motor by motor; the source forms and inverts A instead.
    """

    def __init__(
        self,
        tree: Tree,
        q: Sequence[Scalar],
        qd: Sequence[Scalar],
        given: Sequence[Scalar],
        driven: Collection[int],
    ) -> None:
        rotors = {r.v: r for r in tree.rotors}
        self._qd, self._given, self._driven = qd, given, driven
        self._motors: list[tuple[Body, Elastic, Rotor | None, Scalar]] = [
            (b, e, rotors.get(e.v), b.motor_resistance(q, qd)) for b, e in tree.elastic_bodies
        ]

    def load(self, omega: Sequence[Vec3], J: list[Seeming], beta: list[Wrench]) -> None:
        """Put what each motor does to its body into the apparent inertia J and force beta of that body."""
        for _, e, r, resistance in self._motors:
            if r is None:
                continue
            i, spin = r.on, self._qd[e.v] * r.ratio * r.inertia
            if e.v in self._driven:
                turning = self._given[e.v] * r.ratio * r.inertia
            else:
                turning = (self._given[e.v] - resistance) / r.ratio
                J[i] = together(J[i], ArticulatedInertia(ZERO33, ZERO33, outer(r.axis, r.axis * -r.inertia)))
            beta[i] = beta[i] + Wrench(moment=r.axis * turning + cross(omega[i], r.axis) * spin)

    def answer(self, v_dot: Sequence[Motion], qdd: list[Scalar], tau: list[Scalar]) -> None:
        """Write the motors' accelerations and torques, once those of the bodies are known."""
        for body, e, r, resistance in self._motors:
            k, x = e.v, self._given[e.v]
            ratio, inertia = (r.ratio, r.inertia) if r else (1.0, e.armature)
            carried = dot(r.axis, v_dot[r.on].angular) if r else 0.0
            if k in self._driven:
                qdd[k], tau[k] = x, (carried + x * ratio) * inertia * ratio + resistance
                continue
            if is_number(inertia) and inertia <= 0.0:
                raise no_rotor(body)
            qdd[k], tau[k] = (x - resistance) / (inertia * (ratio * ratio)) - carried / ratio, x
