"""Results of simulations: channels by name, files, tables, pictures."""

import json
import sys

import numpy as np
import pytest

import linkwise as lw
from linkwise import motion as motions


@pytest.fixture(scope="module")
def arm():
    return lw.random_tree(6, 3, floating=True, friction=0.5, springs=0.5)


@pytest.fixture(scope="module")
def result(arm):
    qd = np.random.default_rng(0).normal(size=arm.nv)
    events = {"above": lambda t, q, qd: q[0] - 0.1, "never": lambda t, q, qd: 1.0}
    return lw.simulate(arm, arm.q(), qd, 1.0, events=events)


def same(a, b):
    for key, column in a.columns().items():
        assert np.array_equal(column, b.columns()[key]), key
    assert a.robot == b.robot
    assert (a.status, a.notes, dict(a.facts)) == (b.status, b.notes, dict(b.facts))
    for name, crossings in a.events.items():
        assert all(np.array_equal(x, y) and x.shape == y.shape for x, y in zip(crossings, b.events[name], strict=True))


def test_channels_have_names(arm, result):
    joint = result["joint2"]
    slot = arm.slots["joint2"]
    assert np.array_equal(joint.q, result.q[:, slot.q])
    assert np.array_equal(joint.tau, result.tau[:, slot.v])
    assert result["root"].q.shape == (101, 7)
    assert result["root"].qd.shape == (101, 6)
    assert np.array_equal(result["qd.joint2"], joint.qd)
    assert np.array_equal(result["q.root.qw"], result.q[:, 6])
    assert np.array_equal(result["energy.friction"], result.energy.friction)
    assert result["t"] is result.t
    with pytest.raises(lw.UnknownNameError, match=r"unknown column 'joint9'. Did you mean 'q.joint"):
        result["joint9"]
    assert repr(result).startswith("<Simulation of 'random6': 0 to 1 s in 101 rows, finished, energy drift ")
    assert len(result) == 101


def test_columns_say_all(arm, result):
    columns = result.columns()
    assert list(columns)[:2] == ["t", "q.root.x"]
    assert len(columns) == 1 + arm.nq + 3 * arm.nv + 6
    assert all(c.shape == (101,) for c in columns.values())


def test_drift_of_nothing_is_nothing():
    robot = lw.load("rr")
    still = lw.simulate(robot.replace(gravity=(0, 0, 0)), [0, 0], None, 1.0)
    assert still.energy.drift == 0.0


# ---- files


def test_npz_round_trip(arm, result, tmp_path):
    result.save(tmp_path / "run.npz")
    same(result, lw.simulation.Simulation.load(tmp_path / "run.npz"))
    assert lw.simulation.Simulation.load(str(tmp_path / "run.npz"), robot=arm).robot is arm
    with np.load(tmp_path / "run.npz") as archive:
        meta = json.loads(str(archive["meta"]))
    assert meta["robot"] == arm.name
    assert meta["facts"]["versions"]["linkwise"] == lw.__version__
    assert len(meta["hash"]) == 64


def test_a_file_of_another_robot_is_refused(result, tmp_path):
    result.save(tmp_path / "run.npz")
    with pytest.raises(lw.InputError, match=r"simulation of this robot \('rr'\), got one of 'random6'"):
        lw.simulation.Simulation.load(tmp_path / "run.npz", robot=lw.load("rr"))


def test_files_are_motions_too(arm, result, tmp_path):
    """What a simulation writes can be read as a trajectory."""
    for suffix in (".npz", ".csv"):
        result.save(tmp_path / f"run{suffix}")
        motion = motions.read(tmp_path / f"run{suffix}", arm)
        for key in ("t", "q", "qd", "qdd"):
            assert np.array_equal(getattr(motion, key), getattr(result, key))


def test_parquet_round_trip(arm, result, tmp_path):
    result.save(tmp_path / "run.parquet")
    same(result, lw.simulation.Simulation.load(tmp_path / "run.parquet"))


def test_dataframe(result):
    frame = result.to_dataframe()
    assert frame.index.name == "t"
    assert np.array_equal(frame["tau.joint1"], result["joint1"].tau)


@pytest.mark.parametrize("package", ["pandas", "pyarrow"])
def test_missing_packages_are_named(result, tmp_path, monkeypatch, package):
    for name in [n for n in sys.modules if n.partition(".")[0] == package]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    call = result.to_dataframe if package == "pandas" else lambda: result.save(tmp_path / "run.parquet")
    with pytest.raises(lw.InputError, match=rf"package '{package}' to be installed.*linkwise\[tables\]"):
        call()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("none.npz", None, "expected a file that can be read"),
        ("text.npz", b"hello", "expected a simulation as Simulation.save writes it"),
        ("cut.npz", 300, "expected a simulation as Simulation.save writes it"),
        ("run.csv", b"t,q\n", "expected a name that ends in .npz or .parquet, got .csv"),
        ("run", b"", "expected a name that ends in .npz or .parquet, got no suffix"),
    ],
)
def test_bad_files_are_named(result, tmp_path, name, content, message):
    path = tmp_path / name
    if isinstance(content, int):
        result.save(path)
        path.write_bytes(path.read_bytes()[:content])
    elif content is not None:
        path.write_bytes(content)
    with pytest.raises(lw.InputError, match=message):
        lw.simulation.Simulation.load(path)


def test_changed_files_are_refused(result, tmp_path):
    result.save(tmp_path / "run.npz")
    with np.load(tmp_path / "run.npz") as archive:
        arrays = dict(archive)
    meta = json.loads(str(arrays["meta"]))
    meta["toml"] = meta["toml"].replace("mass = ", "mass = 1")
    np.savez(tmp_path / "other.npz", **{**arrays, "meta": json.dumps(meta)})
    with pytest.raises(lw.InputError, match="the file was changed"):
        lw.simulation.Simulation.load(tmp_path / "other.npz")
    np.savez(tmp_path / "short.npz", **{**arrays, "q": arrays["q"][1:]})
    with pytest.raises(lw.InputError, match="as many rows each, got t 101, q 100"):
        lw.simulation.Simulation.load(tmp_path / "short.npz")
    del arrays["energy"]
    np.savez(tmp_path / "less.npz", **arrays)
    with pytest.raises(lw.InputError, match="expected an array 'energy', of which columns are listed, got none"):
        lw.simulation.Simulation.load(tmp_path / "less.npz")


def test_where_nothing_can_be_written_nothing_is_lost(result, tmp_path):
    with pytest.raises(lw.InputError, match=r"ends in .csv, .npz or .parquet, got .xlsx"):
        result.save(tmp_path / "run.xlsx")
    with pytest.raises(lw.InputError, match="expected a file name, got 3"):
        result.save(3)
    with pytest.raises(lw.InputError, match="expected a file that can be written"):
        result.save(tmp_path / "no" / "run.npz")
    result.save(tmp_path / "run.csv")
    assert [p.name for p in tmp_path.iterdir()] == ["run.csv"]


# ---- pictures


def test_plot(result, tmp_path):
    figure = result.plot(tmp_path / "run.png")
    assert (tmp_path / "run.png").stat().st_size > 10_000
    titles = [axes.get_title() for axes in figure.axes]
    assert titles[:3] == ["position", "speed", "torque or force"]
    assert titles[3].startswith("energy (balance to ")
    result.plot(tmp_path / "run.svg")
    with pytest.raises(lw.InputError, match=r"expected one of .png"):
        result.plot(tmp_path / "run.gif")


def test_plot_of_many_joints_and_of_rest(tmp_path):
    robot = lw.load("snake").replace(gravity=(0, 0, 0))
    lw.simulate(robot, robot.q(), None, 0.1).plot(tmp_path / "still.png")
    assert (tmp_path / "still.png").stat().st_size > 10_000
