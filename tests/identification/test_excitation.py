"""Exciting motions: limits are kept, more is told than by random motions, and the promised errors come true."""

import json
import os
import pickle
import signal
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

import linkwise as lw
from linkwise.identification import excite
from linkwise.identification.curve_space import basis_of, space_of
from linkwise.identification.excitation import SharedLimits
from linkwise.planning.information import ROUNDED
from linkwise.planning.solvers import Monitor
from support.every_machine import elastic
from support.pinocchio_bridge import coupling, example, model, to_pin_q

EXAMPLES = Path(__file__).parents[2] / "examples"
QUICK = {"duration": 4.0, "harmonics": 3, "tries": 20, "progress": False}


@pytest.fixture(scope="module")
def told():
    return excite(lw.load("rr"), **QUICK)


def test_fourier_series_are_splines_that_end_as_they_begin():
    basis = basis_of("fourier", 4, None, 4)
    s = np.linspace(0.0, 1.0, 501)
    phase = 2.0 * np.pi * np.outer(s, np.arange(1, 5))
    waves = np.hstack([np.ones((501, 1)), np.cos(phase), np.sin(phase)])
    curves = basis.matrix(s) @ space_of("fourier", basis, 4, False, False)
    off = curves - waves @ np.linalg.lstsq(waves, curves, rcond=None)[0]
    assert np.linalg.matrix_rank(curves) == 9
    assert np.abs(off).max() < 1e-6 * np.abs(curves).max()
    for form, kind in (("fourier", basis), ("spline", basis_of("spline", None, 20, 4))):
        space = space_of(form, kind, 4, True, True)
        ends = [kind.matrix([0.0, 1.0], order) @ space for order in range(3)]
        sizes = [np.abs(kind.matrix(s, order) @ space).max() for order in range(3)]
        assert all(np.abs(x).max() < 1e-9 * size for x, size in zip(ends, sizes, strict=True))


@pytest.mark.parametrize("form", ["fourier", "spline"])
def test_a_motion_keeps_limits_and_tells_more_than_random_ones(form):
    robot = lw.load("scara")
    found = excite(robot, form=form, control_points=16, **QUICK)
    assert found.log_det > max(found.random) + 3.0
    assert found.largest_violation.violation == 0.0
    t = found.times(0.005)
    for k, name in enumerate(robot.names):
        limits = robot.joint(name).limits
        assert found.q(t)[:, k].max() <= limits.upper
        assert found.q(t)[:, k].min() >= limits.lower
        assert np.abs(found.qd(t)[:, k]).max() <= limits.velocity
        assert np.abs(found.tau(t)[:, k]).max() <= limits.effort
    ends = found.times()[[0, -1]]
    assert np.allclose(found.q(ends)[0], found.q(ends)[1], atol=1e-9)
    assert np.allclose(found.qd(ends), 0.0, atol=1e-7)
    assert np.allclose(found.qdd(ends), 0.0, atol=1e-6)
    assert np.array_equal(excite(robot, form=form, control_points=16, **QUICK).curve.points, found.curve.points)


def test_the_information_is_that_of_the_regressor_along_the_motion(told):
    robot = told.robot
    t = np.linspace(0.0, told.duration, 4001)
    motion = told.q(t), told.qd(t), told.qdd(t)
    Y = told.base.regressor(*motion)
    for k, name in enumerate(robot.parameter_names):
        if name.endswith(".coulomb") and k in told.base.kept:
            j = robot.names.index(name.removesuffix(".coulomb"))
            speed = motion[1][:, j]
            Y[:, j, list(told.base.kept).index(k)] = speed / np.sqrt(speed**2 + ROUNDED**2)
    noise = 0.01 * np.array([robot.joint(n).limits.effort for n in robot.names])
    Y /= noise[:, None] * told.sizes
    whole = np.trapezoid(np.einsum("trk,trl->tkl", Y, Y), t, axis=0)
    assert np.allclose(told.information, whole, atol=5e-3 * np.abs(whole).max())
    assert told.condition == pytest.approx(np.sqrt(np.linalg.cond(whole)), rel=0.1)


def test_promised_errors_are_those_of_least_squares(told):
    """A thousand noisy logs, each solved by weighted least squares: their scatter is the standard error."""
    rate, rng = 200.0, np.random.default_rng(0)
    t = np.arange(0.0, told.duration, 1.0 / rate)
    noise = 0.01 * np.array([told.robot.joint(n).limits.effort for n in told.robot.names])
    Y = told.base.regressor(told.q(t), told.qd(t), told.qdd(t)) / noise[:, None]
    solve = np.linalg.pinv(Y.reshape(-1, len(told.base)))
    errors = solve @ rng.normal(size=(solve.shape[1], 1000))
    assert np.allclose(errors.std(axis=1), told.standard_errors(rate), rtol=0.15)


def test_differences_of_log_det_are_those_of_pinocchios_regressor():
    robot = lw.load(example("panda.urdf")).lock(["panda_finger_joint1", "panda_finger_joint2"]).without_friction()
    theirs = model(example("panda.urdf"), locked=["panda_finger_joint1", "panda_finger_joint2"])
    links = robot.moving_links
    short = {
        "duration": 5.0,
        "harmonics": 3,
        "tries": 3,
        "iterations": 2,
        "solver": "uno",
        "progress": False,
        "about": links,
    }
    motions = [excite(robot, seed=seed, **short) for seed in (0, 1)]
    data, G, ours, others = theirs.createData(), coupling(robot, theirs), [], []
    limits = np.array([robot.joint(n).limits.effort for n in robot.names])
    for found in motions:
        s, rule = found.curve.basis.gauss(5)
        t = s * found.duration
        rows = zip(to_pin_q(robot, theirs, found.q(t)), found.qd(t) @ G.T, found.qdd(t) @ G.T, strict=True)
        Y = np.array([pin.computeJointTorqueRegressor(theirs, data, *row).copy() for row in rows])
        Y = np.einsum("vj,tvk->tjk", G, Y) / (0.01 * limits[:, None]) * np.sqrt(found.duration * rule)[:, None, None]
        others.append(Y.reshape(-1, Y.shape[-1]))
        ours.append(np.linalg.slogdet(found.information)[1])
    _, sizes, V = np.linalg.svd(np.concatenate(others), full_matrices=False)
    base = V[sizes > 1e-9 * sizes[0]].T
    assert base.shape[1] == len(motions[0].base)
    pinocchio = [2.0 * np.log(np.linalg.svd(Y @ base, compute_uv=False)).sum() for Y in others]
    assert ours[0] - ours[1] == pytest.approx(pinocchio[0] - pinocchio[1], abs=1e-2)


def test_a_payload_a_start_and_other_criteria():
    robot = lw.load("puma560")
    limits = lw.limit.joints(velocity=2.0, effort=150.0)
    found = excite(robot, about="payload", subject_to=limits, start={"joint3": 0.5}, **QUICK)
    assert len(found.parameters) == 10
    assert found.log_det > max(found.random)
    assert np.allclose(found.q(0.0), robot.q({"joint3": 0.5}), atol=1e-9)
    good = excite(lw.load("rr"), criterion="condition", **QUICK)
    assert good.condition < excite(lw.load("rr"), criterion="D", **QUICK).condition


def test_limits_of_torque_rates_reactions_and_clearance_hold():
    robot = lw.load("rr")
    limits = [
        lw.limit.joints("effort", effort_rate=60.0), lw.limit.reaction("joint2", force=20.0),
        lw.limit.clearance("link2", 0.05, half_space=((0.0, 1.0, 0.0), -0.4)),
    ]  # fmt: skip
    found = excite(robot, subject_to=limits, **QUICK)
    t, dyn = found.times(0.01), lw.compile(robot)
    assert np.abs(found.tau_dot(t)).max() <= 60.0
    assert np.linalg.norm(found.wrenches(t)[:, 1, :3], axis=1).max() <= 20.0 * 1.001
    assert dyn.pose(found.q(t), "link2")[:, 1, 3].min() >= -0.4 + 0.05 - 1e-4
    assert found.log_det > max(found.random)


def test_elastic_drives_and_loops():
    limits, short = lw.limit.joints(velocity=3.0, effort=10.0), {"solver": "uno", "iterations": 40}
    found = excite(lw.load("fivebar"), subject_to=limits, **QUICK, **short)
    assert found.log_det > max(found.random)
    assert np.isfinite(found.positions(found.times())).all()
    soft = excite(elastic(lw.load("rr"), {"joint1"}), **QUICK, **short)
    assert soft.log_det > max(soft.random)
    assert any("motor_viscous" in name for name in soft.parameters)
    with pytest.raises(lw.InputError, match=r"lw\.plan"):
        excite(lw.load("ankle"), **QUICK)


def test_without_limits_no_motion_of_loops_is_worse_than_a_random_one() -> None:
    """The search runs to poses that loops cannot reach, and says so."""
    found = excite(lw.load("fivebar"), duration=5.0, harmonics=2, tries=10, iterations=30, progress=False)
    assert np.isfinite(found.tau(np.linspace(0.0, 5.0, 777))).all()
    assert found.log_det >= max(found.random) - 1e-9
    assert found.status == "converged" or "come to an end" in found.summary


def test_loops_stay_closed_along_the_whole_motion() -> None:
    found = excite(lw.load("delta"), duration=5.0, harmonics=2, tries=4, iterations=30, time_limit=10.0, progress=False)
    assert np.isfinite(found.tau(np.linspace(0.0, 5.0, 777))).all()
    assert found.log_det >= max(found.random) - 1e-9


def test_files_for_controllers(told, tmp_path):
    yaml = pytest.importorskip("yaml")
    told.save(tmp_path / "m.json", step=0.02)
    told.save(tmp_path / "m.yaml", step=0.02)
    told.save(tmp_path / "m.csv", step=0.02)
    message = json.loads((tmp_path / "m.json").read_text())
    assert yaml.safe_load((tmp_path / "m.yaml").read_text()) == message
    assert message["joint_names"] == list(told.robot.names)
    stamps = [p["time_from_start"] for p in message["points"]]
    t = np.array([x["sec"] + 1e-9 * x["nanosec"] for x in stamps])
    assert np.allclose(t, told.times(0.02), atol=1e-9)
    for key, values in (("positions", told.q(t)), ("velocities", told.qd(t)), ("accelerations", told.qdd(t))):
        assert np.allclose([p[key] for p in message["points"]], values, atol=1e-7)
    assert np.allclose([p["effort"] for p in message["points"]], told.tau(t), atol=1e-6)
    told.save(tmp_path / "m.npz")
    assert np.array_equal(lw.planning.Plan.load(tmp_path / "m.npz").curve.points, told.curve.points)
    plan = lw.plan(lw.load("rr"), [0.0, -2.0], [1.0, -1.0], progress=False)
    plan.save(tmp_path / "plan.yml")
    assert yaml.safe_load((tmp_path / "plan.yml").read_text())["points"][-1]["velocities"] == pytest.approx([0, 0])


def test_it_pickles_and_prints(told):
    again = pickle.loads(pickle.dumps(told))
    assert again.log_det == told.log_det
    assert "log det" in repr(again)
    assert again.parameters == told.parameters


def test_a_time_limit_keeps_the_best_so_far():
    robot = lw.load("puma560")
    found = excite(robot, **{**QUICK, "tries": 5}, time_limit=0.3)
    assert found.status == "out of time"
    assert found.largest_violation.violation <= 1e-3
    assert found.log_det >= max(found.random) - 1e-6


@pytest.mark.parametrize("when", ["random motion 3", "3 iterations"])
def test_ctrl_c_returns_the_best_so_far(monkeypatch, when):
    def say(monitor, words):
        if words.startswith(when):
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(Monitor, "say", say)
    found = excite(lw.load("puma560"), **QUICK)
    assert found.status == "interrupted"
    assert found.largest_violation.violation <= 1e-3
    assert found.log_det >= max(found.random) - 1e-6


def test_a_share_of_limits_is_a_share():
    robot = lw.load("industrial6")
    half = SharedLimits(share=0.5)
    whole = lw.limit.joints()
    assert np.allclose(half.bound(robot, "effort"), 0.5 * whole.bound(robot, "effort"))
    low, high = half.ranges(robot)["elbow"]
    wide = whole.ranges(robot)["elbow"]
    assert high - low == pytest.approx(0.5 * (wide[1] - wide[0]))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"form": "sawtooth"}, "form"), ({"harmonics": 1}, "harmonics"), ({"duration": -1.0}, "duration"),
        ({"share": 1.5}, "share"), ({"about": "wing"}, "about"), ({"criterion": "E"}, "criterion"),
        ({"tries": 0}, "tries"), ({"form": "spline", "control_points": 5}, "control_points"),
        ({"subject_to": lw.limit.joints(effort=1e-3)}, "random motions"), ({"start": [9.0]}, "start"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_said(given, said):
    robot = lw.load("puma560")
    with pytest.raises(lw.LinkwiseError, match=said):
        excite(robot, **{**QUICK, **given})
    with pytest.raises(lw.InputError, match="expected a Robot"):
        excite("puma560")


@pytest.mark.slow
def test_panda_tells_more_than_the_best_of_a_thousand_random_motions(monkeypatch):
    monkeypatch.syspath_prepend(str(EXAMPLES.parent / "benchmarks"))
    import excitation

    row = excitation.panda()
    assert row["largest violation"] == 0.0
    assert row["clearance"] >= 0.02
    assert row["log det"] > row["best of random"] > row["random"]
