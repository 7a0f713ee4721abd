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
from linkwise.compile import Dynamics, Kernel, compile
from linkwise.errors import InputError, LinkwiseError, ModelError, UnknownNameError
from linkwise.robot import (
    Diagnostic,
    Drive,
    Frame,
    Friction,
    Joint,
    Limits,
    Link,
    Loop,
    Mimic,
    Motor,
    Robot,
    Spring,
    permutation,
    random_tree,
)
from linkwise.robot.load import load
from linkwise.spatial import Pose

__all__ = [
    "Algorithm",
    "Diagnostic",
    "Drive",
    "Dynamics",
    "Frame",
    "Friction",
    "InputError",
    "Joint",
    "Kernel",
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
    "bias_forces",
    "compile",
    "coriolis_matrix",
    "gravity_forces",
    "inverse_dynamics",
    "jacobian",
    "joint_wrenches",
    "kinetic_energy",
    "load",
    "mass_matrix",
    "momentum",
    "permutation",
    "pose",
    "poses",
    "potential_energy",
    "random_tree",
    "regressor",
    "velocity",
    "wrench_at",
]
