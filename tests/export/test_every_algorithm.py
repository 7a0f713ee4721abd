"""The C of every algorithm compiles without a warning and gives the kernel's numbers."""

import numpy as np
import pytest

import linkwise as lw
from linkwise.cli.export import known
from support import avr, cortex
from support.arms import arm
from support.every_algorithm import kernels, lost
from support.every_machine import sort
from support.exported import worst_in_c
from support.pinocchio_bridge import example

CLOSE = 1e-13  # of the largest number of an output: some hundred roundings
LONGEST = 6000  # operations: compilers take minutes for much more


def check(robot, options, folder, least, some=None):
    count = 0
    for name, kernel in kernels(robot, options, some):
        if sum(kernel.program.lengths) <= LONGEST:
            kernel.export(folder / name, name="robot")
            assert worst_in_c(folder / name) < max(CLOSE, lost(kernel)), name
            count += 1
    assert count >= least


FEW = ("passivity_control", "linearization", "regressor", "joint_wrench_rates", "pose", "integrate")


def test_of_an_arm(tmp_path):
    """A few; those of the slow tests are all."""
    check(arm(2), {}, tmp_path, len(FEW), FEW)


def test_names_of_all():
    assert len(known()) > 50
    assert {"inverse_dynamics", "computed_torque", "wrench_at"} <= set(known())


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["two-link", "arm", "floating", "elastic", "five-bar", "ankle, moving base", "hexapod"]
)
def test_of_machines(name, tmp_path):
    """Open trees, springs, and loops closed in form and by Newton's method."""
    if name == "two-link":
        return check(arm(2), {}, tmp_path, 50)
    machine = sort(name)
    options = {"base_motion": True, "gravity": "input"} if machine.base_motion else {}
    return check(machine.robot, options, tmp_path, 25)


# ---- on a controller's processor


def on_a_cortex(kernel, part, inputs, folder):
    if reason := cortex.missing():
        pytest.skip(reason)
    kernel.export(folder, to="arduino", name="robot")
    given = [np.asarray(x, np.float32) for x in inputs]
    return cortex.run(folder, "robot", part, given, kernel.program.outputs[0].size)


@pytest.mark.slow
def test_torques_of_a_ur5_on_a_cortex_m7_take_the_same_instructions_for_every_input(tmp_path):
    """10,000 random states; the count is that of the instructions in the program, each once."""
    robot = lw.load(example("ur5_robot.urdf"))
    rng = np.random.default_rng(0)
    x = [rng.uniform(-w, w, (10_000, 6)).astype(np.float32) for w in (np.pi, 2.0, 5.0)]
    ran = on_a_cortex(lw.compile(robot, lw.inverse_dynamics, dtype="float32"), "inverse_dynamics", x, tmp_path)
    assert set(ran.instructions) == {ran.written}
    assert ran.written <= 4000
    expected = lw.compile(robot, lw.inverse_dynamics)(*(a.astype(float) for a in x))
    assert np.abs(ran.results - expected).max() <= 1e-5 * np.abs(expected).max()


@pytest.mark.slow
@pytest.mark.parametrize("law", ["coulomb", "tanh", "stribeck"])
def test_friction_and_controllers_take_the_same_instructions_too(law, tmp_path):
    """Signs, exponentials and choices do not branch; at rest and at speeds of both signs."""
    from dataclasses import replace

    robot = lw.load("puma560")
    rubbed = [replace(j, friction=lw.Friction(2.0, 0.5, law=law)) for j in robot.joints if j.nv]
    kernel = lw.compile(robot.replace(*rubbed), lw.control.computed_torque, kp=100.0, kd=20.0, dtype="float32")
    x = np.random.default_rng(0).uniform(-1.0, 1.0, (5, 500, 6)).astype(np.float32)
    x[1, :100] = 0.0
    ran = on_a_cortex(kernel, "computed_torque", list(x), tmp_path)
    assert set(ran.instructions) == {ran.written}
    np.testing.assert_allclose(ran.results, kernel(*x), rtol=0.0, atol=1e-5 * np.abs(kernel(*x)).max())


@pytest.mark.slow
def test_a_floating_base_takes_the_same_instructions_too(tmp_path):
    """With quaternions, a square root, and divisions."""
    robot = sort("floating").robot
    dyn = lw.compile(robot, dtype="float32")
    rng = np.random.default_rng(0)
    q = dyn.integrate(robot.q(), rng.uniform(-1.0, 1.0, (300, robot.nv)), 1.0)
    x = [q, *rng.uniform(-1.0, 1.0, (2, 300, robot.nv)).astype(np.float32)]
    ran = on_a_cortex(dyn.forward_dynamics, "forward_dynamics", x, tmp_path)
    assert set(ran.instructions) == {ran.written}
    np.testing.assert_allclose(ran.results, dyn.forward_dynamics(*x), rtol=0.0, atol=1e-4 * np.abs(ran.results).max())


SKETCH = """#include <robot.h>
static const float rows[{rows}][{width}] = {{{numbers}}};
void setup() {{
    Serial.begin(115200);
    for (int k = 0; k < {rows}; ++k) {{
        float tau[6];
        robot_inverse_dynamics(rows[k], rows[k] + 6, rows[k] + 12, tau);
        for (int i = 0; i < 6; ++i) {{ Serial.println(tau[i], 6); }}
    }}
    Serial.println("end");
}}
void loop() {{}}
"""


@pytest.mark.slow
def test_torques_of_a_ur5_on_an_arduino_mega(tmp_path):
    """Compiled with the Arduino's own core, and run in an emulator; the example that comes along is compiled too."""
    if reason := avr.missing():
        pytest.skip(reason)
    kernel = lw.compile(lw.load(example("ur5_robot.urdf")), lw.inverse_dynamics, dtype="float32")
    files = kernel.export(tmp_path, to="arduino", name="robot")
    x = np.random.default_rng(0).uniform(-2.0, 2.0, (3, 20, 6)).astype(np.float32)
    rows = np.concatenate(x, axis=1)
    numbers = ", ".join(f"{{{', '.join(f'{v:.9g}' for v in row)}}}" for row in rows)
    text = avr.printed(avr.built(tmp_path, SKETCH.format(rows=len(rows), width=18, numbers=numbers)), "end")
    found = np.array([float(v) for v in text.split()[:-1]]).reshape(20, 6)
    expected = kernel(*x)
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-5 * np.abs(expected).max())
    assert avr.built(tmp_path, files["examples/robot_loop/robot_loop.ino"].read_text()).exists()
