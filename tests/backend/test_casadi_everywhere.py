"""All algorithms of many robots in CasADi, against the kernels and against our derivatives."""

import casadi as ca
import numpy as np
import pytest

import linkwise as lw
from linkwise.backend import arrays
from linkwise.errors import LinkwiseError
from linkwise.graph.differential import forward
from linkwise.kernel.export.parts import Part
from linkwise.robot.edit import floating
from support.arms import two_link
from support.every_algorithm import kernels, lost
from support.every_machine import TABLE, sort
from support.pinocchio_bridge import example

CLOSE, CLOSE_SLOPES = 1e-12, 1e-10  # of the largest number of an output, or 1
FILES = ("ur5_robot.urdf", "panda.urdf", "solo12.urdf", "talos_reduced.urdf")
ROBOTS = ("rr", "scara", "stanford", "puma560", "industrial6", "arm7", *FILES)
LONGEST = 3000  # operations of functions with Newton's method, which are compiled with their derivatives
FEW = ("inverse_dynamics", "elastic_inverse", "mass_matrix", "joint_wrench_rates", "computed_torque", "pose")


def robot_of(name):
    if not name.endswith(".urdf"):
        return lw.load(name)
    robot = lw.load(example(name))
    return floating(robot) if name == "solo12.urdf" else robot


def columns(x, port):
    """Numbers of a port as CasADi has them: all axes but the last are rows."""
    return ca.DM(np.reshape(x, (-1, port[-1] if len(port) > 1 else 1)))


def apart(found, expected):
    """The largest difference, as a part of the largest number or 1; what is no number is none in both."""
    largest = 0.0
    for x, b in zip(found, expected, strict=True):
        a, b = np.array(ca.densify(x)).ravel(), np.ravel(b)
        known = np.isfinite(b)
        np.testing.assert_array_equal(np.isfinite(a), known)
        if known.any():
            largest = max(largest, np.abs(a - b)[known].max() / max(1.0, np.abs(b[known]).max()))
    return largest


def differences(kernel):
    """How far the function of CasADi is from the kernel, and its slope along a random direction from ours."""
    program, ports = kernel.program, list(kernel.inputs.values())
    function = kernel.casadi(compiled=program.before is not None)
    inputs, outputs = Part("", kernel).numbers
    rng = np.random.default_rng(0)
    ours = arrays.function(forward(program.whole, list(kernel.inputs)))
    slope = function.forward(1)
    values, slopes = [], []
    for row in range(len(inputs[0])):
        x = [v[row] for v in inputs]
        d = [rng.uniform(-1.0, 1.0, v.shape) for v in x]
        given, along = ([columns(v, p) for v, p in zip(group, ports, strict=True)] for group in (x, d))
        found = function.call(given)
        values.append(apart(found, [v[row] for v in outputs]))
        wanted = ours(*(np.reshape(v, p) for v, p in zip([*x, *d], 2 * ports, strict=True)))
        slopes.append(apart(slope.call([*given, *found, *along]), wanted if len(outputs) > 1 else [wanted]))
    return max(values), max(slopes)


def check(robot, options, least, some=None):
    largest, refused = {}, []
    for name, kernel in kernels(robot, options, some):
        if kernel.program.before and sum(kernel.program.lengths) > LONGEST:
            refused.append(name)
            continue
        try:
            largest[name] = value, slope = differences(kernel)
        except LinkwiseError as error:  # the matrices of large robots are computed column by column
            assert "expected a smaller robot" in str(error)  # noqa: PT017
            refused.append(name)
            continue
        more = lost(kernel)
        assert value < max(CLOSE, more), name
        assert slope < max(CLOSE_SLOPES, 100.0 * more), name
    for what, at in {"values": 0, "slopes": 1}.items():
        worst = max(largest, key=lambda name, at=at: largest[name][at])
        print(f"{robot.name}, {len(largest)} algorithms: {what} apart by {largest[worst][at]:.1e} ({worst})")
    print(f"{robot.name}: not in one function: {', '.join(refused) or 'none'}")
    assert len(largest) >= least


def test_of_two_links():
    """A few; those of the slow tests are all."""
    check(two_link(), {}, len(FEW), FEW)


@pytest.mark.slow
@pytest.mark.parametrize("name", ROBOTS)
def test_of_robots(name):
    check(robot_of(name), {}, 45)


@pytest.mark.slow
@pytest.mark.parametrize("name", TABLE)
def test_of_machines(name):
    machine = sort(name)
    check(machine.robot, {"base_motion": True, "gravity": "input"} if machine.base_motion else {}, 25)
