"""Files of motions that are large, or small and costly: read in time that grows with their length."""

import numpy as np
import pytest

import linkwise as lw
from linkwise import table
from linkwise.motion import read

RR = lw.load("rr")
HEAD = "t,joint1,joint2"
ROWS = "".join(f"\n{k},{k / 8},{-k / 8}" for k in range(8))


def of(tmp_path, text, **options):
    (tmp_path / "a.csv").write_text(text, encoding="utf-8")
    return read(tmp_path / "a.csv", RR, **options)


def test_a_wide_header_takes_no_time_to_compare(tmp_path):
    """Half a megabyte of names; compared each with each, that took 45 s."""
    names = [f"a{k}" for k in range(80_000)]
    with pytest.raises(lw.InputError, match=r"a\.csv:2: expected 80003 cells as in the header, got 3"):
        of(tmp_path, ",".join([HEAD, *names]) + ROWS)
    with pytest.raises(lw.InputError, match="expected each column once, got 'a' twice"):
        of(tmp_path, ",".join(["a"] * 264_000) + "\n0")


@pytest.mark.parametrize("number", ["1_0", "1_000.5", "１", "٣", "0x10", "1e", "1,5"])
def test_what_only_python_takes_for_a_number_is_none(tmp_path, number):
    with pytest.raises(lw.InputError, match=r"a\.csv:10: (column 'joint2': expected a number, got|expected 3 cells)"):
        of(tmp_path, f"{HEAD}{ROWS}\n9,1,{number}")


@pytest.mark.parametrize("number", ["+1", " 1 ", "1.", "1E0", '"1"', "\u00a01"])
def test_numbers_in_every_form(tmp_path, number):
    assert of(tmp_path, f"{HEAD}{ROWS}\n9,1,{number}").q[-1, 1] == 1.0


def test_joint_names_with_underscores_do_not_matter(tmp_path):
    text = f"{HEAD},my_state" + ROWS.replace("\n", ",on_off\n").removeprefix(",on_off") + ",on_off"
    assert len(of(tmp_path, text, ignore_extra=True)) == 8


def test_rows_keep_their_places(tmp_path):
    t = np.arange(100.0)
    text = HEAD + "".join(f"\n# remark\n{x},{x / 3},{-x}" for x in t)
    np.testing.assert_array_equal(of(tmp_path, text).q, np.stack([t / 3, -t], axis=1))
    with pytest.raises(lw.InputError, match=r"a\.csv:161: column 'joint2': expected a number, got 'x'"):
        of(tmp_path, text.replace(",-79.0", ",x").replace(",-90.0", ",y"))


def test_lines_are_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr("linkwise.table.reading.LONGEST", 1000)
    with pytest.raises(lw.InputError, match=r"a\.csv:10: expected lines of up to 1000|expected at most 1000 char"):
        of(tmp_path, HEAD + ROWS + "\n" + "9" * 2000)


@pytest.mark.slow
def test_a_log_of_a_million_rows(tmp_path):
    """60 columns of 17 digits, 1.2 GB."""
    robot = lw.load("snake59")
    rows, block = 1_000_000, 10_000
    with (tmp_path / "a.csv").open("w") as file:
        file.write(",".join(["t", *robot.names]) + "\n")
        q = np.random.default_rng(0).normal(size=(block, 59)).tolist()
        ends = [",".join(map(repr, row)) for row in q]
        for k in range(rows // block):
            file.write("".join(f"{k * block + j},{end}\n" for j, end in enumerate(ends)))
    columns = table.read(tmp_path / "a.csv")
    assert columns.column("t")[-1] == rows - 1
    np.testing.assert_array_equal(columns.column(robot.names[-1])[-block:], np.array(q)[:, -1])
