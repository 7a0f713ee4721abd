"""Robot dynamics, link by link: recursive Newton-Euler algorithms as native NumPy functions.

>>> import linkwise as lw
>>> robot = lw.load("arm.urdf")
>>> dyn = lw.compile(robot)
>>> tau = dyn.inverse_dynamics(q, qd, qdd)
"""

from linkwise._version import __version__
from linkwise.algorithms import (
    Algorithm,
    World,
    acceleration,
    algorithm,
    bias_forces,
    coriolis_matrix,
    gravity_forces,
    inverse_dynamics,
    jacobian,
    joint_wrenches,
    kinetic_energy,
    mass_matrix,
    momentum,
    pose,
    poses,
    potential_energy,
    regressor,
    velocity,
    wrench_at,
)
from linkwise.base_parameters import BaseParameters, base_parameters
from linkwise.compile import Dynamics, Kernel, compile
from linkwise.errors import InputError, LinkwiseError, ModelError, UnknownNameError
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
    modified_dh,
    permutation,
    random_tree,
    standard_dh,
)
from linkwise.robot.load import load
from linkwise.spatial import Pose

__all__ = [
    "Algorithm",
    "BaseParameters",
    "DHRow",
    "Diagnostic",
    "Drive",
    "Dynamics",
    "Frame",
    "Friction",
    "InputError",
    "Joint",
    "Kernel",
    "KhalilRow",
    "Limits",
    "Link",
    "LinkwiseError",
    "Loop",
    "Mimic",
    "ModelError",
    "Motor",
    "Pose",
    "Robot",
    "Spring",
    "UnknownNameError",
    "World",
    "__version__",
    "acceleration",
    "algorithm",
    "base_parameters",
    "bias_forces",
    "compile",
    "coriolis_matrix",
    "gravity_forces",
    "inverse_dynamics",
    "jacobian",
    "joint_wrenches",
    "khalil",
    "kinetic_energy",
    "load",
    "mass_matrix",
    "modified_dh",
    "momentum",
    "permutation",
    "pose",
    "poses",
    "potential_energy",
    "random_tree",
    "regressor",
    "standard_dh",
    "velocity",
    "wrench_at",
]
