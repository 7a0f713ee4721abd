"""Robot dynamics, link by link: recursive Newton-Euler algorithms as native NumPy functions.

>>> import linkwise as lw
>>> robot = lw.load("arm.urdf")
>>> dyn = lw.compile(robot)
>>> tau = dyn.inverse_dynamics(q, qd, qdd)
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from linkwise._version import __version__

if TYPE_CHECKING:  # what `__getattr__` below brings when it is first asked for
    from linkwise import gait
    from linkwise.algorithms import (
        Algorithm,
        World,
        acceleration,
        algorithm,
        bias_forces,
        centre_of_mass,
        centroidal_matrix,
        centroidal_momentum,
        com_jacobian,
        coriolis_matrix,
        derivative,
        elastic_blocks,
        elastic_feedforward,
        elastic_inverse,
        force_rates,
        forward_by_columns,
        forward_dynamics,
        forward_dynamics_derivatives,
        gravity_forces,
        hybrid_dynamics,
        inbound_outbound,
        inverse_dynamics,
        inverse_dynamics_derivatives,
        inverse_dynamics_hessian,
        inverse_dynamics_hessian_vector,
        jacobian,
        jacobian_dot,
        jerk,
        joint_wrench_derivatives,
        joint_wrench_rates,
        joint_wrenches,
        kinematics_derivatives,
        kinetic_energy,
        linearization,
        link_jerks,
        link_motions,
        mass_matrix,
        momentum,
        motor_torques,
        operational_inertia,
        pose,
        poses,
        potential_energy,
        recursive_lagrangian,
        regressor,
        unit_accelerations,
        velocity,
        wrench_at,
    )
    from linkwise.base_parameters import BaseParameters, base_parameters
    from linkwise.closed import Closed
    from linkwise.compile import compile
    from linkwise.control import cascaded_control, cascaded_lyapunov, computed_torque, passivity_control
    from linkwise.dynamics import Dynamics
    from linkwise.errors import InputError, LinkwiseError, ModelError, SimulationError, UnknownNameError
    from linkwise.kernel import Kernel
    from linkwise.parallel import Leg, ParallelDynamics, ParallelRobot, delta, gough_stewart, three_rrr
    from linkwise.plan import (
        Path,
        Plan,
        Retimed,
        Scaler,
        State,
        base_motion,
        bound,
        cyclic,
        effort,
        effort_rate,
        energy,
        inverse_kinematics,
        joint_jerk,
        keep_out,
        limits,
        mirrored,
        passive,
        plan,
        power,
        reaction,
        retime,
        scaler,
        sweep,
        term,
        time,
        tool_path,
        via,
    )
    from linkwise.robot import (
        DHRow,
        Diagnostic,
        Drive,
        Frame,
        Friction,
        Joint,
        KhalilRow,
        Limits,
        Link,
        Loop,
        Mimic,
        Motor,
        Robot,
        Spring,
        beam,
        khalil,
        list_robots,
        modified_dh,
        permutation,
        random_tree,
        save,
        standard_dh,
        to_khalil,
        to_modified_dh,
    )
    from linkwise.robot.load import load
    from linkwise.simulate import (
        Drag,
        GroundContact,
        GroundFriction,
        JointStop,
        ParallelSimulation,
        RollingWheel,
        Rollout,
        Simulation,
        Thrust,
        compile_rollout,
        joint_stops,
        simulate,
        simulate_parallel,
    )
    from linkwise.spatial import Motion, Pose, Wrench
    from linkwise.steps import classical_acceleration, component_acceleration, difference, integrate, q_dot
    from linkwise.trajectory.reversals import reversals
    from linkwise.vector import Vec3

__all__ = [
    "Algorithm",
    "BaseParameters",
    "Closed",
    "DHRow",
    "Diagnostic",
    "Drag",
    "Drive",
    "Dynamics",
    "Frame",
    "Friction",
    "GroundContact",
    "GroundFriction",
    "InputError",
    "Joint",
    "JointStop",
    "Kernel",
    "KhalilRow",
    "Leg",
    "Limits",
    "Link",
    "LinkwiseError",
    "Loop",
    "Mimic",
    "ModelError",
    "Motion",
    "Motor",
    "ParallelDynamics",
    "ParallelRobot",
    "ParallelSimulation",
    "Path",
    "Plan",
    "Pose",
    "Retimed",
    "Robot",
    "RollingWheel",
    "Rollout",
    "Scaler",
    "Simulation",
    "SimulationError",
    "Spring",
    "State",
    "Thrust",
    "UnknownNameError",
    "Vec3",
    "World",
    "Wrench",
    "__version__",
    "acceleration",
    "algorithm",
    "base_motion",
    "base_parameters",
    "beam",
    "bias_forces",
    "bound",
    "cascaded_control",
    "cascaded_lyapunov",
    "centre_of_mass",
    "centroidal_matrix",
    "centroidal_momentum",
    "classical_acceleration",
    "com_jacobian",
    "compile",
    "compile_rollout",
    "component_acceleration",
    "computed_torque",
    "coriolis_matrix",
    "cyclic",
    "delta",
    "derivative",
    "difference",
    "effort",
    "effort_rate",
    "elastic_blocks",
    "elastic_feedforward",
    "elastic_inverse",
    "energy",
    "force_rates",
    "forward_by_columns",
    "forward_dynamics",
    "forward_dynamics_derivatives",
    "gait",
    "gough_stewart",
    "gravity_forces",
    "hybrid_dynamics",
    "inbound_outbound",
    "integrate",
    "inverse_dynamics",
    "inverse_dynamics_derivatives",
    "inverse_dynamics_hessian",
    "inverse_dynamics_hessian_vector",
    "inverse_kinematics",
    "jacobian",
    "jacobian_dot",
    "jerk",
    "joint_jerk",
    "joint_stops",
    "joint_wrench_derivatives",
    "joint_wrench_rates",
    "joint_wrenches",
    "keep_out",
    "khalil",
    "kinematics_derivatives",
    "kinetic_energy",
    "limits",
    "linearization",
    "link_jerks",
    "link_motions",
    "list_robots",
    "load",
    "mass_matrix",
    "mirrored",
    "modified_dh",
    "momentum",
    "motor_torques",
    "operational_inertia",
    "passive",
    "passivity_control",
    "permutation",
    "plan",
    "pose",
    "poses",
    "potential_energy",
    "power",
    "q_dot",
    "random_tree",
    "reaction",
    "sweep",
    "recursive_lagrangian",
    "regressor",
    "retime",
    "reversals",
    "save",
    "scaler",
    "simulate",
    "simulate_parallel",
    "standard_dh",
    "term",
    "three_rrr",
    "time",
    "to_khalil",
    "to_modified_dh",
    "tool_path",
    "unit_accelerations",
    "velocity",
    "via",
    "wrench_at",
]

# where each public name lives; its module is imported when the name is first used, so that `import linkwise` is free
_HOMES = {
    "linkwise": "gait",
    "linkwise.algorithms": """
        Algorithm World acceleration algorithm bias_forces centre_of_mass centroidal_matrix centroidal_momentum
        com_jacobian coriolis_matrix derivative elastic_blocks elastic_feedforward elastic_inverse force_rates
        forward_by_columns forward_dynamics forward_dynamics_derivatives gravity_forces hybrid_dynamics
        inbound_outbound inverse_dynamics inverse_dynamics_derivatives inverse_dynamics_hessian
        inverse_dynamics_hessian_vector jacobian jacobian_dot jerk joint_wrench_derivatives joint_wrench_rates
        joint_wrenches kinematics_derivatives kinetic_energy linearization link_jerks link_motions mass_matrix
        momentum motor_torques operational_inertia pose poses
        potential_energy recursive_lagrangian regressor unit_accelerations velocity wrench_at
    """,
    "linkwise.base_parameters": "BaseParameters base_parameters",
    "linkwise.closed": "Closed",
    "linkwise.compile": "compile",
    "linkwise.control": "cascaded_control cascaded_lyapunov computed_torque passivity_control",
    "linkwise.dynamics": "Dynamics",
    "linkwise.kernel": "Kernel",
    "linkwise.parallel": "Leg ParallelDynamics ParallelRobot delta gough_stewart three_rrr",
    "linkwise.errors": "InputError LinkwiseError ModelError SimulationError UnknownNameError",
    "linkwise.plan": """
        Path Plan Retimed Scaler State base_motion bound cyclic effort effort_rate energy inverse_kinematics
        joint_jerk keep_out limits mirrored passive plan power reaction retime scaler sweep term time tool_path via
    """,
    "linkwise.robot": """
        DHRow Diagnostic Drive Frame Friction Joint KhalilRow Limits Link Loop Mimic Motor Robot Spring beam khalil
        list_robots modified_dh permutation random_tree save standard_dh to_khalil to_modified_dh
    """,
    "linkwise.robot.load": "load",
    "linkwise.simulate": """
        Drag GroundContact GroundFriction JointStop ParallelSimulation RollingWheel Rollout Simulation Thrust
        compile_rollout joint_stops simulate simulate_parallel
    """,
    "linkwise.spatial": "Motion Pose Wrench",
    "linkwise.steps": "classical_acceleration component_acceleration difference integrate q_dot",
    "linkwise.trajectory.reversals": "reversals",
    "linkwise.vector": "Vec3",
}
_HOME = {name: module for module, names in _HOMES.items() for name in names.split()}


if not TYPE_CHECKING:  # a type checker that saw it would believe any name

    def __getattr__(name: str) -> Any:
        """A public name, from the module where it lives."""
        if name not in _HOME:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        inner = _HOME[name] == __name__  # a package of its own
        value = import_module(f"{__name__}.{name}") if inner else getattr(import_module(_HOME[name]), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


class _Package(ModuleType):
    """This package, in which a function keeps its name against the submodule it lives in, such as `compile`."""

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, ModuleType) and _HOME.get(name, __name__) != __name__:
            value = getattr(value, name)
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
