import json

from support.command import error, linkwise


def test_bench_compares_with_what_is_installed(folder):
    result = json.loads(linkwise("bench", "arm.urdf", "--rows", "64", "--json").stdout)
    assert result["left out"] == {}
    assert len(result["ratio"]) == 3
    assert all(d < 1e-13 for d in result["difference"].values())
    assert "times slower" in linkwise("bench", "arm.urdf", "--rows", "16").stdout


def test_peers_that_are_missing_are_named(folder, monkeypatch):
    monkeypatch.setattr("linkwise.peers.models.has", lambda package: package != "mujoco")
    assert "without mujoco: not installed" in linkwise("bench", "arm.urdf", "--rows", "16").stdout


def test_peers_that_cannot_compare_are_named(folder):
    result = json.loads(linkwise("bench", "arm.urdf", "--base", "floating", "--rows", "64", "--json").stdout)
    assert "free joint" in result["left out"]["mujoco"]
    assert all(d < 1e-13 for d in result["difference"].values())


def test_what_peers_model_otherwise_is_refused(folder):
    (folder / "side.toml").write_text('[[joint]]\nname = "elbow"\nspring = { stiffness = 10.0 }\n')
    assert "joint 'elbow' has a spring" in error("bench", "arm.urdf", "--side", "side.toml")
    (folder / "side.toml").write_text('[[joint]]\nname = "elbow"\ndrive = { stiffness = 10.0 }\n')
    assert "joint 'elbow' is elastic" in error("bench", "arm.urdf", "--side", "side.toml")
    assert linkwise("bench", "arm.urdf", "--side", "side.toml", "--rigid", "--rows", "16").exit_code == 0
