"""Logs in ROS bags and MCAP files, written here by other people's writers; and files that are no logs."""

import json
import os
import sys
from pathlib import Path

import numpy as np
import pytest

import linkwise as lw
from linkwise.motion import read_log
from support.logs import ARM, motion

rosbag1, rosbag2 = pytest.importorskip("rosbags.rosbag1"), pytest.importorskip("rosbags.rosbag2")
typesys = pytest.importorskip("rosbags.typesys")
mcap = pytest.importorskip("mcap.writer")

RATE = 200.0
T = np.arange(1200) / RATE
Q, QD, _ = motion(T)
START = 1_700_000_000_000_000_000  # ns
ORDER = [3, 0, 5, 1, 4, 2]  # of joints in the messages
STORES = {1: typesys.Stores.ROS1_NOETIC, 2: typesys.Stores.ROS2_HUMBLE}


def messages(store, version):
    """Joint states with stamps of their own, recorded 2 ms later, and every fifth time a force."""
    kinds = store.types
    stamp, header = kinds["builtin_interfaces/msg/Time"], kinds["std_msgs/msg/Header"]
    state, vector = kinds["sensor_msgs/msg/JointState"], kinds["geometry_msgs/msg/Vector3"]
    wrench, stamped = kinds["geometry_msgs/msg/Wrench"], kinds["geometry_msgs/msg/WrenchStamped"]
    number = {"seq": 0} if version == 1 else {}
    for k, t in enumerate(T):
        ns = START + round(t * 1e9)
        head = header(stamp=stamp(sec=ns // 10**9, nanosec=ns % 10**9), frame_id="", **number)
        names = [ARM.names[j] for j in ORDER]
        yield (
            "/joint_states",
            ns + 2_000_000,
            state(header=head, name=names, position=Q[k, ORDER], velocity=QD[k, ORDER], effort=7.0 * Q[k, ORDER]),
        )
        if k % 5 == 0:
            force = wrench(force=vector(x=float(t), y=2.0, z=3.0), torque=vector(x=0.0, y=0.0, z=0.0))
            yield "/ft", ns + 2_000_000, stamped(header=head, wrench=force)


def write_bag(path, form):
    version = 1 if form == "bag" else 2
    store = typesys.get_typestore(STORES[version])
    if version == 1:
        writer = rosbag1.Writer(path)
    else:
        plugin = rosbag2.StoragePlugin.MCAP if form == "mcap" else rosbag2.StoragePlugin.SQLITE3
        writer = rosbag2.Writer(path, version=9, storage_plugin=plugin)
    pack = store.serialize_ros1 if version == 1 else store.serialize_cdr
    kinds = {"/joint_states": "sensor_msgs/msg/JointState", "/ft": "geometry_msgs/msg/WrenchStamped"}
    with writer:
        links = {topic: writer.add_connection(topic, kind, typestore=store) for topic, kind in kinds.items()}
        for topic, recorded, message in messages(store, version):
            writer.write(links[topic], recorded, pack(message, kinds[topic]))


def check(log):
    np.testing.assert_allclose(log.q, Q[: len(log)], atol=1e-9)
    np.testing.assert_allclose(log.qd, QD[: len(log)], atol=1e-9)
    np.testing.assert_allclose(log.tau, 7.0 * Q[: len(log)], atol=1e-9)
    assert log.rate == pytest.approx(RATE)
    assert len(log) > len(T) - 10


@pytest.mark.parametrize("form", ["bag", "sqlite3", "mcap"])
def test_joint_states_by_name_and_other_topics_by_path(tmp_path, form):
    path = tmp_path / ("a.bag" if form == "bag" else "a")
    write_bag(path, form)
    log = read_log(path, ARM)
    check(log)
    assert "taken for q: /joint_states.position." in " ".join(log.notes)
    np.testing.assert_allclose(log.others["/ft.wrench.force.x"][:1000], T[:1000], atol=1e-6)
    pushed = read_log(path, ARM, columns={"/ft.wrench.force.*": "wrench.tool.f*"})
    np.testing.assert_allclose(
        pushed.wrenches["tool"][:1000, :3], np.stack([T, 0 * T + 2, 0 * T + 3], 1)[:1000], atol=1e-6
    )
    assert read_log(path).robot.nv == 6
    if form != "bag":  # the file in the folder alone
        check(read_log(next(p for p in path.iterdir() if p.suffix != ".yaml"), ARM))


def test_mcap_with_json(tmp_path):
    with (tmp_path / "a.mcap").open("wb") as file:
        writer = mcap.Writer(file)
        writer.start()
        schema = writer.register_schema("state", "jsonschema", b"{}")
        channel = writer.register_channel("/arm", "json", schema)
        for k, t in enumerate(T):
            data = json.dumps(
                {"pos": Q[k].tolist(), "vel": QD[k].tolist(), "tau": (7.0 * Q[k]).tolist(), "mode": "run"}
            )
            ns = START + round(t * 1e9)
            writer.add_message(channel, ns, data.encode(), ns)
        writer.finish()
    check(read_log(tmp_path / "a.mcap", ARM))


# ---- files that are no logs


@pytest.mark.parametrize(
    "name", ["a.bag", "a.db3", "a.mcap", "a.txt", "a.csv", "a.npz", "a.parquet", "a/metadata.yaml"]
)
@pytest.mark.parametrize(
    "data", [b"", b"\x00\xff\x8b" * 5000, b"#" * 100, b"rosbag2_bagfile_information: {version: 5}"]
)
def test_garbage_is_refused_in_words(tmp_path, name, data):
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)
    with pytest.raises(lw.LinkwiseError) as caught:
        read_log(path.parent if name.endswith(".yaml") else path, ARM)
    assert path.name.split("/")[0][:1] in str(caught.value)


@pytest.mark.parametrize("form", ["bag", "sqlite3", "mcap"])
def test_empty_and_cut_bags(tmp_path, form):
    path = tmp_path / ("a.bag" if form == "bag" else "a")
    store = typesys.get_typestore(STORES[1 if form == "bag" else 2])
    plugin = {"sqlite3": rosbag2.StoragePlugin.SQLITE3, "mcap": rosbag2.StoragePlugin.MCAP}.get(form)
    with rosbag1.Writer(path) if form == "bag" else rosbag2.Writer(path, version=9, storage_plugin=plugin) as writer:
        writer.add_connection("/joint_states", "sensor_msgs/msg/JointState", typestore=store)
    with pytest.raises(lw.InputError, match=r"expected messages with numbers, got none|expected a ROS bag"):
        read_log(path, ARM)
    whole = tmp_path / ("b.bag" if form == "bag" else "b")
    write_bag(whole, form)
    file = whole if form == "bag" else next(p for p in whole.iterdir() if p.suffix != ".yaml")
    file.write_bytes(file.read_bytes()[:5000])
    with pytest.raises(lw.LinkwiseError):
        read_log(whole, ARM)


@pytest.mark.parametrize("suffix", [".csv", ".txt", ".bag", ".mcap", ".db3", ".npz", ".parquet"])
def test_pipes_and_folders_do_not_hang(tmp_path, suffix):
    pipe = tmp_path / f"pipe{suffix}"
    os.mkfifo(pipe)
    with pytest.raises(lw.LinkwiseError, match="a named pipe"):
        read_log(pipe, ARM)
    folder = tmp_path / f"folder{suffix}"
    folder.mkdir()
    with pytest.raises(lw.LinkwiseError):
        read_log(folder, ARM)


def test_huge_headers_and_rows_of_different_lengths(tmp_path):
    wide = Path(tmp_path / "wide.csv")
    wide.write_text(",".join(f"c{k}" for k in range(20000)) + "\n" + ",".join("0" * 20000) + "\n")
    with pytest.raises(lw.InputError, match=r"expected positions of all joints|expected a column of times") as caught:
        read_log(wide, ARM)
    assert len(str(caught.value)) < 3000
    ragged = Path(tmp_path / "ragged.txt")
    ragged.write_text("1 2 3\n4 5\n")
    with pytest.raises(lw.InputError, match=r"ragged.txt:1: expected 2 cells as in most lines, got 3"):
        read_log(ragged, ARM)
    line = Path(tmp_path / "line.txt")
    line.write_text("1 " * (1 << 23))
    with pytest.raises(lw.InputError, match="characters in a line, got more"):
        read_log(line, ARM)
    same = Path(tmp_path / "same.csv")
    rows = "\n".join(f"1.0,{','.join('0' * 6)}" for _ in range(20))
    same.write_text("t," + ",".join(ARM.names) + "\n" + rows)
    with pytest.raises(lw.InputError, match=r"same.csv: times: expected three different times or more, got 1"):
        read_log(same, ARM)


@pytest.mark.parametrize("package", ["rosbags", "mcap"])
def test_a_package_that_is_missing_is_named(tmp_path, monkeypatch, package):
    path = tmp_path / ("a.bag" if package == "rosbags" else "a.mcap")
    path.write_bytes(b"x")
    for name in [n for n in sys.modules if n.split(".")[0] == package] + [f"{package}.highlevel", f"{package}.reader"]:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(
        lw.InputError, match=rf"'{package}' to be installed, got none. Install it with: .*linkwise\[logs\]"
    ):
        read_log(path, ARM)
