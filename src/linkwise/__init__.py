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

from linkwise._version import __version__ as __version__
from linkwise.locks import awaited_lock

if TYPE_CHECKING:  # what `__getattr__` below brings when it is first asked for; `_HOMES` has the same names
    from linkwise import gait as gait
    from linkwise.algorithms import Algorithm as Algorithm
    from linkwise.algorithms import World as World
    from linkwise.algorithms import acceleration as acceleration
    from linkwise.algorithms import algorithm as algorithm
    from linkwise.algorithms import bias_forces as bias_forces
    from linkwise.algorithms import centre_of_mass as centre_of_mass
    from linkwise.algorithms import centroidal_matrix as centroidal_matrix
    from linkwise.algorithms import centroidal_momentum as centroidal_momentum
    from linkwise.algorithms import com_jacobian as com_jacobian
    from linkwise.algorithms import coriolis_matrix as coriolis_matrix
    from linkwise.algorithms import derivative as derivative
    from linkwise.algorithms import elastic_blocks as elastic_blocks
    from linkwise.algorithms import elastic_feedforward as elastic_feedforward
    from linkwise.algorithms import elastic_inverse as elastic_inverse
    from linkwise.algorithms import force_rates as force_rates
    from linkwise.algorithms import forward_by_columns as forward_by_columns
    from linkwise.algorithms import forward_dynamics as forward_dynamics
    from linkwise.algorithms import forward_dynamics_derivatives as forward_dynamics_derivatives
    from linkwise.algorithms import gravity_forces as gravity_forces
    from linkwise.algorithms import hybrid_dynamics as hybrid_dynamics
    from linkwise.algorithms import inbound_outbound as inbound_outbound
    from linkwise.algorithms import inverse_dynamics as inverse_dynamics
    from linkwise.algorithms import inverse_dynamics_derivatives as inverse_dynamics_derivatives
    from linkwise.algorithms import inverse_dynamics_hessian as inverse_dynamics_hessian
    from linkwise.algorithms import inverse_dynamics_hessian_vector as inverse_dynamics_hessian_vector
    from linkwise.algorithms import jacobian as jacobian
    from linkwise.algorithms import jacobian_dot as jacobian_dot
    from linkwise.algorithms import jerk as jerk
    from linkwise.algorithms import joint_wrench_derivatives as joint_wrench_derivatives
    from linkwise.algorithms import joint_wrench_rates as joint_wrench_rates
    from linkwise.algorithms import joint_wrenches as joint_wrenches
    from linkwise.algorithms import kinematics_derivatives as kinematics_derivatives
    from linkwise.algorithms import kinetic_energy as kinetic_energy
    from linkwise.algorithms import linearization as linearization
    from linkwise.algorithms import link_jerks as link_jerks
    from linkwise.algorithms import link_motions as link_motions
    from linkwise.algorithms import mass_matrix as mass_matrix
    from linkwise.algorithms import momentum as momentum
    from linkwise.algorithms import motor_torques as motor_torques
    from linkwise.algorithms import operational_inertia as operational_inertia
    from linkwise.algorithms import pose as pose
    from linkwise.algorithms import poses as poses
    from linkwise.algorithms import potential_energy as potential_energy
    from linkwise.algorithms import recursive_lagrangian as recursive_lagrangian
    from linkwise.algorithms import regressor as regressor
    from linkwise.algorithms import unit_accelerations as unit_accelerations
    from linkwise.algorithms import velocity as velocity
    from linkwise.algorithms import wrench_at as wrench_at
    from linkwise.base_parameters import BaseParameters as BaseParameters
    from linkwise.base_parameters import base_parameters as base_parameters
    from linkwise.closed import Closed as Closed
    from linkwise.control import cascaded_control as cascaded_control
    from linkwise.control import cascaded_lyapunov as cascaded_lyapunov
    from linkwise.control import computed_torque as computed_torque
    from linkwise.control import passivity_control as passivity_control
    from linkwise.errors import InputError as InputError
    from linkwise.errors import LinkwiseError as LinkwiseError
    from linkwise.errors import ModelError as ModelError
    from linkwise.errors import SimulationError as SimulationError
    from linkwise.errors import UnknownNameError as UnknownNameError
    from linkwise.kernel.compile import compile as compile
    from linkwise.kernel.dynamics import Dynamics as Dynamics
    from linkwise.kernel.kernel import Kernel as Kernel
    from linkwise.parallel import Leg as Leg
    from linkwise.parallel import ParallelDynamics as ParallelDynamics
    from linkwise.parallel import ParallelRobot as ParallelRobot
    from linkwise.parallel import delta as delta
    from linkwise.parallel import gough_stewart as gough_stewart
    from linkwise.parallel import three_rrr as three_rrr
    from linkwise.plan import Path as Path
    from linkwise.plan import Plan as Plan
    from linkwise.plan import Retimed as Retimed
    from linkwise.plan import Scaler as Scaler
    from linkwise.plan import State as State
    from linkwise.plan import base_motion as base_motion
    from linkwise.plan import bound as bound
    from linkwise.plan import cyclic as cyclic
    from linkwise.plan import effort as effort
    from linkwise.plan import effort_rate as effort_rate
    from linkwise.plan import energy as energy
    from linkwise.plan import inverse_kinematics as inverse_kinematics
    from linkwise.plan import joint_jerk as joint_jerk
    from linkwise.plan import keep_out as keep_out
    from linkwise.plan import limits as limits
    from linkwise.plan import mirrored as mirrored
    from linkwise.plan import passive as passive
    from linkwise.plan import plan as plan
    from linkwise.plan import power as power
    from linkwise.plan import reaction as reaction
    from linkwise.plan import retime as retime
    from linkwise.plan import scaler as scaler
    from linkwise.plan import sweep as sweep
    from linkwise.plan import term as term
    from linkwise.plan import time as time
    from linkwise.plan import tool_path as tool_path
    from linkwise.plan import via as via
    from linkwise.robot import DHRow as DHRow
    from linkwise.robot import Diagnostic as Diagnostic
    from linkwise.robot import Drive as Drive
    from linkwise.robot import Frame as Frame
    from linkwise.robot import Friction as Friction
    from linkwise.robot import Joint as Joint
    from linkwise.robot import KhalilRow as KhalilRow
    from linkwise.robot import Limits as Limits
    from linkwise.robot import Link as Link
    from linkwise.robot import Loop as Loop
    from linkwise.robot import Mimic as Mimic
    from linkwise.robot import Motor as Motor
    from linkwise.robot import Robot as Robot
    from linkwise.robot import Spring as Spring
    from linkwise.robot import beam as beam
    from linkwise.robot import khalil as khalil
    from linkwise.robot import list_robots as list_robots
    from linkwise.robot import modified_dh as modified_dh
    from linkwise.robot import permutation as permutation
    from linkwise.robot import random_tree as random_tree
    from linkwise.robot import save as save
    from linkwise.robot import standard_dh as standard_dh
    from linkwise.robot import to_khalil as to_khalil
    from linkwise.robot import to_modified_dh as to_modified_dh
    from linkwise.robot.library.parallel import list_parallel_robots as list_parallel_robots
    from linkwise.robot.load import load as load
    from linkwise.simulate import Drag as Drag
    from linkwise.simulate import GroundContact as GroundContact
    from linkwise.simulate import GroundFriction as GroundFriction
    from linkwise.simulate import JointStop as JointStop
    from linkwise.simulate import ParallelSimulation as ParallelSimulation
    from linkwise.simulate import RollingWheel as RollingWheel
    from linkwise.simulate import Rollout as Rollout
    from linkwise.simulate import Simulation as Simulation
    from linkwise.simulate import Thrust as Thrust
    from linkwise.simulate import compile_rollout as compile_rollout
    from linkwise.simulate import joint_stops as joint_stops
    from linkwise.simulate import simulate as simulate
    from linkwise.simulate import simulate_parallel as simulate_parallel
    from linkwise.spatial import Motion as Motion
    from linkwise.spatial import Pose as Pose
    from linkwise.spatial import Wrench as Wrench
    from linkwise.steps import classical_acceleration as classical_acceleration
    from linkwise.steps import component_acceleration as component_acceleration
    from linkwise.steps import difference as difference
    from linkwise.steps import integrate as integrate
    from linkwise.steps import q_dot as q_dot
    from linkwise.trajectory.reversals import reversals as reversals
    from linkwise.vector import Vec3 as Vec3

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
    "linkwise.kernel.compile": "compile",
    "linkwise.control": "cascaded_control cascaded_lyapunov computed_torque passivity_control",
    "linkwise.kernel.dynamics": "Dynamics",
    "linkwise.kernel.kernel": "Kernel",
    "linkwise.parallel": "Leg ParallelDynamics ParallelRobot delta gough_stewart three_rrr",
    "linkwise.errors": "InputError LinkwiseError ModelError SimulationError UnknownNameError",
    "linkwise.plan": """
        Path Plan Retimed Scaler State base_motion bound cyclic effort effort_rate energy inverse_kinematics
        joint_jerk keep_out limits mirrored passive plan power reaction retime scaler sweep term time tool_path via
    """,
    "linkwise.robot.library.parallel": "list_parallel_robots",
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
_loading = awaited_lock()  # in a child that is forked meanwhile a module would stay half loaded


if not TYPE_CHECKING:  # type checkers have the names from above, and would believe any that `__getattr__` takes
    __all__ = sorted([*_HOME, "__version__"])

    def __getattr__(name: str) -> Any:
        """A public name, from the module where it lives."""
        if name not in _HOME:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        inner = _HOME[name] == __name__  # a package of its own
        with _loading:
            value = import_module(f"{__name__}.{name}") if inner else getattr(import_module(_HOME[name]), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME})


class _Package(ModuleType):
    """This package, in which a function keeps its name against the submodule it lives in, such as `compile`."""

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, ModuleType) and _HOME.get(name, __name__) != __name__:
            value = getattr(value, name)
        super().__setattr__(name, value)

    def __reduce__(self) -> Any:
        return import_module, (__name__,)  # by name, as every module travels


sys.modules[__name__].__class__ = _Package
