import json

import pytest

from support.command import error, linkwise


def test_a_walk_that_has_no_time(tmp_path):
    files = {"--film": "film.png", "--html": "walk.html", "--motion": "walk.mot", "--ground": "ground.sto",
             "--table": "stride.csv"}  # fmt: skip
    arguments = [x for flag, name in files.items() for x in (flag, tmp_path / name)]
    done = linkwise("walk", "--solver", "scipy", "--time-limit", "0.001", "--backpack", "5", "--json", *arguments)
    assert done.exit_code == 1, done.output
    facts = json.loads(done.stdout)
    assert facts["status"] == "out of time"
    assert facts["mass"] == pytest.approx(78.0)
    assert {w["kind"] for w in facts["not kept"]} >= {"contact", "knee"}
    assert all((tmp_path / name).exists() for name in files.values())
    assert 0.0 <= facts["compared"]["l"]["knee_angle"]["inside"] <= 1.0
    assert facts["published"]["knee_swing"]["low"] < 60.0 < facts["published"]["knee_swing"]["high"]
    assert any("Bovi" in source for source in facts["sources"].values())


def test_what_is_not_kept_is_said(tmp_path):
    done = linkwise("walk", "--solver", "scipy", "--time-limit", "0.001", "--coarse", "--without", "knee")
    assert done.exit_code == 1
    assert "out of time: 1.2 m/s in steps of 0.6 m, 73 kg" in done.stdout
    assert "not kept: contact " in done.stdout
    assert "not kept: knee" not in done.stdout
    assert "knee torque, N m/kg" in done.stdout
    assert "82 children, Schwartz et al. 2008" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--height", "174"], "metres"),
        (["--limit", "ankel_l=60"], "unknown joint 'ankel_l'"),
        (["--limit", "ankle_l"], "JOINT=TORQUE"),
        (["--hand-load", "x=3"], "'r', 'l'"),
        (["--freeze", "tail"], "unknown joint to freeze 'tail'"),
        (["--without", "zpm"], "Did you mean 'zmp'?"),
        (["--soft", "zpm=1"], "Did you mean 'zmp'?"),
        (["--soft", "zmp=-1"], "above zero"),
        (["--speed", "0"], "x>0.0"),
        (["--film", "walk.gif"], ".png"),
    ],
)
def test_wrong_uses(arguments, expected):
    assert expected in error("walk", *arguments)
