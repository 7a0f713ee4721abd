"""The control loop of the page about exports, compiled and run as it says, and repeated by the kernels."""

import re
import subprocess
from pathlib import Path

import numpy as np

import linkwise as lw
from support.command import linkwise
from support.exported import tool

PAGE = Path(__file__).parents[2] / "docs" / "export.md"


def test_the_control_loop(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tool("cc", "gcc")
    tool("make", "make")
    text = PAGE.read_text()
    command, build = re.findall(r"^```sh\n(.*?)^```", text, re.DOTALL | re.MULTILINE)[:2]
    assert linkwise(*command.split()[1:]).exit_code == 0
    Path("loop.c").write_text(re.search(r"^```c\n(.*?)^```", text, re.DOTALL | re.MULTILINE)[1])
    done = subprocess.run(["sh", "-e", "-c", build], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    found = float(re.search(r"off by (\S+) after", done.stdout)[1])
    assert abs(found - in_python()) < 1e-6


def in_python():
    """The same loop by the kernels."""
    robot = lw.load("scara")
    control = lw.compile(robot, lw.control.computed_torque, kp=400.0, kd=40.0)
    plant = lw.compile(robot, lw.forward_dynamics)
    q, qd, dt, one = np.full(4, 0.1), np.zeros(4), 0.001, np.ones(4)
    for k in range(1000):
        t = k * dt
        wanted = [w * one for w in (0.2 * np.sin(3.0 * t), 0.6 * np.cos(3.0 * t), -1.8 * np.sin(3.0 * t))]
        qdd = plant(q, qd, control(q, qd, *wanted))
        qd = qd + dt * qdd
        q = q + dt * qd
    return float(np.abs(wanted[0] - q).max())
