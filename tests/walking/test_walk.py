"""Predicted walking: all solvers find it, between grid points it still walks, and it looks like walking."""

import json
import pickle
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest

import linkwise as lw
from linkwise.errors import LinkwiseError
from linkwise.walking import Person, sweep, walk
from linkwise.walking.opensim import write_ground, write_motion, write_torques
from linkwise.walking.pictures import carried
from linkwise.walking.problem import Problem
from linkwise.walking.walk import natural_step

# objectives of the same problems, found by another program with other dynamics
BASE, SMOOTH = 0.2106, 0.2084


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["ipopt", "uno", "scipy"])
def test_the_base_case_from_standing_still(solver):
    found = walk(Person(), 1.2, 0.6, solver=solver)
    assert found.converged
    assert found.size == (228, 1279)
    assert found.objective == pytest.approx(BASE, rel=0.08)
    assert found.violation < 1e-4
    assert found.violations() == []
    assert found.audit().residual < 1e-9


@pytest.fixture(scope="module")
def smooth():
    return walk(Person(), 1.2, 0.6, solver="ipopt", smooth=True)


@pytest.mark.slow
def test_the_smooth_case(smooth):
    assert smooth.converged
    assert smooth.size == (304, 1317)
    assert smooth.objective == pytest.approx(SMOOTH, rel=0.01)
    seen = smooth.audit()
    assert seen.points == 161
    assert seen.drift < 2e-3
    assert seen.slip < 0.1
    assert seen.zmp < 2e-3
    assert seen.residual < 1e-9
    assert seen.torque < 1.0
    assert seen.effort == pytest.approx(smooth.effort, rel=0.03)


@pytest.mark.slow
def test_a_stride_closes_and_is_mirrored(smooth):
    stride = smooth.stride()
    assert stride.t[-1] == pytest.approx(1.0)
    q, first = stride.q[-1].copy(), stride.q[0]
    q[0] -= 1.2
    np.testing.assert_allclose(q, first, atol=1e-6)
    half = len(stride.t) // 2
    np.testing.assert_allclose(stride.angle("knee_r")[half:], stride.angle("knee_l")[: half + 1], atol=1e-6)
    right, left = stride.ground_force("r")[half + 1 : -1], stride.ground_force("l")[1:half]
    np.testing.assert_allclose(right, left * [1, 1, -1], atol=1e-9)
    # over a stride the ground carries the weight, and neither speeds up nor slows down
    total = stride.ground[:, :, :3].sum(axis=1) / stride.weight
    mean = np.trapezoid(total, stride.t, axis=0) / stride.t[-1]
    np.testing.assert_allclose(mean, [0.0, 1.0, 0.0], atol=0.02)
    assert np.nanmax(np.abs(stride.tau[:, :6])) < 1e-9


@pytest.mark.slow
def test_it_looks_like_walking(smooth):
    """Signs and sizes that every textbook has; the numbers are in `features`."""
    f = smooth.features()
    assert 20 < f["hip_flexion"] < 40
    assert 5 < f["hip_extension"] < 25
    assert 10 < f["knee_stance"] < 30
    assert 50 < f["knee_swing"] < 70
    assert f["vertical_first"] > 1.0 > 0.85 > f["vertical_between"]
    assert f["vertical_second"] > 1.0
    assert 0.05 < f["braking"] < 0.3
    assert 0.05 < f["propulsion"] < 0.3
    assert 0.8 < f["hip_force"] < f["knee_force"] < f["ankle_force"] < 1.4


@pytest.mark.slow
def test_a_solved_walk_starts_another(smooth):
    other = walk(Person().with_backpack(10.0), 1.2, 0.6, solver="ipopt", smooth=True, start=smooth)
    assert other.converged
    assert other.effort > smooth.effort
    assert other.problem.weight == pytest.approx(83.0 * 9.81)


@pytest.mark.slow
def test_the_size_of_the_source():
    """Frozen joints as fixed variables: the same minimum by another skeleton's kernel."""
    found = walk(Person(), 1.2, 0.6, solver="ipopt", whole=True)
    assert found.converged
    assert found.size == (330, 1636)
    assert found.objective == pytest.approx(BASE, rel=0.08)
    frozen = [found.problem.robot.names.index(n) for n in Person().frozen]
    assert not found.curve.points[:, frozen].any()


@pytest.mark.slow
def test_several_at_once():
    found = sweep([{"speed": 1.0}, {"speed": 1.2, "person": Person(60.0, 1.65, "female")}], solver="ipopt", smooth=True)
    assert [w.converged for w in found] == [True, True]
    assert [w.problem.speed for w in found] == [1.0, 1.2]
    assert found[1].problem.person.mass == 60.0


@pytest.mark.slow
def test_a_person_whose_sides_differ_takes_a_stride(smooth):
    found = walk(Person().with_hand_load(8.0, "r"), 1.2, 0.6, solver="ipopt", start=smooth)
    assert found.converged
    assert found.problem.steps == 2
    assert found.size[0] == 13 * 38
    assert found.audit().residual < 1e-9
    stride = found.stride()
    lean = 0.5 * (stride.point("shoulder_r") + stride.point("shoulder_l")) - 0.5 * (
        stride.point("hip_r") + stride.point("hip_l")
    )
    assert lean[:, 2].mean() < -0.005  # away from the load


def test_a_stride_as_a_table(tmp_path):
    stride = walk(solver="scipy", iterations=1, progress=False).stride()
    found = stride.columns()
    np.testing.assert_array_equal(found["q.knee_r"], stride.angle("knee_r"))
    np.testing.assert_allclose(found["joint.knee_l.fy"], stride.joint_force("knee_l")[:, 1] * stride.weight)
    stride.save(tmp_path / "stride.npz")
    stride.save(tmp_path / "stride.csv")
    with np.load(tmp_path / "stride.npz") as kept:
        assert list(kept["columns"]) == list(found)
        np.testing.assert_array_equal(kept["ground"][:, 1], found["ground.r.fy"])
    table = np.genfromtxt(tmp_path / "stride.csv", delimiter=",", names=True, deletechars="")
    assert table.dtype.names == tuple(found)
    np.testing.assert_array_equal(table["pressure.l.x"], found["pressure.l.x"])
    np.testing.assert_array_equal(stride.to_dataframe()["tau.knee_r"], found["tau.knee_r"])
    with pytest.raises(LinkwiseError, match=r"\.csv, \.npz or \.parquet"):
        stride.save(tmp_path / "stride.txt")


@pytest.mark.slow
def test_a_frozen_side_asks_for_a_stride():
    found = walk(Person(frozen=(*Person().frozen, "ank_flex_l")), solver="scipy", iterations=1, progress=False)
    assert found.problem.steps == 2


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["ipopt", "uno"])
def test_a_weak_ankle(solver):
    """A limit of one side is kept there, and the other side is not symmetric to it."""
    found = walk(Person(limits={"ankle_l": 60.0}), 1.2, 0.6, solver=solver, progress=False)
    assert found.converged
    assert found.violation < 1e-3
    stride = found.stride(21)
    assert np.abs(stride.torque("ank_flex_l")).max() < 60.1
    assert np.abs(stride.torque("ank_flex_r")).max() > 65.0


def test_a_walk_that_was_stopped_says_so():
    found = walk(solver="scipy", iterations=1, progress=False)
    assert found.status == "gave up"
    assert not found.converged
    assert found.violations()
    assert {w.kind for w in found.violations()} <= set(lw.walking.KINDS)
    assert "gave up" in repr(found)


def test_forces_are_in_weights_of_the_body_without_its_loads():
    found = walk(Person().with_backpack(15.0), solver="scipy", iterations=1, progress=False)
    assert found.problem.weight == pytest.approx(88.0 * 9.81)
    stride = found.stride(5)
    assert stride.weight == pytest.approx(73.0 * 9.81)
    np.testing.assert_allclose(stride.ground_force("r") * 73.0 * 9.81, stride.ground[:, 0, :3])
    assert found.title == "1.2 m/s, steps of 0.6 m, 88 kg"


@pytest.mark.parametrize(("mass", "height", "speed"), [(25.0, 1.28, 1.0), (100.0, 1.9, 1.4)])
def test_people_of_other_sizes_take_similar_steps(mass, height, speed):
    """At the same Froude number the step is in proportion to height."""
    similar = 1.2 * np.sqrt(height / 1.741)
    assert natural_step(similar, height) / height == pytest.approx(0.6 / 1.741)
    assert natural_step(speed, height) < height / 2


def test_a_stiff_knee_is_not_asked_to_bend():
    for stiff in (
        Person(ranges={"knee_l": (0.0, 0.35)}),
        Person(ranges={"knee_l": (0.2, 0.2)}),
        Person(frozen=(*Person().frozen, "knee_l")),
    ):
        problem = Problem(stiff, steps=2)
        assert [row.names for row in problem.linear if row.label == "knee"] == [("knee_r",)]


@pytest.mark.slow
def test_a_knee_that_is_held_at_an_angle():
    found = walk(Person(ranges={"knee_l": (0.3, 0.3)}), solver="ipopt", progress=False)
    assert found.converged
    np.testing.assert_allclose(found.stride().angle("knee_l"), 0.3, atol=1e-6)


@pytest.mark.slow
def test_what_a_person_lacks_who_is_too_weak():
    found = walk(Person(limits={"hip": 10, "knee": 10, "ankle": 10}), solver="ipopt", smooth=True, progress=False)
    assert not found.converged
    why = found.reason(progress=False)
    assert why.strength
    assert why.walk.converged
    assert {row.kind for row in why.rows} == {"torque"}
    assert all(row.soft for row in why.rows)
    needed = {row.name[:-2]: row.beyond for row in why.rows}
    assert min(needed[name] for name in ("hip_flex", "knee", "ank_flex")) > 1.0
    # what is said of a joint is what the curves of that walk show at the grid's points
    row = why.rows[0]
    peak = np.abs(why.walk.stride(21).torque(row.name)[:21]).max()
    assert peak == pytest.approx(10.0 * (1.0 + row.beyond), rel=1e-6)
    assert str(why).startswith("strength is missing")
    assert "times its strength" in str(why)


@pytest.mark.slow
def test_a_step_that_is_too_long_for_any_strength():
    found = walk(step=1.3, solver="ipopt", smooth=True, iterations=50, progress=False)
    why = found.reason(progress=False)
    assert not why.strength
    assert "contact" in {row.kind for row in why.rows}
    assert str(why).startswith("no walk is found when torques may exceed strengths either")


@pytest.mark.slow
def test_a_finer_grid_keeps_the_zero_moment_point_inside():
    found = walk(speed=1.6, solver="ipopt", smooth=True, points=41, progress=False)
    assert found.converged
    assert found.audit().zmp < 1e-3
    with pytest.raises(LinkwiseError, match="keeps them"):
        found.reason()


def test_what_soft_constraints_break_is_told():
    found = walk(solver="scipy", iterations=1, soft={"knee": 1.0, "torque": 1.0}, progress=False)
    soft = {w.kind: w.soft for w in found.violations()}
    assert soft["knee"]
    assert soft["torque"]
    assert not soft["contact"]
    joints = found.violations(kind="torque")
    assert len({w.name for w in joints}) == len(joints) > 1
    assert joints == sorted(joints, key=lambda w: -w.beyond)
    assert str(next(w for w in found.violations() if w.kind == "knee")).endswith(
        "rad off in swing, at 60 % of the step"
    )
    with pytest.raises(LinkwiseError, match="'torque'"):
        found.violations(kind="torques")


def test_loads_are_drawn_where_they_are():
    person = Person(60.0).with_backpack(15.0).with_hand_load(5.0, "l")
    found = walk(person, solver="scipy", iterations=1, progress=False)
    (pack, behind), (bag, held) = carried(found)
    stride = found.stride()
    np.testing.assert_allclose(held, stride.point("hand_l"), atol=1e-9)
    assert pack > bag
    shoulders = 0.5 * (stride.point("shoulder_r") + stride.point("shoulder_l"))
    assert (behind[:, 0] < shoulders[:, 0]).all()


def test_a_walk_without_time():
    found = walk(solver="scipy", time_limit=0.0, progress=False)
    assert found.status == "out of time"


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"speed": 0.0}, "speed"),
        ({"step": "long"}, "step"),
        ({"solver": "snopt"}, "'ipopt'"),
        ({"person": 73.0}, "Person"),
        ({"person": Person(limits={"ankle_l": 60.0}), "steps": 1}, "differ"),
        ({"steps": 3}, "1 or 2"),
        ({"without": "contacts"}, "'contact'"),
        ({"clearence": 0.01}, "clearance"),
        ({"clearance": -0.01}, "negative"),
        ({"knee": 1.0}, "lower and an upper"),
        ({"knee": None}, "lower and an upper"),
        ({"knee": (1.2, 0.9)}, "got 1.2 and 0.9"),
        ({"knee": (55, 65)}, "3.14 rad"),
        ({"step": 3.0}, "what the legs of this person span"),
        ({"speed": 20.0}, "lower speed"),
        ({"without": None}, "kinds of constraints"),
        ({"without": "zmp", "soft": {"zmp": 1.0}}, "got it in both"),
        ({"points": 1}, "whole number"),
        ({"points": 21.5}, "whole number"),
        ({"control_points": "8"}, "whole number"),
        ({"control_points": 4}, "of at least 6"),
        ({"double": "long"}, "double: expected a finite number"),
        ({"double": 0.7}, "double < heel_off"),
        ({"iterations": -1}, "iterations"),
        ({"tolerance": 0.0}, "tolerance"),
        ({"time_limit": -1.0}, "time_limit"),
        ({"start": 3}, "Walk"),
    ],
)
def test_wrong_questions_are_refused(wrong, words):
    with pytest.raises(LinkwiseError, match=words):
        walk(**wrong)


def test_unknown_names_of_a_stride_are_answered():
    stride = walk(solver="scipy", iterations=1, progress=False).stride(5)
    assert len(stride.t) == 9
    for call in (stride.angle, stride.torque, stride.point, stride.joint_force, stride.ground_force):
        with pytest.raises(LinkwiseError, match="Valid names"):
            call("tail")
    np.testing.assert_array_equal(stride.angle("ankle_r"), stride.angle("ank_flex_r"))
    with pytest.raises(LinkwiseError, match="Valid names"):
        stride.centre_of_pressure("x")
    assert stride.zmp.shape == (9, 2)
    assert stride.centre_of_pressure("r").shape == (9, 2)


def test_files_for_others(tmp_path):
    found = walk(solver="scipy", iterations=1, progress=False)
    stride = found.stride(6)
    write_motion(stride, tmp_path / "walk.mot")
    write_torques(stride, tmp_path / "torque.sto")
    write_ground(stride, tmp_path / "ground.sto")
    for name, columns in (("walk.mot", 39), ("torque.sto", 39), ("ground.sto", 19)):
        head, _, body = (tmp_path / name).read_text().partition("endheader\n")
        assert f"nRows=11\nnColumns={columns}\n" in head
        rows = np.loadtxt(body.splitlines()[1:])
        assert rows.shape == (11, columns)
        assert np.isfinite(rows).all()
    names = body.splitlines()[0].split("\t")
    # the file's force, centre and free moment are the wrench of the foot
    F, p, free = (rows[:, names.index(f"ground_{x}") :][:, :3] for x in ("force_r_vx", "force_r_px", "torque_r_x"))
    np.testing.assert_allclose(np.cross(p, F) + free, stride.ground[:, 0, 3:], atol=1e-5)
    loaded = np.flatnonzero(np.isfinite(stride.centre_of_pressure("r")[:, 0]))
    np.testing.assert_allclose(p[: loaded[0], 0], stride.centre_of_pressure("r")[loaded[0], 0], atol=1e-9)
    with pytest.raises(LinkwiseError, match=r"\.mot or \.sto"):
        write_motion(stride, tmp_path / "walk.csv")
    with pytest.raises(LinkwiseError, match=r"walk\.stride\(\)"):
        write_motion(found, tmp_path / "walk.mot")


def test_pictures_and_the_moving_figure(tmp_path):
    found = walk(solver="scipy", iterations=1, progress=False)
    found.film_strip(tmp_path / "film.png", frames=4)
    found.plot(tmp_path / "curves.svg")
    found.animate(tmp_path / "walk.html")
    text = (tmp_path / "walk.html").read_text()
    assert "TITLE" not in text
    data = json.loads(text.partition("const data = ")[2].partition(";\n")[0])
    assert data["duration"] == pytest.approx(1.0)
    assert set(data["joints"]) == {"hip", "knee", "ankle"}
    np.testing.assert_allclose(data["up"][1], found.stride().ground_force("l")[:, 1], atol=1e-4)
    count = len(data["points"][0])
    assert all(k < count for chain, *_ in data["lines"] for k in chain)
    assert (tmp_path / "film.png").stat().st_size > 10_000
    with pytest.raises(LinkwiseError, match=r"\.html"):
        found.animate(tmp_path / "walk.gif")
    with pytest.raises(LinkwiseError, match="frames"):
        found.film_strip(tmp_path / "film.png", frames=0)
    for wrong in (0, 1, 2.5):
        with pytest.raises(LinkwiseError, match="points"):
            found.stride(wrong)
    with pytest.raises(LinkwiseError, match="finer"):
        found.audit(0)


def test_walks_travel_between_processes():
    found = walk(solver="scipy", iterations=1, progress=False)
    other = pickle.loads(pickle.dumps(found))
    np.testing.assert_array_equal(other.stride(5).tau, found.stride(5).tau)
    assert other.effort == found.effort
    assert repr(other) == repr(found)


def test_a_sweep_of_what_is_no_question():
    with pytest.raises(LinkwiseError, match="case 1"):
        sweep([1.2])


def test_a_sweep_of_what_processes_cannot_be_sent():
    aim = lw.cost.function(lambda point: point.tau[0], "mine")
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        for executor in (pool, None):
            with pytest.raises(LinkwiseError, match="sweep minimize: expected what can be sent to other processes"):
                sweep([{"speed": 1.0}, {"speed": 1.2}], executor, minimize=aim)
