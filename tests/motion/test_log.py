"""Logs as they are: names, units, clocks, gaps, wrong files."""

import pickle
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas
import pytest

import linkwise as lw
from linkwise.motion import Log, read_log
from linkwise.table import write
from support.logs import ARM, columns, motion

RATE = 500.0
T = np.arange(6000) / RATE
Q, QD, _ = motion(T)
N = len(ARM.names)
EXAMPLES = Path(__file__).parents[2] / "examples"


def spelled(*forms, first=0):
    """A table whose columns are spelled by these forms, from the channels q, qd, tau, ... one after the other."""
    x = (Q, QD, 10.0 * Q, 3.0 * Q)
    return {"t": T} | {
        form.format(name if "{}" not in form else k + first): x[i][:, k]
        for i, form in enumerate(forms)
        for k, name in enumerate(ARM.names)
    }


# ---- names


@pytest.mark.parametrize(
    ("forms", "first"),
    [
        (("position_{}", "velocity_{}", "effort_{}", "current_{}"), 0),
        (("actual_q_{}", "actual_qd_{}", "tau_{}", "actual_current_{}"), 0),
        (("pos{}", "vel{}", "torque{}", "cur{}"), 1),
        (("q{}", "dq{}", "tau{}", "i_current{}"), 1),
        (("joint{}_position", "joint{}_velocity", "joint{}_torque", "joint{}_current"), 1),
        (("J{}Pos", "J{}Vel", "J{}Trq", "J{}Cur"), 1),
        (("MsrPos_A{}", "theta_dot_{}", "u_trq_{}", "I{}"), 1),
        (("A{}", "v_vel_{}", "tau_{}_Nm", "i{}"), 1),
        (("/joint_states.position.{}", "/joint_states.velocity.{}", "/joint_states.effort.{}", "m{}.amps"), 0),
    ],
)
def test_common_spellings_are_guessed_and_said(forms, first):
    log = read_log(spelled(*forms, first=first), ARM)
    np.testing.assert_array_equal(log.q, Q)
    np.testing.assert_array_equal(log.qd, QD)
    np.testing.assert_array_equal(log.tau, 10.0 * Q)
    np.testing.assert_array_equal(log.current, 3.0 * Q)
    assert sum(note.startswith("taken for ") for note in log.notes) == 4


def test_names_of_joints_in_other_places():
    table = {"Timestamp": T} | {f"{name.upper()}_pos": Q[:, k] for k, name in enumerate(ARM.names)}
    np.testing.assert_array_equal(read_log(table, ARM).q, Q)


def test_names_without_what_all_have_in_common_and_units_in_words():
    joints = [replace(j, name=f"ur_{j.name}_joint") for j in ARM.joints]
    arm = lw.Robot(ARM.links, joints, name="ur")
    table = {"t": T} | {f"{name}_pos_deg": np.degrees(Q[:, k]) for k, name in enumerate(ARM.names)}
    table |= {f"{name}_i_mA": 1e3 * Q[:, k] for k, name in enumerate(ARM.names)}
    log = read_log(table, arm)
    np.testing.assert_allclose(log.q, Q, atol=1e-12)
    np.testing.assert_allclose(log.current, Q, atol=1e-12)
    assert any(note.endswith(", in deg") for note in log.notes)


def test_targets_and_tools_are_not_measurements():
    table = spelled("actual_q_{}", "target_qd_{}", "target_moment_{}", "actual_TCP_speed_{}")
    log = read_log(table, ARM)
    assert log.qd is None
    assert log.tau is None
    assert "perhaps qd, but not measured by its name, and not used: target_qd_0, ..., target_qd_5" in log.notes
    assert set(table) - set(log.others) == {"t"} | {f"actual_q_{k}" for k in range(N)}  # nothing is lost
    mapped = read_log(table, ARM, columns={"target_moment_*": "tau", "actual_TCP_speed_*": None})
    np.testing.assert_array_equal(mapped.tau, 10.0 * Q)
    assert not any("TCP" in name for name in mapped.others)


def test_patterns_by_number_by_name_and_single_columns():
    x = spelled("a_{}", "b_{}")
    named = {f"{name}.load": 2.0 * Q[:, k] for k, name in enumerate(ARM.names)}
    order = [*list(x.items())[:1], *reversed(list(x.items())[1:])]
    table = dict(order) | named | {"ft z": T, "hot": T + 20.0}
    log = read_log(
        table,
        ARM,
        columns={"a_*": "q", "b_*": "qd", "*.load": "tau", "ft z": "wrench.tool.fz", "hot": "temperature.elbow"},
    )
    np.testing.assert_array_equal(log.q, Q)
    np.testing.assert_array_equal(log.tau, 2.0 * Q)
    np.testing.assert_array_equal(log.wrenches["tool"][:, 2], T)
    np.testing.assert_array_equal(log["temperature.elbow"], T + 20.0)
    one = {f"x_{k}": f"q.{name}" for k, name in enumerate(ARM.names)}
    np.testing.assert_array_equal(read_log(spelled("x_{}"), ARM, columns=one).q, Q)


@pytest.mark.parametrize(
    ("mapping", "words"),
    [
        ({"nothing_*": "q"}, "unknown column 'nothing_*'"),
        ({"a_0": "q"}, "expected for 'a_0' one column, such as 'q.waist'"),
        ({"a_*": "q", "b_*": "q"}, "expected one column for 'q.waist', got 'a_0' and 'b_0'"),
        ({"a_*": "tau", "?": "q"}, "unknown column '?'"),
        ({3: "q"}, "expected names by pattern"),
    ],
)
def test_wrong_patterns_are_refused(mapping, words):
    with pytest.raises(lw.LinkwiseError, match=re.escape(words.replace("waist", ARM.names[0]))):
        read_log(spelled("a_{}", "b_{}"), ARM, columns=mapping)


def test_what_is_missing_is_named():
    with pytest.raises(lw.InputError, match=r"expected positions of all joints, got none for 'q.*Say which they are"):
        read_log({"t": T, "x": T}, ARM)
    with pytest.raises(lw.InputError, match="expected a column of times, such as 't', got none"):
        read_log({k: v for k, v in spelled("q{}").items() if k != "t"}, ARM)
    log = read_log({k: v for k, v in spelled("q{}").items() if k != "t"}, ARM, rate=250.0)
    assert log.rate == pytest.approx(250.0)
    part = columns(T, Q) | {f"tau.{ARM.names[1]}": T}
    log = read_log(part, ARM)
    assert np.isnan(log.tau[:, 0]).all()
    np.testing.assert_array_equal(log.tau[:, 1], T)
    assert any(note.startswith("not measured: tau.") for note in log.notes)


# ---- units


def test_units_by_name_in_heads_and_as_factors():
    degrees = read_log(columns(T, np.degrees(Q), QD * 30.0 / np.pi), ARM, units={"q": "deg", "qd": "rpm"})
    np.testing.assert_allclose(degrees.q, Q, rtol=1e-14)
    np.testing.assert_allclose(degrees.qd, QD, rtol=1e-14)
    heads = {f"q.{n} [deg]": np.degrees(Q[:, k]) for k, n in enumerate(ARM.names)} | {"time [ms]": 1e3 * T}
    log = read_log(heads, ARM)
    np.testing.assert_allclose(log.q, Q, rtol=1e-14)
    assert log.rate == pytest.approx(RATE)
    ticks = read_log(columns(T, Q * 4096 / (2.0 * np.pi)), ARM, units={"q": "ticks"}, counts=4096)
    np.testing.assert_allclose(ticks.q, Q, rtol=1e-13)
    ratio = np.array([32.0, 32.0, 45.0, -48.0, 45.0, 32.0])
    coupled = np.diag(1.0 / ratio)
    coupled[5, 4] = 0.01
    motors = Q @ np.linalg.inv(coupled).T
    np.testing.assert_allclose(read_log(columns(T, Q * ratio), ARM, units={"q": 1.0 / ratio}).q, Q, rtol=1e-13)
    np.testing.assert_allclose(read_log(columns(T, motors), ARM, units={"q": coupled}).q, Q, atol=1e-13)


def test_currents_and_gains():
    current = {f"current.{n}": 1e3 * Q[:, k] for k, n in enumerate(ARM.names)}
    log = read_log(columns(T, Q) | current, ARM, units={"current": "mA"}, gains=np.arange(1.0, 7.0))
    np.testing.assert_allclose(log.current, Q, rtol=1e-14)
    np.testing.assert_allclose(log.tau, Q * np.arange(1.0, 7.0), rtol=1e-14)
    one = read_log(columns(T, Q) | current, ARM, gains={ARM.names[2]: 2.0})
    assert np.isnan(one.tau).all(axis=0).tolist() == [True, True, False, True, True, True]
    with pytest.raises(lw.InputError, match="gains: expected drives"):
        read_log(columns(T, Q) | current, ARM, gains={"knee": 2.0})
    with pytest.raises(lw.InputError, match="gains: expected one number, or 6, got 2"):
        read_log(columns(T, Q) | current, ARM, gains=[1.0, 2.0])


@pytest.mark.parametrize(
    ("units", "words"),
    [
        ({"q": "furlong"}, "unknown unit 'furlong'"),
        ({"q": "ticks"}, "expected the number of ticks in a turn as `counts`, got none"),
        ({"q": [1.0, 2.0]}, "expected a number, 6 of them or a matrix, got an array of \\(2,\\)"),
        ({"q": None}, "expected a number"),
        ({"qq": "deg"}, "unknown channel or column 'qq'"),
    ],
)
def test_wrong_units_are_refused(units, words):
    with pytest.raises(lw.LinkwiseError, match=words):
        read_log(columns(T, Q), ARM, units=units)


def test_degrees_and_other_sizes_are_questioned():
    assert any("look like degrees" in note for note in read_log(columns(T, np.degrees(Q)), ARM).notes)
    assert any("say units={'qd': 'deg'}" in n for n in read_log(columns(T, Q, np.degrees(QD)), ARM).notes)
    assert any("say units={'q': 'deg'}" in n for n in read_log(columns(T, np.degrees(Q), QD), ARM).notes)
    assert any("say units={'qd': 'rpm'}" in n for n in read_log(columns(T, Q, QD * 30 / np.pi), ARM).notes)
    odd = QD * [1.0, 1.0, -1.0, 1.0, 1.0, 1.0]
    assert any(f"than 1: {ARM.names[2]} -1" in note for note in read_log(columns(T, Q, odd), ARM).notes)


def test_exchanged_columns_are_named():
    swapped = QD[:, [0, 2, 1, 3, 4, 5]]
    notes = read_log(columns(T, Q, swapped), ARM).notes
    assert sum("columns look exchanged" in note for note in notes) == 2
    assert any(f"q.{ARM.names[1]} changes as qd.{ARM.names[2]} says" in note for note in notes)
    assert any("q and qd look exchanged" in note for note in read_log(columns(T, QD, Q), ARM).notes)


def test_constant_channels_and_short_logs_are_named():
    q = Q.copy()
    q[:, 3] = 0.5
    notes = read_log(columns(T, q, tau=0.0 * Q), ARM).notes
    assert any(n.startswith(f"constant in all rows: q.{ARM.names[3]}, tau.{ARM.names[0]}") for n in notes)
    assert any("the log is short: 0.198 s" in n for n in read_log(columns(T[:100], Q[:100]), ARM).notes)
    with pytest.raises(lw.InputError, match="expected 8 rows of numbers or more, got 3 of 3 rows"):
        read_log(columns(T[:3], Q[:3]), ARM)


def test_angles_modulo_a_turn_become_continuous():
    q = Q.copy()
    q[:, 5] = 2.0 * T
    wrapped = q.copy()
    wrapped[:, 5] = (q[:, 5] + np.pi) % (2.0 * np.pi) - np.pi
    log = read_log(columns(T, wrapped), ARM)
    np.testing.assert_allclose(log.q, q, atol=1e-12)
    assert f"{ARM.names[5]} was measured modulo a turn, and was made continuous" in log.notes


# ---- clocks


@pytest.mark.parametrize(("factor", "unit"), [(1.0, "s"), (1e3, "ms"), (1e6, "us"), (1e9, "ns")])
def test_unix_stamps_in_any_unit(factor, unit):
    log = read_log(columns(np.round((T + 1.7e9) * factor, 6), Q), ARM)
    assert log.rate == pytest.approx(RATE, rel=1e-6)
    assert log.t[0] == pytest.approx(0.0, abs=1e-5)
    assert any(f"Unix stamps in {unit}; the log starts at 1700000000.000 s" in note for note in log.notes)
    np.testing.assert_allclose(log.q, Q, atol=1e-6)


@pytest.mark.parametrize(("factor", "unit"), [(1e6, "us"), (1e9, "ns")])
def test_times_since_a_controller_was_started(factor, unit):
    log = read_log(columns(np.round((T + 5000.0) * factor), Q), ARM)
    assert log.rate == pytest.approx(RATE, rel=1e-6)
    assert any(note.startswith(f"times were taken for {unit}") for note in log.notes)
    said = read_log(columns(np.round((T + 5000.0) * factor), Q), ARM, units={"t": unit})
    np.testing.assert_allclose(said.t, log.t, atol=1e-9)


def test_times_in_milliseconds_are_taken_for_such_or_questioned():
    log = read_log(columns(1e3 * T, Q, QD), ARM)
    assert log.rate == pytest.approx(RATE, rel=1e-6)
    assert any("times were taken for ms" in note for note in log.notes)
    notes = " ".join(read_log(columns(1e3 * T, Q, QD), ARM, units={"t": "s"}).notes)
    assert "are its times in s?" in notes
    assert "times look like ms: say units={'t': 'ms'}" in notes


@pytest.mark.parametrize("start", [-3.0, 0.0, 12345.678])
def test_times_may_start_anywhere(start):
    np.testing.assert_array_equal(read_log(columns(T + start, Q), ARM).q, Q)


def test_rows_in_any_order_twice_and_without_numbers():
    rng = np.random.default_rng(0)
    table = pandas.DataFrame(columns(T, Q))
    mixed = table.sample(frac=1.0, random_state=1)
    log = read_log(mixed, ARM)
    np.testing.assert_allclose(log.q, Q, atol=1e-9)
    assert any("earlier than the row before" in note for note in log.notes)
    twice = pandas.concat([table, table.iloc[100:120]]).sort_values("t", kind="stable")
    log = read_log(twice, ARM)
    assert any("20 rows are twice, the second was left out" in note for note in log.notes)
    np.testing.assert_allclose(log.q, Q, atol=1e-12)
    holes = table.copy()
    holes.loc[rng.choice(len(T), 50, replace=False), f"q.{ARM.names[1]}"] = np.nan
    log = read_log(holes, ARM)
    assert any("50 of 6000 rows have a cell that is not a number and were left out" in note for note in log.notes)
    np.testing.assert_allclose(log.q, Q, atol=1e-6)


def test_drops_are_filled_and_gaps_split_the_log():
    rng = np.random.default_rng(0)
    kept = rng.random(len(T)) > 0.02
    kept[2000:2400] = False
    log = read_log(columns(T[kept], Q[kept]), ARM)
    assert len(log.runs) == 2
    assert any("a gap of 0.8" in note for note in log.notes)
    assert any("were filled by a cubic spline" in note for note in log.notes)
    at = np.rint(log.t * RATE).astype(int)
    np.testing.assert_allclose(log.t, T[at], atol=1e-9)
    np.testing.assert_allclose(log.q, Q[at], atol=1e-7)
    assert len(read_log(columns(T[kept], Q[kept]), ARM, gap=1.0).runs) == 1


def test_states_that_were_recorded_twice_or_not_at_all():
    """A logger that polls an even clock: measured velocities tell which states it got."""
    rng = np.random.default_rng(2)
    polls = np.cumsum(rng.uniform(0.8, 1.25, 9000)) / 1000.0
    ticks = np.floor(polls * 1000.0)
    q, qd, _ = motion(ticks / 1000.0)
    noise = 1e-6 * rng.normal(size=(int(ticks[-1]) + 1, N))[ticks.astype(int)]
    log = read_log(columns(polls, q + noise, qd), ARM)
    assert any("of a state that had been recorded already" in note for note in log.notes)
    assert log.rate == pytest.approx(1000.0, rel=1e-3)
    assert lw.motion.smooth(log).noise.max() < 3e-6  # polled times as they are make it 100 times as much
    times = np.arange(len(log)) / 1000.0 + ticks[0] / 1000.0
    assert np.abs(log.q - motion(times)[0]).max() < 2e-5


def test_runs_one_after_the_other_in_one_file():
    """A logger that starts its clock anew."""
    t = np.concatenate([T[:2000], T[:3000], T[:1000]])
    q = np.concatenate([Q[:2000], Q[:3000], Q[:1000]])
    log = read_log(columns(t, q), ARM)
    assert [r.stop - r.start for r in log.runs] == [2000, 3000, 1000]
    np.testing.assert_allclose(log.q, q, atol=1e-9)
    assert any("times start again 2 times" in note for note in log.notes)


def test_leaps_of_torques_are_mended():
    rng = np.random.default_rng(0)
    tau = 10.0 * Q + 0.1 * rng.normal(size=Q.shape)
    odd = tau.copy()
    odd[[50, 700, 701, 4000], [0, 2, 2, 3]] += 300.0
    log = read_log(columns(T, Q, tau=odd), ARM)
    np.testing.assert_allclose(log.tau, tau, atol=1.0)
    assert sum("which got the values of their neighbours" in note for note in log.notes) == 3


def test_leaps_of_single_samples_are_left_out():
    rng = np.random.default_rng(0)
    q = Q + 1e-5 * rng.normal(size=Q.shape)
    q[[700, 3000, 3001], 2] = 0.0, 2.0, -2.0
    log = read_log(columns(T, q), ARM)
    assert f"{ARM.names[2]} leaps in 3 rows, which were left out" in log.notes
    np.testing.assert_allclose(log.q, Q, atol=1e-4)


@pytest.mark.parametrize("measured", [False, True])
def test_lost_samples_among_stamps_that_jitter_by_half_a_step(measured):
    """The stamps alone do not tell where samples were lost; how far positions move does."""
    rng = np.random.default_rng(5)
    kept = rng.random(len(T)) > 0.02
    stamps = T + 1e-3 * rng.normal(size=len(T))
    table = columns(stamps[kept], Q[kept] + 1e-6 * rng.normal(size=Q[kept].shape), QD[kept] if measured else None)
    log = read_log(table, ARM)
    assert log.rate == pytest.approx(RATE, rel=1e-4)
    shifts = np.linspace(-2e-3, 2e-3, 81)  # of the clock as a whole, about which jitter leaves doubt
    assert min(np.abs(log.q - motion(log.t + shift)[0]).max() for shift in shifts) < 3e-4


# ---- sources


def test_tables_separated_by_blanks_and_dates():
    frame = pandas.DataFrame({"when": pandas.to_datetime(1.7e9 + T, unit="s")} | spelled("q{}"))
    log = read_log(frame.drop(columns="t"), ARM, columns={"when": "t"})
    assert log.rate == pytest.approx(RATE, rel=1e-6)
    np.testing.assert_array_equal(read_log(log, ARM).q, log.q)


def test_a_file_as_a_controller_of_a_common_arm_writes_it(tmp_path):
    names = ["timestamp"]
    for word in ("target_q", "target_qd", "target_current", "target_moment", "actual_q", "actual_qd", "actual_current",
                 "joint_control_output", "actual_TCP_pose", "joint_temperatures", "actual_joint_voltage"):  # fmt: skip
        names += [f"{word}_{k}" for k in range(N)]
    values = np.column_stack([T + 1.7e9, *(Q + 0.01 * k for k in range(11))])
    values[:, 1 + 5 * N : 1 + 6 * N] = QD
    np.savetxt(tmp_path / "robot.csv", values, header=" ".join(names), comments="")
    log = read_log(tmp_path / "robot.csv", ARM)
    np.testing.assert_allclose(log.q, Q + 0.04, rtol=1e-12)
    np.testing.assert_allclose(log.qd, QD, rtol=1e-12)
    np.testing.assert_allclose(log.current, Q + 0.06, rtol=1e-12)
    assert log.tau is None
    assert "target_moment_0" in log.others


@pytest.mark.parametrize("suffix", [".csv", ".npz", ".parquet"])
def test_files_of_ours_come_back(tmp_path, suffix):
    table = columns(T, Q, QD, 5.0 * Q)
    write(tmp_path / f"a{suffix}", table)
    log = read_log(tmp_path / f"a{suffix}", ARM)
    np.testing.assert_allclose(log.q, Q, rtol=1e-15)
    log.save(tmp_path / f"b{suffix}")
    again = read_log(tmp_path / f"b{suffix}", ARM)
    for key in ("t", "q", "qd", "tau"):
        np.testing.assert_allclose(getattr(again, key), getattr(log, key), atol=1e-12)
    assert list(again.columns()) == list(log.columns())


def test_archives_and_arrays_in_the_order_of_names(tmp_path):
    order = list(reversed(range(N)))
    names = [ARM.names[k] for k in order]
    np.savez(tmp_path / "a.npz", t=T, q=Q[:, order], tau=Q[:, order], names=names)
    for source in (tmp_path / "a.npz", {"t": T, "q": Q[:, order], "tau": Q[:, order], "names": names}):
        np.testing.assert_array_equal(read_log(source, ARM).q, Q)
    np.savez(tmp_path / "b.npz", t=T, q=Q)
    for source in (tmp_path / "b.npz", {"t": T, "q": Q}):
        np.testing.assert_array_equal(read_log(source, ARM).q, Q)


def test_plain_text_with_and_without_header(tmp_path):
    both = np.column_stack([T, Q, 3.0 * Q])
    np.savetxt(tmp_path / "plain.txt", both)
    log = read_log(tmp_path / "plain.txt", ARM, columns=["t", "q", "tau"])
    np.testing.assert_allclose(log.tau, 3.0 * Q, rtol=1e-12)
    head = " ".join(["time", *(f"q{k}" for k in range(N)), *(f"tau{k}" for k in range(N))])
    np.savetxt(tmp_path / "head.dat", both, header=head, comments="")
    np.testing.assert_allclose(read_log(tmp_path / "head.dat", ARM).tau, 3.0 * Q, rtol=1e-12)
    for name, values in (("t", T), ("q", Q.ravel()), ("tau", Q)):
        np.savetxt(tmp_path / f"{name}.txt", values)
    log = read_log({k: tmp_path / f"{k}.txt" for k in ("t", "q", "tau")}, ARM)
    np.testing.assert_allclose(log.q, Q, rtol=1e-12)
    np.testing.assert_allclose(log.tau, Q, rtol=1e-12)
    with pytest.raises(lw.InputError, match=r"plain.txt: expected 7 columns, .*got 13"):
        read_log(tmp_path / "plain.txt", ARM, columns=["t", "q"])


def test_a_file_for_each_channel_with_rows_of_its_own(tmp_path):
    pandas.DataFrame({f"Joint_{k + 1}": Q[:, k] for k in range(N)}).to_csv(tmp_path / "pos.csv", index=False)
    slow = np.arange(0.0, T[-1], 0.01)
    torque = {"t": slow} | {f"Joint_{k + 1}": motion(slow)[0][:, k] for k in range(N)}
    pandas.DataFrame(torque).to_csv(tmp_path / "tau.csv", index=False)
    pandas.DataFrame({"t": T}).to_csv(tmp_path / "t.csv", index=False)
    log = read_log({"t": tmp_path / "t.csv", "q": tmp_path / "pos.csv", "tau": tmp_path / "tau.csv"}, ARM)
    np.testing.assert_allclose(log.q, Q[: len(log)], atol=1e-12)
    np.testing.assert_allclose(log.tau, log.q, atol=1e-5)
    with pytest.raises(lw.InputError, match="expected as many rows in each file"):
        read_log({"t": T[:50], "q": str(tmp_path / "pos.csv")}, ARM)


def test_several_files_are_runs(tmp_path):
    write(tmp_path / "a.csv", columns(T, Q, tau=Q))
    write(tmp_path / "b.csv", columns(T[:1000], Q[:1000]))
    slow = np.arange(0.0, 4.0, 1.0 / 250.0)
    write(tmp_path / "c.csv", columns(slow, motion(slow)[0]))
    log = read_log([tmp_path / "a.csv", tmp_path / "b.csv", tmp_path / "c.csv"], ARM)
    assert log.sources == ("a.csv", "b.csv", "c.csv")
    assert [r.stop - r.start for r in log.runs] == [6000, 1000, 1999]
    assert np.all(np.diff(log.t) > 0.0)
    np.testing.assert_array_equal(log.q[log.runs[1]], Q[:1000])
    np.testing.assert_allclose(log.q[log.runs[2]], Q[:1999], atol=1e-5)
    assert any("sampled at 250 Hz, and interpolated to 500 Hz" in note for note in log.notes)
    assert any("tau is not in all files" in note for note in log.notes)
    log.save(tmp_path / "all.npz")
    again = read_log(tmp_path / "all.npz", ARM)
    assert [r.stop - r.start for r in again.runs] == [6000, 1000, 1999]
    np.testing.assert_allclose(again.q, log.q, atol=1e-9)
    np.testing.assert_allclose(again.tau, log.tau, atol=1e-9)
    with pytest.raises(lw.InputError, match="got an empty list"):
        read_log([], ARM)


def test_the_log_of_a_robot_that_is_not_known():
    log = read_log(spelled("actual_q_{}", "actual_qd_{}"))
    assert log.robot.names == tuple(f"joint{k}" for k in range(N))
    np.testing.assert_array_equal(log.q, Q)
    np.testing.assert_array_equal(read_log(columns(T, Q)).q, Q)
    assert read_log({"t": T, "a": T**2, "b": T}).robot.names == ("a", "b")


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (3, "expected a file, a list of files, or columns by name"),
        ("log.xlsx", "expected a name that ends in one of .csv"),
        ("no.csv", "expected a file that can be read"),
        ("no.txt", "expected a file that can be read"),
        ("no.bag", "expected a file that can be read"),
        ({"t": T, f"q.{ARM.names[0]}": np.array(["x"] * len(T))}, "expected a number, got"),
    ],
)
def test_wrong_sources_are_refused(source, words):
    with pytest.raises(lw.InputError, match=words):
        read_log(source, ARM)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"columns": "q"}, "columns: expected names by pattern, or channels in order, got 'q'"),
        ({"columns": [1, 2]}, "columns: expected names by pattern"),
        ({"units": "deg"}, "units: expected units by channel"),
        ({"gap": -1.0}, "gap: expected a number above 0, got -1.0"),
        ({"gap": "long"}, "gap: expected a number above 0, got 'long'"),
        ({"gains": "strong"}, "gains: expected a finite number, got 'strong'"),
        ({"gains": {ARM.names[0]: None}}, "expected a finite number, got None"),
        ({"units": {"q": "ticks"}, "counts": "many"}, "expected numbers or a unit's name, got 'many'"),
    ],
)
def test_wrong_options_are_refused(options, words):
    current = {f"current.{n}": Q[:, k] for k, n in enumerate(ARM.names)}
    with pytest.raises(lw.InputError, match=words):
        read_log(columns(T, Q) | current, ARM, **options)


def test_channels_with_clocks_of_their_own_are_joined(tmp_path):
    """Torques of some drives are beside the positions, others in a file with slower rows."""
    slow = np.arange(0.0, T[-1], 0.02)
    write(tmp_path / "q.csv", columns(T, Q) | {f"tau.{ARM.names[0]}": Q[:, 0]})
    write(
        tmp_path / "tau.csv",
        {"t": slow} | {f"tau.{n}": motion(slow)[0][:, k] for k, n in enumerate(ARM.names) if k > 1},
    )
    log = read_log({"q": tmp_path / "q.csv", "tau": tmp_path / "tau.csv"}, ARM)
    np.testing.assert_allclose(log.tau[:, [0, 2, 3, 4, 5]], log.q[:, [0, 2, 3, 4, 5]], atol=1e-4)
    assert np.isnan(log.tau[:, 1]).all()
    assert f"not measured: tau.{ARM.names[1]}" in log.notes


@pytest.mark.parametrize("name", ["fivebar", "gough_stewart", "delta", "differential_drive", "three_rrr"])
def test_other_machines_have_logs_of_what_leads(name):
    robot = lw.load(name)
    q = np.tile(robot.q(), (300, 1))
    tau = np.outer(np.sin(T[:300]), np.ones(robot.nu))
    names = [*lw.motion.column_names(robot, "q"), *lw.motion.column_names(robot, "tau")]
    log = read_log({"t": T[:300], **dict(zip(names, np.hstack([q, tau]).T, strict=True))}, robot)
    np.testing.assert_allclose(log.q, q, atol=1e-12)
    np.testing.assert_allclose(log.tau, tau, atol=1e-12)
    assert lw.motion.smooth(log).qdd.shape[1] == robot.nv


def test_motors_behind_springs_need_not_be_measured():
    soft = lw.load(str(EXAMPLES / "arm.urdf"), side=str(EXAMPLES / "soft.toml"))
    log = read_log({"t": T, **{f"q.{n}": Q[:, k] for k, n in enumerate(soft.names)}}, soft)
    assert log.robot.nq == 3
    assert any("rigid drives" in note for note in log.notes)


def test_a_single_joint_needs_no_name():
    one = lw.load("rr").lock(["joint2"])
    log = read_log({"t": T, "q": Q[:, 0], "tau": Q[:, 1]}, one)
    np.testing.assert_array_equal(log.tau[:, 0], Q[:, 1])
    two = read_log({"t": T, "q.joint1": Q[:, 0], "q.joint2": Q[:, 1], "tau": Q[:, 2]}, lw.load("rr"))
    np.testing.assert_array_equal(two["column tau"], Q[:, 2])


def test_wrong_robots_are_refused():
    with pytest.raises(lw.InputError, match="expected a Robot, got str"):
        read_log(columns(T, Q), "panda")


# ---- the log itself


def test_a_log_is_a_table_that_pickles():
    log = read_log(columns(T, Q, QD, Q), ARM)
    assert repr(log) == "<log of 'industrial6': 6000 rows at 500 Hz, 12 s>"
    assert list(log.to_dataframe().columns) == list(log.columns())[1:]
    again = pickle.loads(pickle.dumps(log))
    np.testing.assert_array_equal(again.tau, log.tau)
    third = log.part(0, 1 / 3)
    np.testing.assert_array_equal(third.q, Q[:2000])
    assert log.plot().axes


def test_a_floating_log_has_our_names_and_quaternions_of_any_sign():
    robot = lw.load("industrial6", base="floating")
    rng = np.random.default_rng(0)
    t = T[:600]
    q = np.tile(robot.q(), (len(t), 1))
    for slot in robot.slots.values():
        if slot.quaternion is None:
            q[:, slot.q : slot.q + slot.nq] += 0.2 * np.sin(t)[:, None]
        else:
            q[:, slot.quaternion] = np.stack([0.0 * t, np.sin(0.5 * t), 0.0 * t, np.cos(0.5 * t)], axis=1)
            turn = slot.quaternion
    signs = q.copy()
    signs[:, turn] *= rng.choice([-1.0, 1.0], size=(len(t), 1))
    kept = rng.random(len(t)) > 0.05
    names = lw.motion.column_names(robot, "q")
    log = read_log({"t": t[kept], **dict(zip(names, signs[kept].T, strict=True))}, robot)
    at = np.rint(log.t * RATE).astype(int) + int(np.flatnonzero(kept)[0])
    found = log.q.copy()
    found[:, turn] *= np.sign(np.sum(found[:, turn] * q[at][:, turn], axis=1))[:, None]
    np.testing.assert_allclose(found, q[at], atol=1e-8)
    assert isinstance(log, Log)
