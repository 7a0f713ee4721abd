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
        forward_dynamics,
        gravity_forces,
        hybrid_dynamics,
        inbound_outbound,
        inverse_dynamics,
        jacobian,
        joint_wrenches,
        kinetic_energy,
        mass_matrix,
        momentum,
        operational_inertia,
        pose,
        poses,
        potential_energy,
        regressor,
        unit_accelerations,
        velocity,
        wrench_at,
    )
    from linkwise.base_parameters import BaseParameters, base_parameters
    from linkwise.compile import compile
    from linkwise.dynamics import Dynamics
    from linkwise.errors import InputError, LinkwiseError, ModelError, SimulationError, UnknownNameError
    from linkwise.kernel import Kernel
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
        RollingWheel,
        Rollout,
        Simulation,
        Thrust,
        compile_rollout,
        joint_stops,
        simulate,
    )
    from linkwise.spatial import Motion, Pose, Wrench
    from linkwise.steps import classical_acceleration, component_acceleration, difference, integrate, q_dot
    from linkwise.vector import Vec3

__all__ = [
    "Algorithm",
    "BaseParameters",
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
    "Limits",
    "Link",
    "LinkwiseError",
    "Loop",
    "Mimic",
    "ModelError",
    "Motion",
    "Motor",
    "Pose",
    "Robot",
    "RollingWheel",
    "Rollout",
    "Simulation",
    "SimulationError",
    "Spring",
    "Thrust",
    "UnknownNameError",
    "Vec3",
    "World",
    "Wrench",
    "__version__",
    "acceleration",
    "algorithm",
    "base_parameters",
    "bias_forces",
    "centre_of_mass",
    "centroidal_matrix",
    "centroidal_momentum",
    "classical_acceleration",
    "com_jacobian",
    "compile",
    "compile_rollout",
    "component_acceleration",
    "coriolis_matrix",
    "difference",
    "forward_dynamics",
    "gravity_forces",
    "hybrid_dynamics",
    "inbound_outbound",
    "integrate",
    "inverse_dynamics",
    "jacobian",
    "joint_stops",
    "joint_wrenches",
    "khalil",
    "kinetic_energy",
    "list_robots",
    "load",
    "mass_matrix",
    "modified_dh",
    "momentum",
    "operational_inertia",
    "permutation",
    "pose",
    "poses",
    "potential_energy",
    "q_dot",
    "random_tree",
    "regressor",
    "save",
    "simulate",
    "standard_dh",
    "to_khalil",
    "to_modified_dh",
    "unit_accelerations",
    "velocity",
    "wrench_at",
]

# where each public name lives; its module is imported when the name is first used, so that `import linkwise` is free
_HOMES = {
    "linkwise.algorithms": """
        Algorithm World acceleration algorithm bias_forces centre_of_mass centroidal_matrix centroidal_momentum
        com_jacobian coriolis_matrix forward_dynamics gravity_forces hybrid_dynamics inbound_outbound inverse_dynamics
        jacobian joint_wrenches kinetic_energy mass_matrix momentum operational_inertia pose poses potential_energy
        regressor unit_accelerations velocity wrench_at
    """,
    "linkwise.base_parameters": "BaseParameters base_parameters",
    "linkwise.compile": "compile",
    "linkwise.dynamics": "Dynamics",
    "linkwise.kernel": "Kernel",
    "linkwise.errors": "InputError LinkwiseError ModelError SimulationError UnknownNameError",
    "linkwise.robot": """
        DHRow Diagnostic Drive Frame Friction Joint KhalilRow Limits Link Loop Mimic Motor Robot Spring khalil
        list_robots modified_dh permutation random_tree save standard_dh to_khalil to_modified_dh
    """,
    "linkwise.robot.load": "load",
    "linkwise.simulate": """
        Drag GroundContact GroundFriction JointStop RollingWheel Rollout Simulation Thrust compile_rollout joint_stops
        simulate
    """,
    "linkwise.spatial": "Motion Pose Wrench",
    "linkwise.steps": "classical_acceleration component_acceleration difference integrate q_dot",
    "linkwise.vector": "Vec3",
}
_HOME = {name: module for module, names in _HOMES.items() for name in names.split()}


if not TYPE_CHECKING:  # a type checker that saw it would believe any name

    def __getattr__(name: str) -> Any:
        """A public name, from the module where it lives."""
        if name not in _HOME:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(import_module(_HOME[name]), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


class _Package(ModuleType):
    """This package, in which a function keeps its name against the submodule it lives in, such as `compile`."""

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, ModuleType) and name in _HOME:
            value = getattr(value, name)
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
