"""Algorithms of robot dynamics, one a file, each written once for any scalar."""

from __future__ import annotations

from typing import TYPE_CHECKING

from linkwise.lazy import lazy

if TYPE_CHECKING:  # what comes when it is first asked for; the table below has the same names
    from linkwise.algorithms.algorithm import Algorithm as Algorithm
    from linkwise.algorithms.algorithm import World as World
    from linkwise.algorithms.algorithm import algorithm as algorithm
    from linkwise.algorithms.centroidal import centre_of_mass as centre_of_mass
    from linkwise.algorithms.centroidal import centroidal_matrix as centroidal_matrix
    from linkwise.algorithms.centroidal import centroidal_momentum as centroidal_momentum
    from linkwise.algorithms.centroidal import com_jacobian as com_jacobian
    from linkwise.algorithms.classical import classical_acceleration as classical_acceleration
    from linkwise.algorithms.classical import component_acceleration as component_acceleration
    from linkwise.algorithms.clearance import clearance as clearance
    from linkwise.algorithms.clearance import link_distance_derivatives as link_distance_derivatives
    from linkwise.algorithms.clearance import link_distances as link_distances
    from linkwise.algorithms.closure import drive_jacobian as drive_jacobian
    from linkwise.algorithms.closure import share as share
    from linkwise.algorithms.closure import tree_jacobian as tree_jacobian
    from linkwise.algorithms.closure import tree_jerks as tree_jerks
    from linkwise.algorithms.closure import tree_motion as tree_motion
    from linkwise.algorithms.closure import tree_positions as tree_positions
    from linkwise.algorithms.coriolis import coriolis_matrix as coriolis_matrix
    from linkwise.algorithms.derivative_of import derivative as derivative
    from linkwise.algorithms.derivatives import forward_dynamics_derivatives as forward_dynamics_derivatives
    from linkwise.algorithms.derivatives import inverse_dynamics_derivatives as inverse_dynamics_derivatives
    from linkwise.algorithms.derivatives import inverse_dynamics_hessian as inverse_dynamics_hessian
    from linkwise.algorithms.derivatives import inverse_dynamics_hessian_vector as inverse_dynamics_hessian_vector
    from linkwise.algorithms.derivatives import joint_wrench_derivatives as joint_wrench_derivatives
    from linkwise.algorithms.elastic import elastic_blocks as elastic_blocks
    from linkwise.algorithms.elastic import motor_torques as motor_torques
    from linkwise.algorithms.elastic_feedforward import elastic_feedforward as elastic_feedforward
    from linkwise.algorithms.elastic_inverse import elastic_inverse as elastic_inverse
    from linkwise.algorithms.energy import kinetic_energy as kinetic_energy
    from linkwise.algorithms.energy import momentum as momentum
    from linkwise.algorithms.energy import potential_energy as potential_energy
    from linkwise.algorithms.force_rates import force_rates as force_rates
    from linkwise.algorithms.force_rates import joint_wrench_rates as joint_wrench_rates
    from linkwise.algorithms.forces import bias_forces as bias_forces
    from linkwise.algorithms.forces import gravity_forces as gravity_forces
    from linkwise.algorithms.forward_by_columns import forward_by_columns as forward_by_columns
    from linkwise.algorithms.forward_dynamics import forward_dynamics as forward_dynamics
    from linkwise.algorithms.hybrid_dynamics import hybrid_dynamics as hybrid_dynamics
    from linkwise.algorithms.inbound_outbound import inbound_outbound as inbound_outbound
    from linkwise.algorithms.integration import difference as difference
    from linkwise.algorithms.integration import integrate as integrate
    from linkwise.algorithms.integration import q_dot as q_dot
    from linkwise.algorithms.inverse_dynamics import inverse_dynamics as inverse_dynamics
    from linkwise.algorithms.inverse_dynamics import joint_wrenches as joint_wrenches
    from linkwise.algorithms.inverse_dynamics import wrench_at as wrench_at
    from linkwise.algorithms.jerks import jerk as jerk
    from linkwise.algorithms.jerks import link_jerks as link_jerks
    from linkwise.algorithms.kinematics import acceleration as acceleration
    from linkwise.algorithms.kinematics import jacobian as jacobian
    from linkwise.algorithms.kinematics import jacobian_dot as jacobian_dot
    from linkwise.algorithms.kinematics import pose as pose
    from linkwise.algorithms.kinematics import poses as poses
    from linkwise.algorithms.kinematics import velocity as velocity
    from linkwise.algorithms.kinematics_derivatives import kinematics_derivatives as kinematics_derivatives
    from linkwise.algorithms.linearization import linearization as linearization
    from linkwise.algorithms.link_motions import link_motions as link_motions
    from linkwise.algorithms.mass_matrix import mass_matrix as mass_matrix
    from linkwise.algorithms.operational import operational_inertia as operational_inertia
    from linkwise.algorithms.recursive_lagrangian import recursive_lagrangian as recursive_lagrangian
    from linkwise.algorithms.regressor import regressor as regressor
    from linkwise.algorithms.walker_orin import unit_accelerations as unit_accelerations

lazy(
    __name__,
    {
        "algorithm": "Algorithm World algorithm",
        "centroidal": "centre_of_mass centroidal_matrix centroidal_momentum com_jacobian",
        "classical": "classical_acceleration component_acceleration",
        "clearance": "clearance link_distance_derivatives link_distances",
        "closure": "drive_jacobian share tree_jacobian tree_jerks tree_motion tree_positions",
        "coriolis": "coriolis_matrix",
        "derivative_of": "derivative",
        "derivatives": """
            forward_dynamics_derivatives inverse_dynamics_derivatives inverse_dynamics_hessian
            inverse_dynamics_hessian_vector joint_wrench_derivatives
        """,
        "elastic": "elastic_blocks motor_torques",
        "elastic_feedforward": "elastic_feedforward",
        "elastic_inverse": "elastic_inverse",
        "energy": "kinetic_energy momentum potential_energy",
        "force_rates": "force_rates joint_wrench_rates",
        "forces": "bias_forces gravity_forces",
        "forward_by_columns": "forward_by_columns",
        "forward_dynamics": "forward_dynamics",
        "hybrid_dynamics": "hybrid_dynamics",
        "inbound_outbound": "inbound_outbound",
        "integration": "difference integrate q_dot",
        "inverse_dynamics": "inverse_dynamics joint_wrenches wrench_at",
        "jerks": "jerk link_jerks",
        "kinematics": "acceleration jacobian jacobian_dot pose poses velocity",
        "kinematics_derivatives": "kinematics_derivatives",
        "linearization": "linearization",
        "link_motions": "link_motions",
        "mass_matrix": "mass_matrix",
        "operational": "operational_inertia",
        "recursive_lagrangian": "recursive_lagrangian",
        "regressor": "regressor",
        "walker_orin": "unit_accelerations",
    },
)
