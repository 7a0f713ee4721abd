"""Names of the last release, which work for one more and say what they are called now."""

from __future__ import annotations

import warnings
from typing import Any


def _in(home: str, names: str) -> dict[str, str]:
    """Names that stay the same in a module, or in the several that "or" joins."""
    return {name: " or ".join(f"{h}.{name}" for h in home.split(" or ")) for name in names.split()}


# where the public names of 0.1 are now; the page of migration has the same table
MOVED: dict[str, str] = {
    # modules
    "gait": "lw.walking",
    "trajectory": "lw.motion",
    # what a plan makes small
    **_in("lw.cost", "time effort effort_rate power energy"),
    "joint_jerk": "lw.cost.jerk",
    "term": "lw.cost.function",
    # what a plan respects
    "limits": "lw.limit.joints",
    "keep_out": "lw.limit.clearance",
    "bound": "lw.limit.function",
    **_in("lw.limit", "via passive cyclic mirrored"),
    "base_motion": "lw.plan",
    # either
    "reaction": "lw.cost.reaction or lw.limit.reaction",
    "tool_path": "lw.cost.tool_path or lw.limit.tool_path",
    # what is given to plans and what they give
    **_in("lw.planning", "Path Plan Retimed Scaler State"),
    # robots
    **_in("lw.dh", "DHRow KhalilRow to_khalil to_modified_dh"),
    # platforms on legs
    "Leg": "lw.platforms.Leg",
    "ParallelRobot": "lw.platforms.on_legs",
    "ParallelDynamics": "lw.Dynamics",
    "ParallelSimulation": "lw.simulation.Simulation",
    "simulate_parallel": "lw.simulate",
    "list_parallel_robots": "lw.list_robots",
    # classes of what functions give
    "Diagnostic": "linkwise.robot.Diagnostic",
    "BaseParameters": "linkwise.kernel.base_parameters.BaseParameters",
    "Closed": "lw.Dynamics",
    # simulations and the laws of what surrounds them
    **_in(
        "lw.simulation",
        """
        Drag GroundContact GroundFriction JointStop RollingWheel Rollout Simulation Thrust joint_stops
        """,
    ),
    # controllers and motions
    **_in("lw.control", "cascaded_control cascaded_lyapunov computed_torque passivity_control"),
    "reversals": "lw.motion.reversals",
    # algorithms
    **_in(
        "lw.algorithms",
        """
        World acceleration bias_forces centre_of_mass centroidal_matrix centroidal_momentum com_jacobian coriolis_matrix
        elastic_blocks elastic_feedforward elastic_inverse forward_by_columns gravity_forces inbound_outbound
        inverse_dynamics_hessian inverse_dynamics_hessian_vector jacobian_dot jerk joint_wrench_derivatives
        kinematics_derivatives kinetic_energy linearization link_jerks link_motions momentum motor_torques
        operational_inertia poses potential_energy recursive_lagrangian unit_accelerations velocity wrench_at
        """,
    ),
    # steps between configurations: members of what is compiled, or algorithms to compile
    **_in(
        "lw.Dynamics or lw.algorithms",
        "classical_acceleration component_acceleration difference integrate q_dot",
    ),
}
# what an old name still gives where that is not what the new one does
_KEPT = {
    **_in("linkwise.planning.former_costs", "reaction tool_path"),
    "base_motion": "linkwise.planning.constraints.base_motion",
    "ParallelRobot": "linkwise.platforms.former.parallel_robot",
    **_in("linkwise.kernel.steps", "classical_acceleration component_acceleration difference integrate q_dot"),
}
# keys of problem files, by the old ones
RENAMED_KEYS = {"joint_jerk": "jerk", "keep_out": "clearance"}


def moved(name: str) -> Any:
    """What a public name of the last release stands for, with a warning where it is used."""
    from pkgutil import resolve_name

    value = resolve_name(_KEPT.get(name) or addresses(name)[0])  # first: imports can make Python forget whom it told
    warn(f"lw.{name}", MOVED[name], depth=4)
    return value


def addresses(name: str) -> list[str]:
    """The import paths of what a public name of the last release has become."""
    return [new.replace("lw.", "linkwise.", 1) for new in MOVED[name].split(" or ")]


def warn(old: str, new: str, depth: int = 3) -> None:
    """Say that a name is another one now.

    Args:
        old: name, as it is written.
        new: name, or several with "or" between them.
        depth: of the calls between the place to blame and the warning; 3 is the caller of the function that calls this.
    """
    warnings.warn(f"{old} is now {new}; the old name works until the next release.", DeprecationWarning, depth)
