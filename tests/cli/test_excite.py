"""`linkwise excite`, its files, and what it says of arguments that are wrong."""

import json

import numpy as np
import pytest

import linkwise as lw
from support.command import error, linkwise

QUICK = ("--duration", "3", "--harmonics", "2")


def test_the_motion_is_that_of_the_library(folder):
    result = linkwise("excite", "rr", *QUICK, "--json", "-o", "m.csv", "--trajectory", "m.json", "--step", "0.01")
    assert result.exit_code == 0, result.output
    facts = json.loads(result.output)
    found = lw.identification.excite(lw.load("rr"), duration=3.0, harmonics=2, progress=False)
    assert facts["log det"] == pytest.approx(found.log_det, rel=1e-9)
    assert facts["log det"] > max(facts["log det of random motions"])
    assert [p["name"] for p in facts["parameters"]] == list(found.parameters)
    assert [p["standard error"] for p in facts["parameters"]] == pytest.approx(found.standard_errors(), rel=1e-6)
    table = np.genfromtxt("m.csv", delimiter=",", names=True, deletechars="")
    assert np.allclose(table["q.joint1"], found.q(table["t"])[:, 0], atol=1e-6)
    message = json.loads((folder / "m.json").read_text())
    assert len(message["points"]) == len(table)
    checked = linkwise("torque", "rr", "m.csv")
    assert checked.exit_code == 0, checked.output


def test_what_is_printed(folder):
    result = linkwise("excite", "rr", *QUICK, "--about", "friction", "--plot", "m.png", "--trajectory", "m.yaml")
    assert result.exit_code == 0, result.output
    assert "log det" in result.output
    assert "joint2.viscous" in result.output
    assert "trajectory in m.yaml" in result.output
    assert (folder / "m.png").stat().st_size > 1000
    assert (folder / "m.yaml").read_text().startswith("header:")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("rr", "--about", "wing"), "wing"),
        (("rr", "--duration", "-1"), "duration"),
        (("rr", "--trajectory", "m.txt"), ".yaml"),
        (("ankle",), "lw.plan"),
        (("differential_drive",), "wheels"),
    ],
)
def test_what_cannot_be_is_said(folder, arguments, said):
    assert said in error("excite", *arguments)
