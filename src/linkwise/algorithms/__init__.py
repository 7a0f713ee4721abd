"""Algorithms of robot dynamics, one a file, each written once for any scalar."""

from linkwise.algorithms.algorithm import Algorithm as Algorithm
from linkwise.algorithms.algorithm import World as World
from linkwise.algorithms.algorithm import algorithm as algorithm
from linkwise.algorithms.coriolis import coriolis_matrix as coriolis_matrix
from linkwise.algorithms.energy import kinetic_energy as kinetic_energy
from linkwise.algorithms.energy import momentum as momentum
from linkwise.algorithms.energy import potential_energy as potential_energy
from linkwise.algorithms.forces import bias_forces as bias_forces
from linkwise.algorithms.forces import gravity_forces as gravity_forces
from linkwise.algorithms.forward_dynamics import forward_dynamics as forward_dynamics
from linkwise.algorithms.hybrid_dynamics import hybrid_dynamics as hybrid_dynamics
from linkwise.algorithms.inbound_outbound import inbound_outbound as inbound_outbound
from linkwise.algorithms.inverse_dynamics import inverse_dynamics as inverse_dynamics
from linkwise.algorithms.inverse_dynamics import joint_wrenches as joint_wrenches
from linkwise.algorithms.inverse_dynamics import wrench_at as wrench_at
from linkwise.algorithms.kinematics import acceleration as acceleration
from linkwise.algorithms.kinematics import jacobian as jacobian
from linkwise.algorithms.kinematics import pose as pose
from linkwise.algorithms.kinematics import poses as poses
from linkwise.algorithms.kinematics import velocity as velocity
from linkwise.algorithms.mass_matrix import mass_matrix as mass_matrix
from linkwise.algorithms.regressor import regressor as regressor
from linkwise.algorithms.walker_orin import unit_accelerations as unit_accelerations
