"""Robot dynamics, link by link: recursive Newton-Euler algorithms as native NumPy functions.

>>> import linkwise as lw
>>> robot = lw.load("arm.urdf")
>>> dyn = lw.compile(robot)
>>> tau = dyn.inverse_dynamics(q, qd, qdd)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from linkwise._version import __version__ as __version__
from linkwise.locks import loading as _loading

if TYPE_CHECKING:  # what `__getattr__` below brings when it is first asked for; `_HOMES` has the same names
    from linkwise import algorithms as algorithms
    from linkwise import control as control
    from linkwise import cost as cost
    from linkwise import dh as dh
    from linkwise import identification as identification
    from linkwise import limit as limit
    from linkwise import motion as motion
    from linkwise import planning as planning
    from linkwise import platforms as platforms
    from linkwise import simulation as simulation
    from linkwise import walking as walking
    from linkwise.algorithms import Algorithm as Algorithm
    from linkwise.algorithms import algorithm as algorithm
    from linkwise.algorithms import derivative as derivative
    from linkwise.algorithms import force_rates as force_rates
    from linkwise.algorithms import forward_dynamics as forward_dynamics
    from linkwise.algorithms import forward_dynamics_derivatives as forward_dynamics_derivatives
    from linkwise.algorithms import hybrid_dynamics as hybrid_dynamics
    from linkwise.algorithms import inverse_dynamics as inverse_dynamics
    from linkwise.algorithms import inverse_dynamics_derivatives as inverse_dynamics_derivatives
    from linkwise.algorithms import jacobian as jacobian
    from linkwise.algorithms import joint_wrench_rates as joint_wrench_rates
    from linkwise.algorithms import joint_wrenches as joint_wrenches
    from linkwise.algorithms import mass_matrix as mass_matrix
    from linkwise.algorithms import pose as pose
    from linkwise.algorithms import regressor as regressor
    from linkwise.errors import InputError as InputError
    from linkwise.errors import LinkwiseError as LinkwiseError
    from linkwise.errors import ModelError as ModelError
    from linkwise.errors import SimulationError as SimulationError
    from linkwise.errors import UnknownNameError as UnknownNameError
    from linkwise.formats.dh import khalil as khalil
    from linkwise.formats.dh import modified_dh as modified_dh
    from linkwise.formats.dh import standard_dh as standard_dh
    from linkwise.formats.registry import list_robots as list_robots
    from linkwise.formats.registry import load as load
    from linkwise.formats.registry import save as save
    from linkwise.identification.identify import identify as identify
    from linkwise.kernel.base_parameters import base_parameters as base_parameters
    from linkwise.kernel.compile import compile as compile
    from linkwise.kernel.dynamics import Dynamics as Dynamics
    from linkwise.kernel.kernel import Kernel as Kernel
    from linkwise.motion import read_log as read_log
    from linkwise.planning import inverse_kinematics as inverse_kinematics
    from linkwise.planning import move as move
    from linkwise.planning import plan as plan
    from linkwise.planning import retime as retime
    from linkwise.planning import scaler as scaler
    from linkwise.planning import sweep as sweep
    from linkwise.platforms import delta as delta
    from linkwise.platforms import gough_stewart as gough_stewart
    from linkwise.platforms import three_rrr as three_rrr
    from linkwise.robot import Drive as Drive
    from linkwise.robot import Frame as Frame
    from linkwise.robot import Friction as Friction
    from linkwise.robot import Joint as Joint
    from linkwise.robot import Limits as Limits
    from linkwise.robot import Link as Link
    from linkwise.robot import Loop as Loop
    from linkwise.robot import Mimic as Mimic
    from linkwise.robot import Motor as Motor
    from linkwise.robot import Robot as Robot
    from linkwise.robot import Shape as Shape
    from linkwise.robot import Spring as Spring
    from linkwise.robot import beam as beam
    from linkwise.robot import permutation as permutation
    from linkwise.robot import random_tree as random_tree
    from linkwise.simulation import compile_rollout as compile_rollout
    from linkwise.simulation import simulate as simulate
    from linkwise.spatial import Motion as Motion
    from linkwise.spatial import Pose as Pose
    from linkwise.spatial import Wrench as Wrench
    from linkwise.vector import Vec3 as Vec3
    from linkwise.view.live import show as show

# where each public name lives; its module is imported when the name is first used, so that `import linkwise` is free
_HOMES = {
    "linkwise": "algorithms control cost dh identification limit motion planning platforms simulation walking",
    "linkwise.algorithms": """
        Algorithm algorithm derivative force_rates forward_dynamics forward_dynamics_derivatives hybrid_dynamics
        inverse_dynamics inverse_dynamics_derivatives jacobian joint_wrench_rates joint_wrenches mass_matrix
        pose regressor
    """,
    "linkwise.errors": "InputError LinkwiseError ModelError SimulationError UnknownNameError",
    "linkwise.identification.identify": "identify",
    "linkwise.kernel.base_parameters": "base_parameters",
    "linkwise.kernel.compile": "compile",
    "linkwise.kernel.dynamics": "Dynamics",
    "linkwise.kernel.kernel": "Kernel",
    "linkwise.formats.dh": "khalil modified_dh standard_dh",
    "linkwise.formats.registry": "list_robots load save",
    "linkwise.motion": "read_log",
    "linkwise.platforms": "delta gough_stewart three_rrr",
    "linkwise.planning": "inverse_kinematics move plan retime scaler sweep",
    "linkwise.robot": """
        Drive Frame Friction Joint Limits Link Loop Mimic Motor Robot Shape Spring beam permutation random_tree
    """,
    "linkwise.simulation": "compile_rollout simulate",
    "linkwise.spatial": "Motion Pose Wrench",
    "linkwise.vector": "Vec3",
    "linkwise.view.live": "show",
}
_HOME = {name: module for module, names in _HOMES.items() for name in names.split()}


if not TYPE_CHECKING:  # type checkers have the names from above, and would believe any that `__getattr__` takes
    __all__ = sorted([*_HOME, "__version__"])

    def __getattr__(name: str) -> Any:
        """A public name, from the module where it lives."""
        if name not in _HOME:
            from linkwise.deprecated import MOVED, moved

            if name in MOVED:
                with _loading:
                    return moved(name)
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        inner = _HOME[name] == __name__  # a module of its own
        with _loading:
            value = import_module(f"{__name__}.{name}") if inner else getattr(import_module(_HOME[name]), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME})
