"""The examples that `--help` shows, run as they stand there."""

import glob
import re
import shlex
import shutil
from dataclasses import replace

import numpy as np
import pytest

import linkwise as lw
from linkwise.cli.root import cli
from linkwise.table import write
from support.command import linkwise

SHORT = {
    "walk": ("--time-limit", "0.01", "--points", "3"),
    "bench": ("--rows", "8"),
    "excite": ("--time-limit", "0.3"),
    "show": ("--time", "0.3", "--no-browser"),
}  # so that they take no minutes
PICK = "goal = { turn = 0.3, shoulder = 0.2, elbow = 0.1 }\ncontrol_points = 8\nsolver = 'uno'\nrefine = false\n"


def examples(command):
    """The lines after "Examples" that call the command itself, and all of the root's."""
    text = cli.commands[command].help if command else cli.help
    lines = [line.strip() for line in text.split("Examples")[1].splitlines()]
    return [line for line in lines if line.startswith(f"linkwise {command}".strip())]


@pytest.fixture
def files(folder, request, monkeypatch):
    """Every file that the examples name, and a browser that opens nothing."""
    monkeypatch.setattr("webbrowser.open", lambda address: True)
    shutil.copy(request.config.rootpath / "examples" / "soft.toml", folder)
    robot = lw.load("arm.urdf")
    for name in ("walker.urdf", "panda.urdf", "hand.urdf"):
        shutil.copy("arm.urdf", name)
    (folder / "robots").mkdir()
    shutil.copy("arm.urdf", "robots/arm.urdf")
    lw.save(lw.gough_stewart(), "hexapod.toml")
    head, *rows = (folder / "swing.csv").read_text().splitlines()
    turned = [[x if k == 0 else str(np.degrees(float(x))) for k, x in enumerate(row.split(","))] for row in rows]
    (folder / "swing_in_degrees.csv").write_text("\n".join([head, *map(",".join, turned)]))
    t = np.linspace(0.0, 1.0, 21)
    poses = {"t": t, "x": 0.05 * np.sin(t), "y": 0.0 * t, "z": 0.75 + 0.0 * t}
    write("poses.csv", poses | dict.fromkeys(("rx", "ry", "rz"), 0.0 * t))
    problem = cli.commands["plan"].help.split("\b\n")[1].split("An .npz")[0]  # the one that its help shows
    problem = problem.split("[[obstacle]]")[0]  # rr has no shapes that could touch anything
    (folder / "fast.toml").write_text(f"control_points = 8\nrefine = false\nsolver = 'uno'\n{_dedented(problem)}")
    lw.simulate(robot, None, None, 0.2).save("fall.npz")
    scara = lw.load("scara")
    for name, end in (("fast.csv", 1.0), ("slow.csv", 2.0)):
        write(name, {"t": np.linspace(0.0, end, 9)} | {f"q.{n}": np.linspace(0.0, 0.1, 9) for n in scara.names})
    for seed, name in enumerate(("measured.csv", "monday.csv", "tuesday.csv", "other.csv", "with_load.csv")):
        log = lw.identification.simulated_log(robot, 10.0, seed=seed)
        log.save(name)
    s = lw.motion.smooth(log)
    felt = lw.compile(robot).wrench_at("tool")(s.q, s.qd, s.qdd)
    replace(s.log, wrenches={"tool": felt}).save("with_sensor.csv")
    body, still = lw.load("walker.urdf", base="floating"), np.zeros((len(s.q), 6))
    q, qd, qdd = np.hstack([still, still[:, :1] + 1.0, s.q]), np.hstack([still, s.qd]), np.hstack([still, s.qdd])
    plate = lw.compile(body).inverse_dynamics(q, qd, qdd)[:, :6]
    lw.motion.Log(body, s.log.t, q).with_plate("base", plate, at=(0.0, 0.0, 0.0)).save("plates.csv")
    amps = {f"{word}_{k}": x[:, k] for word, x in (("angle", log.q), ("amp", log.tau)) for k in range(3)}
    write("odd.csv", {"t": log.t} | amps)
    for name, values in (("time", log.t), ("positions", log.q), ("torques", log.tau)):
        np.savetxt(f"{name}.txt", values)
    (folder / "pick.toml").write_text(f"start = {robot.q().tolist()}\n{PICK}[limits]\nvelocity = 2.0\n")
    return folder


def _dedented(text):
    return "\n".join(line.strip() for line in text.splitlines())


def run(line, command):
    """A line of a shell, without what it does with the output."""
    words = shlex.split(re.split(r"[|>]|  +", line)[0])[1:]
    words = [
        name for word in words for name in (sorted(glob.glob(word)) if "*" in word and "=" not in word else [word])
    ]
    words = [re.sub(r"^(panda_finger_joint1|thumb)$", "elbow", word) for word in words]
    return linkwise(*words, *SHORT.get(command, ()))


COMMANDS = [name for name, command in cli.commands.items() if not command.hidden]


@pytest.mark.parametrize("command", COMMANDS)
def test_examples_run(files, command):
    lines = examples(command)
    assert lines
    if command == "plan":
        assert run("linkwise plan arm.urdf pick.toml -o last.npz", command).exit_code == 0
    for line in lines[:1] if command == "walk" else lines:
        result = run(line, command)
        assert result.exit_code in (0, 1), f"{line}: {result.output}"


def test_examples_of_the_root_run(files):
    for line in examples(""):
        if "walk" not in line:
            result = run(line, line.split()[1])
            assert result.exit_code in (0, 1), f"{line}: {result.output}"
