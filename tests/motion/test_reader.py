"""Motions from files, and what is wrong with some files."""

import contextlib
import math

import numpy as np
import pytest

import linkwise as lw
from linkwise.motion import Trajectory, column_names, read, write

HEAD = "t,shoulder,elbow\n"
ROWS = "".join(f"{k / 10},{math.sin(k / 10)},{math.cos(k / 10)}\n" for k in range(8))


@pytest.fixture
def arm():
    links = [lw.Link("base"), lw.Link("upper", mass=1.0, com=(0.3, 0, 0)), lw.Link("fore", mass=0.5, com=(0.2, 0, 0))]
    links.append(lw.Link("finger", mass=0.1))
    joints = [
        lw.Joint("shoulder", "base", "upper"),
        lw.Joint("elbow", "upper", "fore"),
        lw.Joint("grip", "fore", "finger", mimic=lw.Mimic("elbow", ratio=2.0)),
    ]
    return lw.Robot(links, joints)


def of(text, robot, tmp_path, **options):
    path = tmp_path / "motion.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read(path, robot, **options)


def test_columns_by_name_in_any_order(arm, tmp_path):
    motion = of("elbow,time,q.shoulder\n" + "".join(f"{k},{k / 10},{2 * k}\n" for k in range(6)), arm, tmp_path)
    np.testing.assert_array_equal(motion.q[:, 0], 2 * np.arange(6))
    np.testing.assert_array_equal(motion.q[:, 1], np.arange(6))
    assert motion.timed


@pytest.mark.parametrize(
    "text",
    [
        HEAD + ROWS,
        "\ufeff" + HEAD + ROWS,
        (HEAD + ROWS).replace("\n", "\r\n"),
        (HEAD + ROWS).replace(",", ";"),
        (HEAD + ROWS).replace(",", ";").replace(".", ","),
        (HEAD + ROWS).replace(",", "\t"),
        "# " + (HEAD + ROWS).replace(",", ", "),
        "\n" + HEAD + "# a remark\n" + ROWS + "\n\n",
        (HEAD + ROWS).replace("elbow", '"elbow"'),
    ],
)
def test_forms_of_csv(arm, tmp_path, text):
    motion = of(text, arm, tmp_path)
    np.testing.assert_array_equal(motion.q[:, 1], [math.cos(k / 10) for k in range(8)])


def test_rates_by_spline(arm, tmp_path):
    rows = "".join(f"{t!r},{math.sin(t)!r},{math.cos(t)!r}\n" for t in np.linspace(0, 3, 61).tolist())
    motion = of(HEAD + rows, arm, tmp_path)
    assert motion.origins == {"qd": "a quintic spline of q", "qdd": "a quintic spline of q"}
    np.testing.assert_allclose(motion.qd[:, 0], np.cos(motion.t), atol=1e-6)
    np.testing.assert_allclose(motion.qdd[:, 0], -np.sin(motion.t), atol=1e-4)


def test_few_rows_make_a_cubic_spline(arm, tmp_path):
    motion = of(HEAD + "0,0,0\n1,1,1\n2,8,4\n3,27,9\n", arm, tmp_path)
    assert motion.origins["qd"] == "a cubic spline of q"
    np.testing.assert_allclose(motion.qd[:, 0], [0, 3, 12, 27], atol=1e-12)


def test_given_velocities_are_differentiated(arm, tmp_path):
    rows = "".join(f"{t!r},0,0,{t**3!r},{t!r}\n" for t in np.linspace(0, 1, 9).tolist())
    motion = of("t,shoulder,elbow,qd.shoulder,qd.elbow\n" + rows, arm, tmp_path)
    assert motion.origins == {"qd": "the file", "qdd": "a quintic spline of qd"}
    np.testing.assert_allclose(motion.qdd[:, 0], 3 * motion.t**2, atol=1e-11)


def test_rest_is_rest(arm, tmp_path):
    """Where a motion stops, the spline's velocity is zero, so that Coulomb friction has no sign there."""
    s = np.linspace(0, 1, 21)
    path = 10 * s**3 - 15 * s**4 + 6 * s**5
    motion = of(
        HEAD + "".join(f"{t!r},{x!r},{-x!r}\n" for t, x in zip(s.tolist(), path.tolist(), strict=True)), arm, tmp_path
    )
    assert not motion.qd[[0, -1]].any()
    assert motion.qd[1:-1].all()


def test_results_and_joints_without_coordinates_are_left_out(arm, tmp_path):
    head = "t,shoulder,elbow,grip,tau.elbow,wrench.fore.fx\n"
    motion = of(head + "".join(f"{k},0,{k},9,9,9\n" for k in range(6)), arm, tmp_path)
    assert motion.notes == ("not used, their joints do not move by themselves: grip",)


def test_extra_columns_on_request(arm, tmp_path):
    text = "t,shoulder,elbow,state\n" + "".join(f"{k},0,{k},moving\n" for k in range(6))
    with pytest.raises(lw.InputError, match=r"motion.csv:1: unknown column 'state'.*--ignore-extra"):
        of(text, arm, tmp_path)
    assert of(text, arm, tmp_path, ignore_extra=True).notes == ("not used: state",)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty file"),
        (HEAD, r"motion.csv:1: expected rows of numbers"),
        (ROWS, r"motion.csv:1: expected a header that names the columns"),
        ("t,shoulder\n0,0\n", r"motion.csv:1: expected a column for every joint, got none for 'elbow'"),
        ("t,shoulder,elbwo\n0,0,0\n", r"got none for 'elbow'. No joint is called 'elbwo'. Rename or add columns"),
        ("t,shoulder,elbow,\n0,0,0,0\n", r"motion.csv:1: expected a name for every column"),
        ("t,elbow,elbow\n0,0,0\n", r"expected each column once, got 'elbow' twice"),
        ("t,shoulder,elbow,q.elbow\n0,0,0,0\n", r"expected each column once, got 'elbow' and 'q.elbow'"),
        ("t,time,shoulder,elbow\n0,0,0,0\n", r"expected one column of times"),
        ("shoulder,elbow\n0,0\n", r"expected a column 't' or 'time'"),
        (
            "t,shoulder,elbow,qd.elbow\n0,0,0,0\n",
            r"expected qd for every joint or for none, got none for 'qd.shoulder'",
        ),
        (HEAD + "0,0,0\n1,1\n", r"motion.csv:3: expected 3 cells as in the header, got 2"),
        (HEAD + "0,0,0\n\n1,x,2\n", r"motion.csv:4: column 'shoulder': expected a number, got 'x'"),
        (HEAD + "0,0,0\n1,,2\n", r"motion.csv:3: column 'shoulder': expected a number, got ''"),
        (HEAD + "0,0,0\n1,nan,2\n", r"motion.csv:3: column 'shoulder': expected a finite number, got nan"),
        (HEAD + "0,0,0\n1,1,-inf\n", r"motion.csv:3: column 'elbow': expected a finite number, got -inf"),
        (HEAD + "0,0,0\n1,0,0\n1,0,0\n2,0,0\n", r"motion.csv:4: expected rising times, got 1 after 1"),
        (HEAD + "0,0,0\n1,0,0\n0.5,0,0\n2,0,0\n", r"motion.csv:4: expected rising times, got 0.5 after 1"),
        (HEAD + "0,0,0\n1,0,0\n2,0,0\n", r"motion.csv: expected at least 4 rows to differentiate, got 3"),
        (b"t,\xff\xfe\n", r"motion.csv: expected a text in UTF-8"),
        (HEAD + '0,"0\n1,0,0\n', "expected"),
        (HEAD + "0,0," + "9" * 200_000, "field larger than field limit"),
    ],
)
def test_faults_are_placed(arm, tmp_path, text, message):
    with pytest.raises(lw.InputError, match=message):
        of(text, arm, tmp_path)


@pytest.mark.parametrize(("name", "message"), [("a.txt", "got .txt"), ("a", "no suffix"), ("no.csv", "can be read")])
def test_other_files(arm, tmp_path, name, message):
    with pytest.raises(lw.InputError, match=message):
        read(tmp_path / name, arm)


def test_a_folder_is_not_a_motion(arm, tmp_path):
    (tmp_path / "a.csv").mkdir()
    with pytest.raises(lw.InputError, match="can be read"):
        read(tmp_path / "a.csv", arm)


def test_archives(arm, tmp_path):
    t = np.linspace(0, 1, 9)
    q = np.stack([t, t**2], axis=1)
    np.savez(tmp_path / "a.npz", t=t, q=q)
    np.savez(tmp_path / "b.npz", t=t, q=q[:, ::-1], names=["elbow", "shoulder"])
    for name in ("a.npz", "b.npz"):
        motion = read(tmp_path / name, arm)
        np.testing.assert_array_equal(motion.q, q)
        np.testing.assert_allclose(motion.qd[:, 1], 2 * t, atol=1e-12)


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"t": np.arange(9.0)}, "got none for 'shoulder', 'elbow'"),
        ({"q": np.zeros((9, 3))}, r"array 'q': expected the shape \(rows, 2\), got \(9, 3\)"),
        ({"t": np.arange(8.0), "q": np.zeros((9, 2))}, "as many rows each, got t 8, q 9"),
        ({"t": np.arange(9.0), "q": np.zeros((9, 2), complex)}, "array 'q': expected real numbers"),
        ({"q": np.zeros((9, 2)), "names": ["elbow", "knee"]}, "names: unknown joint 'knee'"),
        ({"q": np.zeros((9, 2)), "names": ["elbow", "elbow"]}, "each joint once, got 'elbow' twice"),
        ({"q": np.zeros((9, 2)), "qdot": np.zeros((9, 2))}, "unknown array 'qdot'. Did you mean"),
        ({"t": np.arange(9.0), "q": np.full((9, 2), np.nan)}, r"a.npz, q\[0\]: column .* finite"),
        ({"t": np.arange(9.0), "q": np.array([[{}, {}]] * 9)}, "as numpy.savez writes them"),
        ({"t": np.arange(0.0), "q": np.zeros((0, 2))}, "at least one row"),
    ],
)
def test_faults_of_archives(arm, tmp_path, arrays, message):
    np.savez(tmp_path / "a.npz", **arrays)
    with pytest.raises(lw.InputError, match=message):
        read(tmp_path / "a.npz", arm)


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04nonsense", b"\x93NUMPY\x01\x00nonsense", bytes(range(256))])
def test_archives_of_garbage(arm, tmp_path, content):
    (tmp_path / "a.npz").write_bytes(content)
    with pytest.raises(lw.InputError):
        read(tmp_path / "a.npz", arm)


def test_damaged_archives(arm, tmp_path):
    """Any byte of an archive may be wrong: the answer is a motion or a LinkwiseError."""
    np.savez_compressed(tmp_path / "a.npz", t=np.arange(9.0), q=np.zeros((9, 2)))
    good = (tmp_path / "a.npz").read_bytes()
    rng = np.random.default_rng(0)
    for _ in range(300):
        bad = bytearray(good)
        bad[rng.integers(len(bad))] = rng.integers(256)
        (tmp_path / "b.npz").write_bytes(bad[: rng.integers(len(bad) // 2, len(bad) + 1)])
        with contextlib.suppress(lw.LinkwiseError):
            read(tmp_path / "b.npz", arm)


@pytest.mark.parametrize("suffix", [".csv", ".npz"])
@pytest.mark.parametrize("floating", [False, True])
def test_written_motions_come_back(tmp_path, suffix, floating):
    robot = lw.random_tree(1, floating=floating)
    rng = np.random.default_rng(0)
    q = rng.normal(size=(5, robot.nq))
    for slot in robot.slots.values():
        if slot.nq == 7:
            q[:, slot.q + 3 : slot.q + 7] /= np.linalg.norm(q[:, slot.q + 3 : slot.q + 7], axis=1, keepdims=True)
    qd, qdd, tau = rng.normal(size=(3, 5, robot.nv))
    wrench = rng.normal(size=(5, len(robot.moving_links), 6))
    motion = Trajectory(np.arange(5.0), q, qd, qdd, True, {})
    write(tmp_path / f"a{suffix}", robot, motion, tau, wrench)
    again = read(tmp_path / f"a{suffix}", robot)
    for key in ("t", "q", "qd", "qdd"):
        np.testing.assert_array_equal(getattr(again, key), getattr(motion, key))
    assert len(column_names(robot, "q")) == robot.nq


def test_quaternions_must_have_length_one(tmp_path):
    robot = lw.load("rr", base="floating")
    np.savez(tmp_path / "a.npz", t=np.arange(9.0), q=np.zeros((9, robot.nq)))
    with pytest.raises(lw.InputError, match="expected a unit quaternion qx, qy, qz, qw, got one of length 0"):
        read(tmp_path / "a.npz", robot)
