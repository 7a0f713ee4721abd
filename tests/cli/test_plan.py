"""`linkwise plan`, its files, and what it says of those that are wrong."""

import json

import numpy as np
import pytest

import linkwise as lw
from support.command import error, linkwise

FAST = """
start = [0.0, -2.0]
goal = { joint1 = 1.0, joint2 = -1.0 }
control_points = 12
solver = "uno"
[minimize]
time = 1.0
effort = { factor = 0.0001, joints = ["joint1"] }
[limits]
effort = true
velocity = 20.0
[[reaction]]
joint = "joint2"
force = 500
[[via]]
at = 0.5
q = { joint1 = 0.5 }
[[clearance]]
frame = "link2"
radius = 0.01
half_space = [[0.0, 1.0, 0.0], -0.6]
"""


def written(folder, text):
    (folder / "problem.toml").write_text(text)
    return folder / "problem.toml"


def test_a_problem_is_that_of_the_library(folder):
    file = written(folder, FAST)
    done = linkwise("plan", "rr", file, "-o", "fast.npz", "--plot", "fast.png")
    assert done.exit_code == 0, done.output
    assert "rr: converged: " in done.stdout
    assert "effort.joint1" in done.stdout
    same = lw.plan(
        lw.load("rr"), [0.0, -2.0], [1.0, -1.0], lw.cost.time() + 1e-4 * lw.cost.effort(joints=["joint1"]),
        [lw.limit.joints("effort", velocity=20.0), lw.limit.reaction("joint2", force=500),
         lw.limit.via(0.5, q={"joint1": 0.5}), lw.limit.clearance("link2", 0.01, half_space=((0.0, 1.0, 0.0), -0.6))],
        control_points=12, solver="uno",
    )  # fmt: skip
    found = lw.planning.Plan.load(folder / "fast.npz")
    assert found.duration == pytest.approx(same.duration, abs=1e-9)
    assert (folder / "fast.png").read_bytes().startswith(b"\x89PNG")
    done = linkwise("plan", "rr", file, "--guess", "fast.npz", "-o", "fast.csv", "--step", "0.01", "--json")
    facts = json.loads(done.stdout)
    assert facts["status"] == "converged"
    assert facts["facts"]["iterations"] < same.facts["iterations"]
    table = np.genfromtxt("fast.csv", delimiter=",", names=True, deletechars="")
    assert table["q.joint1"][-1] == pytest.approx(1.0)
    assert linkwise("torque", "rr", "fast.csv").exit_code in (0, 1)


def test_what_cannot_be_has_exit_code_one(folder):
    done = linkwise("plan", "rr", written(folder, FAST.replace("control_points", "duration = 0.2\ncontrol_points")))
    assert done.exit_code == 1
    assert "infeasible: " in done.stdout
    assert "beyond its limit" in done.stdout


WRONG = {
    "key": ("begin = [0.0]\n", "problem.toml: unknown key 'begin'.*'start'"),
    "term": ("[minimize]\ntimes = 1.0\n", "unknown term in minimize 'times'.*'time'"),
    "factor": ("[minimize]\ntime = 'much'\n", "minimize.time: expected a number"),
    "argument": ("[minimize]\neffort = { joint = 'joint1' }\n", "argument of minimize.effort 'joint'.*'joints'"),
    "limit": ("[limits]\ntorque = true\n", "kind of limits 'torque'"),
    "list": ("[via]\nat = 0.5\n", r"via: expected tables, \[\[via\]\]"),
    "via": ("[[via]]\nat = 2.0\nq = { joint1 = 0.0 }\n", r"via\[0\]: via at: expected a fraction"),
    "missing": ("[[reaction]]\nforce = 3.0\n", r"reaction\[0\]: expected joint"),
    "part": ("[[reaction]]\njoint = 'joint1'\nforces = 3.0\n", r"reaction\[0\].*part of a reaction 'forces'"),
    "start": ("start = 3\n", "start: expected positions"),
    "joint": ("start = { elbow = 3 }\n", "elbow"),
    "syntax": ("start = [\n", "problem.toml:2: expected TOML"),
    "solver": ("solver = 'fast'\n", "unknown solver 'fast'"),
    "knots": ("knots = 'odd'\n", "unknown choice of knots 'odd'"),
    "guess": ("guess = 'slow'\n", "guess: expected a number"),
    "passive": ("[[passive]]\njoints = ['elbow']\n", "joint in passive 'elbow'"),
}


@pytest.mark.parametrize("name", WRONG)
def test_errors_name_the_key(folder, name):
    import re

    text, message = WRONG[name]
    assert re.search(message, error("plan", "rr", written(folder, text)))


def test_no_file(folder):
    assert "expected a file that can be read" in error("plan", "rr", "none.toml")
