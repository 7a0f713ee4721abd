"""Logs in texts and arrays as other programs write them."""

import numpy as np
import pandas
import pytest

import linkwise as lw
from linkwise.motion import read_log
from support.logs import ARM, motion

RATE = 500.0
T = np.arange(6000) / RATE
Q = motion(T)[0]
N = len(ARM.names)
HEADS = ",".join(["t", *(f"q{k}" for k in range(N)), *(f"tau{k}" for k in range(N))])
BODY = "\n".join(",".join(f"{x:.12g}" for x in row) for row in np.column_stack([T, Q, 3.0 * Q]))
MAIN = f"{HEADS}\n{BODY}\n"


@pytest.mark.parametrize(
    "text",
    [
        MAIN.replace(",", ";"),
        MAIN.replace(",", ";").replace(".", ","),
        MAIN.replace(",", "\t"),
        "# a log\n# of Monday, 500 Hz\n" + MAIN,
        "% " + MAIN,
        "Robot: arm\nDate: today, or so\n\n" + MAIN,
        f"{HEADS}\n{','.join(['s', *['rad'] * N, *['Nm'] * N])}\n{BODY}\n",
        f"{HEADS}\n{','.join(['[s]', *['[rad]'] * N, *['-'] * N])}\n{BODY}\n",
        MAIN.replace("\n", ",\n"),
        f"{HEADS}\n" + BODY.replace("\n", ",\n") + ",\n",
        "".join(f"{k or ''},{line}\n" for k, line in enumerate(MAIN.splitlines())),
        MAIN.replace("\n", "\r\n"),
        MAIN + "2.0,0.1",
        MAIN.replace("\n0.1,", "\nWARNING: too late\n0.1,", 1),
        MAIN.replace("t,", "Zeit,"),
    ],
    ids=["semicolons", "decimal commas", "tabs", "comments", "header in a comment", "titles", "units", "in brackets",
         "separators at ends", "separators at ends of rows", "row numbers", "Windows", "cut", "messages", "a word"],
)  # fmt: skip
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_texts_as_loggers_write_them(tmp_path, text, encoding):
    (tmp_path / "a.csv").write_text(text, encoding=encoding, newline="")
    log = read_log(tmp_path / "a.csv", ARM)
    np.testing.assert_allclose(log.q, Q, rtol=0.0, atol=1e-11)
    np.testing.assert_allclose(log.tau, 3.0 * Q, rtol=0.0, atol=1e-11)
    np.testing.assert_allclose(log.t, T, atol=1e-9)


def test_cells_that_are_no_numbers_are_left_out_and_dates_are_times(tmp_path):
    lines = MAIN.splitlines()
    for k, cell in ((100, ""), (200, "n/a"), (300, "overflow")):
        lines[k] = ",".join([*lines[k].split(",")[:2], cell, *lines[k].split(",")[3:]])
    (tmp_path / "a.csv").write_text("\n".join(lines))
    log = read_log(tmp_path / "a.csv", ARM)
    assert any("3 of 6000 rows have a cell that is not a number" in note for note in log.notes)
    np.testing.assert_allclose(log.q, Q, atol=1e-8)
    dates = pandas.DataFrame({"time": pandas.to_datetime(1.7e9 + T, unit="s")} | {f"q{k}": Q[:, k] for k in range(N)})
    dates.to_csv(tmp_path / "b.csv", index=False)
    assert read_log(tmp_path / "b.csv", ARM).rate == pytest.approx(RATE, rel=1e-6)
    stamps = {"header.stamp.sec": 1.7e9 + np.floor(T), "header.stamp.nanosec": np.round((T % 1.0) * 1e9)}
    pandas.DataFrame(stamps | {f"q{k}": Q[:, k] for k in range(N)}).to_csv(tmp_path / "c.csv", index=False)
    np.testing.assert_allclose(read_log(tmp_path / "c.csv", ARM).q, Q, atol=1e-4)
    (tmp_path / "bad.csv").write_text("a,b,c\n1,2\n3,4\n")
    with pytest.raises(lw.InputError, match=r"bad.csv:2: expected 3 cells as in the header, got 2"):
        read_log(tmp_path / "bad.csv", ARM)


def test_files_without_a_header_say_what_they_may_be(tmp_path):
    (tmp_path / "a.csv").write_text(BODY)
    with pytest.raises(lw.InputError, match=r"13 columns may be t, q, tau or t, q, qd. .*columns=\['t', 'q', 'tau'\]"):
        read_log(tmp_path / "a.csv", ARM)
    np.testing.assert_allclose(read_log(tmp_path / "a.csv", ARM, columns=["t", "q", "tau"]).tau, 3.0 * Q, atol=1e-11)
    forms = ["t", "q", None, *["none"] * (N - 2), "temperature.1"]
    log = read_log(tmp_path / "a.csv", ARM, columns=forms)
    assert log.tau is None
    assert "temperature.1" in log.others
    log = read_log(tmp_path / "a.csv", ARM, columns=["t", "q", ...])
    assert log.tau is None
    assert list(log.others) == [f"column {k}" for k in range(2 + N, 2 + 2 * N)]
    np.savetxt(tmp_path / "t.csv", T, fmt="%.12g")  # whose first line is 0
    for form in (np.transpose, np.ravel, np.asarray):
        for name, values in (("q", Q), ("tau", 3.0 * Q)):
            np.savetxt(tmp_path / f"{name}.csv", np.atleast_2d(form(values)).reshape(form(values).shape), delimiter=",")
        log = read_log({k: tmp_path / f"{k}.csv" for k in ("t", "q", "tau")}, ARM)
        np.testing.assert_allclose(log.tau, 3.0 * Q, atol=1e-11)


@pytest.mark.parametrize(("form", "kind"), [("{}", float), ("array('d', {})", float), ("{}", np.float64)])
def test_cells_that_are_lists_are_columns(tmp_path, form, kind):
    rows = {key: [form.format(list(map(kind, row))) for row in x] for key, x in (("position", Q), ("effort", 3.0 * Q))}
    pandas.DataFrame({"t": T, "frame": "base, or so"} | rows).to_csv(tmp_path / "a.csv")
    log = read_log(tmp_path / "a.csv", ARM)
    np.testing.assert_allclose(log.q, Q, rtol=1e-12)
    np.testing.assert_allclose(log.tau, 3.0 * Q, rtol=1e-12)
    tuples = {key: [str(tuple(map(float, row))) for row in x] for key, x in (("position", Q), ("effort", 3.0 * Q))}
    pandas.DataFrame({"t": T} | tuples).to_csv(tmp_path / "b.csv", index=False)
    np.testing.assert_allclose(read_log(tmp_path / "b.csv", ARM).tau, 3.0 * Q, rtol=1e-12)


def test_arrays_of_other_programs(tmp_path):
    from scipy.io import savemat

    savemat(tmp_path / "a.mat", {"t": T, "q": Q, "tau": Q.T, "fs": RATE, "name": "arm"})
    savemat(tmp_path / "b.mat", {"data": {"time": T[:, None], "q": Q.T, "tau": Q.T}})
    np.savez(tmp_path / "c.npz", time=T, positions=Q.T, torques=Q.T, rate=RATE)
    for name in ("a.mat", "b.mat", "c.npz"):
        log = read_log(tmp_path / name, ARM)
        np.testing.assert_array_equal(log.q, Q)
        np.testing.assert_array_equal(log.tau, Q)
    (tmp_path / "d.mat").write_bytes(b"MATLAB 7.3 MAT-file" + bytes(600))
    with pytest.raises(lw.InputError, match=r"d.mat: expected a file of MATLAB's version 7 or earlier, got 7.3"):
        read_log(tmp_path / "d.mat", ARM)
    (tmp_path / "e.mat").write_bytes(b"no")
    with pytest.raises(lw.InputError, match=r"e.mat: expected a MATLAB file"):
        read_log(tmp_path / "e.mat", ARM)


def test_other_numbers_of_joints_are_said():
    more = np.column_stack([Q, Q[:, 0]])
    table = {"t": T} | {f"q{k + 1}": more[:, k] for k in range(N + 1)}
    with pytest.raises(lw.InputError, match=r"q1 to q7 are 7, but the robot has 6 joints. Leave out .*{'q7': None}"):
        read_log(table, ARM)
    np.testing.assert_array_equal(read_log(table, ARM, columns={"q7": None}).q, Q)
    less = {name: x for name, x in table.items() if name not in ("q6", "q7")}
    with pytest.raises(
        lw.InputError, match=rf"are 5, but the robot has 6 joints. Lock .*robot.lock\(\['{ARM.names[-1]}'\]"
    ):
        read_log(less, ARM)


def test_a_name_that_no_file_can_have_is_refused():
    for suffix in (".csv", ".bag", ".mcap"):
        with pytest.raises(lw.InputError, match="expected a file that can be read"):
            read_log("x" * 300 + suffix, ARM)
