"""Every standard algorithm of one robot."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

import linkwise.algorithms as alg
from linkwise.algorithms.algorithm import Algorithm
from linkwise.errors import GoneError, UnknownNameError, listing
from linkwise.kernel.kernel import Kernel
from linkwise.kernel.options import Options
from linkwise.kernel.size import kernel_of
from linkwise.robot.robot import Robot

if TYPE_CHECKING:
    from linkwise.kernel.clearance import Clearance

NONE = object()  # where an algorithm has no axes to choose


class Dynamics:
    """Every standard algorithm of one robot, as functions of NumPy arrays that are compiled when first called."""

    def __init__(self, robot: Robot, options: Options) -> None:
        self.robot = robot
        self.options = options
        self._frames: dict[tuple[Any, ...], Kernel] = {}

    def _kernel(self, algorithm: Algorithm) -> Kernel:
        return kernel_of(self.robot, algorithm, self.options, {})

    def _at(self, name: str, frame: str, axes: Any = NONE) -> Kernel:
        """A kernel that belongs to one frame, kept for the next call, which must not wait for more than a look."""
        try:
            return self._frames[name, frame, axes]
        except (KeyError, TypeError):
            static = {"frame": frame} | ({} if axes is NONE else {"axes": axes})
        kernel = self._frames[name, frame, axes] = kernel_of(self.robot, getattr(alg, name), self.options, static)
        return kernel

    @cached_property
    def inverse_dynamics(self) -> Kernel:
        """(q, qd, qdd) -> tau."""
        return self._kernel(alg.inverse_dynamics)

    @cached_property
    def forward_dynamics(self) -> Kernel:
        """(q, qd, tau) -> qdd, by the cheaper of two routes."""
        return self._kernel(alg.forward_dynamics)

    @cached_property
    def motor_torques(self) -> Kernel:
        """(q, qd, qdd) -> torques of the drives, one for each joint: `inverse_dynamics` at `robot.motors`."""
        return self._kernel(alg.motor_torques)

    @cached_property
    def elastic_feedforward(self) -> Kernel:
        """(q, qd, qdd, qddd, qdddd) of the joints -> theta, thetad, thetadd of motors, and torques of all drives."""
        return self._kernel(alg.elastic_feedforward)

    @cached_property
    def elastic_blocks(self) -> Kernel:
        """(q, qd) -> M, S, B, c, c_motor, g: the parts of the equations of a robot with elastic drives."""
        return self._kernel(alg.elastic_blocks)

    @cached_property
    def joint_wrenches(self) -> Kernel:
        """(q, qd, qdd) -> tau, wrench (nb, 6)."""
        return self._kernel(alg.joint_wrenches)

    @cached_property
    def force_rates(self) -> Kernel:
        """(q, qd, qdd, qddd) -> tau, tau_dot, in one pass."""
        return self._kernel(alg.force_rates)

    @cached_property
    def joint_wrench_rates(self) -> Kernel:
        """(q, qd, qdd, qddd) -> tau, wrench (nb, 6), tau_dot, wrench_dot (nb, 6)."""
        return self._kernel(alg.joint_wrench_rates)

    @cached_property
    def link_jerks(self) -> Kernel:
        """(q, qd, qdd, qddd) -> j (nb, 6) of all moving links, j_com (nb, 3) of their mass centres, in world axes."""
        return self._kernel(alg.link_jerks)

    @cached_property
    def inverse_dynamics_derivatives(self) -> Kernel:
        """(q, qd, qdd) -> dtau_dq, dtau_dqd, M."""
        return self._kernel(alg.inverse_dynamics_derivatives)

    @cached_property
    def forward_dynamics_derivatives(self) -> Kernel:
        """(q, qd, tau) -> dqdd_dq, dqdd_dqd, Minv."""
        return self._kernel(alg.forward_dynamics_derivatives)

    @cached_property
    def linearization(self) -> Kernel:
        """(q, qd, tau) -> A (2 nv, 2 nv), B (2 nv, nv), with dx/dt = A x + B u for small changes x = [dq; dqd]."""
        return self._kernel(alg.linearization)

    @cached_property
    def joint_wrench_derivatives(self) -> Kernel:
        """(q, qd, qdd) -> derivatives of tau (nv, nv) and of wrench (nb, 6, nv) by q, qd and qdd."""
        return self._kernel(alg.joint_wrench_derivatives)

    @cached_property
    def inverse_dynamics_hessian(self) -> Kernel:
        """(q, qd, qdd, weights) -> second derivatives of weights . tau by (q, qd, qdd)."""
        return self._kernel(alg.inverse_dynamics_hessian)

    @cached_property
    def inverse_dynamics_hessian_vector(self) -> Kernel:
        """(q, qd, qdd, weights, direction) -> that Hessian times a direction (3 nv)."""
        return self._kernel(alg.inverse_dynamics_hessian_vector)

    @cached_property
    def mass_matrix(self) -> Kernel:
        """(q) -> M."""
        return self._kernel(alg.mass_matrix)

    @cached_property
    def coriolis_matrix(self) -> Kernel:
        """(q, qd) -> C, with M_dot - 2 C skew-symmetric."""
        return self._kernel(alg.coriolis_matrix)

    @cached_property
    def bias_forces(self) -> Kernel:
        """(q, qd) -> h, with tau = M qdd + h."""
        return self._kernel(alg.bias_forces)

    @cached_property
    def gravity_forces(self) -> Kernel:
        """(q) -> g."""
        return self._kernel(alg.gravity_forces)

    @cached_property
    def kinetic_energy(self) -> Kernel:
        """(q, qd) -> T."""
        return self._kernel(alg.kinetic_energy)

    @cached_property
    def potential_energy(self) -> Kernel:
        """(q) -> V."""
        return self._kernel(alg.potential_energy)

    @cached_property
    def momentum(self) -> Kernel:
        """(q, qd) -> linear, then angular momentum about the world's origin."""
        return self._kernel(alg.momentum)

    @cached_property
    def centre_of_mass(self) -> Kernel:
        """(q) -> com (3), in the world."""
        return self._kernel(alg.centre_of_mass)

    @cached_property
    def com_jacobian(self) -> Kernel:
        """(q) -> J (3, nv), with J qd the velocity of the centre of mass."""
        return self._kernel(alg.com_jacobian)

    @cached_property
    def centroidal_momentum(self) -> Kernel:
        """(q, qd) -> linear, then angular momentum about the centre of mass."""
        return self._kernel(alg.centroidal_momentum)

    @cached_property
    def centroidal_matrix(self) -> Kernel:
        """(q) -> A (6, nv), with A qd the centroidal momentum."""
        return self._kernel(alg.centroidal_matrix)

    @cached_property
    def integrate(self) -> Kernel:
        """(q, qd, dt) -> q after that time at constant velocity."""
        return self._kernel(alg.integrate)

    @cached_property
    def difference(self) -> Kernel:
        """(q0, q1) -> the velocity that leads from one to the other in unit time."""
        return self._kernel(alg.difference)

    @cached_property
    def q_dot(self) -> Kernel:
        """(q, qd) -> the rates of the numbers in q."""
        return self._kernel(alg.q_dot)

    @cached_property
    def classical_acceleration(self) -> Kernel:
        """(qd, qdd) -> a, in which floating joints have their classical acceleration."""
        return self._kernel(alg.classical_acceleration)

    @cached_property
    def component_acceleration(self) -> Kernel:
        """(qd, a) -> qdd, from classical accelerations of floating joints."""
        return self._kernel(alg.component_acceleration)

    @cached_property
    def regressor(self) -> Kernel:
        """(q, qd, qdd) -> Y, with tau = Y @ robot.parameters()."""
        return self._kernel(alg.regressor)

    @cached_property
    def poses(self) -> Kernel:
        """(q) -> T (nb, 4, 4) of all moving links."""
        return self._kernel(alg.poses)

    @cached_property
    def link_motions(self) -> Kernel:
        """(q, qd, qdd) -> p, v, a (nb, 6) of all moving links, p_com, v_com, a_com, L (nb, 3), in world axes."""
        return self._kernel(alg.link_motions)

    @cached_property
    def kinematics_derivatives(self) -> Kernel:
        """(q, qd, qdd) -> derivatives (nb, 3 or 6, nv) of what `link_motions` gives, by q, qd and qdd."""
        return self._kernel(alg.kinematics_derivatives)

    @property
    def clearance(self) -> Clearance:
        """(q) -> distance, pair: how far the robot is from itself, and `among` obstacles; see `Clearance`."""
        return self._clearance

    @cached_property
    def _clearance(self) -> Clearance:
        from linkwise.kernel.clearance import Clearance
        from linkwise.mechanism.scene import Scene

        return Clearance(Scene(self.robot), self.options)

    def pose(self, q: Any, frame: str, *extra: Any) -> NDArray[np.float64]:
        """T_world_frame (..., 4, 4) of a frame or link; `extra` are the inputs that options add."""
        return self._at("pose", frame)(q, *extra)

    def jacobian(self, q: Any, frame: str, *extra: Any, axes: str = "world") -> NDArray[np.float64]:
        """J (..., 6, nv) at the frame's origin, linear rows first, in world or (axes="local") the frame's axes."""
        return self._at("jacobian", frame, axes)(q, *extra)

    def jacobian_dot(self, q: Any, qd: Any, frame: str, *extra: Any, axes: str = "world") -> NDArray[np.float64]:
        """The time derivative (..., 6, nv) of the components of `jacobian`, while the robot moves at qd."""
        return self._at("jacobian_dot", frame, axes)(q, qd, *extra)

    def velocity(self, q: Any, qd: Any, frame: str, *extra: Any, axes: str = "world") -> NDArray[np.float64]:
        """Velocity (..., 6) of a frame, linear then angular."""
        return self._at("velocity", frame, axes)(q, qd, *extra)

    def acceleration(
        self, q: Any, qd: Any, qdd: Any, frame: str, *extra: Any, axes: str = "world"
    ) -> NDArray[np.float64]:
        """Classical acceleration (..., 6) of a frame, linear then angular; gravity is not counted."""
        return self._at("acceleration", frame, axes)(q, qd, qdd, *extra)

    def jerk(
        self, q: Any, qd: Any, qdd: Any, qddd: Any, frame: str, *extra: Any, axes: str = "world"
    ) -> NDArray[np.float64]:
        """Jerk (..., 6) of a frame, linear then angular: the rate of the vectors of `acceleration`."""
        return self._at("jerk", frame, axes)(q, qd, qdd, qddd, *extra)

    def operational_inertia(self, q: Any, frame: str, *extra: Any) -> NDArray[np.float64]:
        """(J M^-1 J^T)^-1 (..., 6, 6) at a frame, in world axes; NaN where the frame cannot move in all directions."""
        return self._at("operational_inertia", frame)(q, *extra)

    def wrench_at(self, sensor: str) -> Kernel:
        """A kernel (q, qd, qdd) -> wrench (6) through a fixed joint, named by itself or by its child link."""
        fixed = [j for j in self.robot.joints if j.is_fixed]
        for j in fixed:
            if sensor in (j.name, j.child):
                key = ("wrench_at", j.name)
                if key not in self._frames:
                    self._frames[key] = Kernel.of(self.robot, alg.wrench_at, self.options, {"keep": (j.name,)})
                return self._frames[key]
        raise UnknownNameError("fixed joint", sensor, [j.name for j in fixed])

    def positions(self, q: Any = None, *extra: Any, drives: Any = None, guess: Any = None, along: bool = False) -> Any:
        """Positions of all joints, those that follow too; see `Positions`.

        Args:
            q: leading positions (..., nq); None to solve for them from those of the `drives`.
            extra: the input `parameters`, where the robot was compiled with it.
            drives: positions of the drives (..., nu) instead, as of the legs of a hexapod.
            guess: positions of all joints near which to look, which choose the assembly mode; None is the reference.
            along: the rows (axis -2) are a motion: each begins where the one before ended.
        """
        from linkwise.kernel.positions import positions

        return positions(self, q, extra, drives, guess, along)

    def workspace(self, q: Any, *extra: Any, length: float | None = None) -> Any:
        """Whether positions (..., nq) can be taken: reached, within the limits of all joints, how well held.

        Args:
            q: positions of what leads (..., nq).
            extra: further inputs, as `positions` takes them.
            length: by which turns are compared with shifts where drives hold the machine, m; None is the mean distance
                of the cuts from the origin of what leads.
        """
        from linkwise.kernel.positions import workspace

        return workspace(self, q, extra, length)

    @cached_property
    def tree_positions(self) -> Kernel:
        """(q) -> positions of all joints, whether loops are closed there, condition: what `positions` calls."""
        return self._kernel(alg.tree_positions)

    @cached_property
    def tree_motion(self) -> Kernel:
        """(q, qd, qdd) -> positions, velocities and accelerations of all joints, those that follow too."""
        return self._kernel(alg.tree_motion)

    @cached_property
    def tree_jerks(self) -> Kernel:
        """(q, qd, qdd, qddd) -> jerks of all joints."""
        return self._kernel(alg.tree_jerks)

    @cached_property
    def tree_jacobian(self) -> Kernel:
        """(q) -> G, with velocities of all joints = G qd."""
        return self._kernel(alg.tree_jacobian)

    @cached_property
    def drive_jacobian(self) -> Kernel:
        """(q) -> J (nu, nv), with rates of the drives = J qd."""
        return self._kernel(alg.drive_jacobian)

    def share(self, q: Any, force: Any, weights: Any = None, *extra: Any) -> NDArray[np.float64]:
        """Torques of the drives (..., nu) that amount to a force at what leads; least in sum of weights * torque^2."""
        from linkwise.kernel.positions import checked_weights

        return self._share(q, force, checked_weights(self.robot, weights), *extra)

    @cached_property
    def _share(self) -> Kernel:
        return self._kernel(alg.share)

    @property
    def closed(self) -> Any:
        """Gone: `Dynamics` itself has these functions."""
        raise GoneError(
            "dyn.closed is gone: dyn itself has its functions now, such as dyn.inverse_dynamics(q, qd, qdd) with q of"
            " what leads (robot.coordinates). lw.compile(robot.opened()) has those of the tree with its loops cut; the"
            " page of migration names the rest."
        )

    def __repr__(self) -> str:
        return f"<Dynamics of the robot {self.robot.name!r}, {self.robot.nv} degrees of freedom>"

    def _repr_html_(self) -> str:
        """The card of a notebook: the robot's coordinates, and the functions there are."""
        import linkwise.card as card

        robot = self.robot
        facts = f"q: {listing(robot.coordinates)}", f"tau: {listing(robot.drives)}"
        members = ((name, x) for name, x in vars(type(self)).items() if not name.startswith("_") and x.__doc__)
        rows = [(name, x.__doc__.strip().partition("\n")[0]) for name, x in members]
        return card.card(repr(self).strip("<>"), card.lines(facts), card.folded("functions", card.table((), rows, 100)))

    def __reduce__(self) -> Any:
        return Dynamics, (self.robot, self.options)
