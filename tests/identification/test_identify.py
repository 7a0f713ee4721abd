"""`lw.identify` on simulated experiments: intervals, delays, loads, gains, what is not determined, wrong input."""

import pickle
import signal
from dataclasses import replace
from functools import reduce
from importlib import import_module
from time import perf_counter
from typing import Any

import numpy as np
import pytest

import linkwise as lw
from linkwise.identification import Structure, simulated_log
from linkwise.identification.fit import Fit
from linkwise.identification.laws import State
from linkwise.motion import Log


def with_friction(robot: lw.Robot, scale: float = 1.0) -> lw.Robot:
    joints = [
        replace(j, friction=lw.Friction(scale * (0.3 + 0.1 * k), scale * (0.5 + 0.05 * k)), armature=0.05 + 0.01 * k)
        for k, j in enumerate(robot.joints)
        if not j.is_fixed
    ]
    return robot.replace(*joints)


RR = with_friction(lw.load("rr"))
LOG = simulated_log(RR, 20.0, delay=0.004)


@pytest.fixture(scope="module")
def fit() -> Fit:
    return lw.identify(RR, LOG)


def distances(fit: Fit, truth: lw.Robot) -> np.ndarray:
    """How far estimates are from the truth, in standard errors."""
    parameters = np.concatenate([truth.parameters(), np.zeros(len(fit.structure.extras))])
    right = fit.structure.mapping @ np.where(fit.structure.free, parameters, 0.0)
    return ((fit.base.values - right) / fit.base.errors)[fit.base.determined]


def test_the_truth_is_near_in_standard_errors(fit: Fit) -> None:
    assert np.abs(distances(fit, RR)).max() < 5.0
    assert not fit.undetermined
    assert fit.training.mean < 0.02
    assert fit.cross_validation is not None
    assert fit.cross_validation.mean < 0.02


def test_a_delay_of_four_milliseconds_is_found(fit: Fit) -> None:
    assert fit.delay.values == pytest.approx([0.004, 0.004], abs=5e-4)
    late, clean = fit.error(LOG).mean, lw.identify(RR, simulated_log(RR, 20.0)).error(simulated_log(RR, 20.0)).mean
    assert late < 1.2 * clean


def test_delays_of_a_part_of_a_step_are_not_drawn_to_whole_steps() -> None:
    off = []
    for seed in range(16):
        late = 0.001 if seed % 2 else 0.003  # a quarter of a step, and three
        fit = lw.identify(RR, simulated_log(RR, 30.0, seed=seed, delay=late), physical=False)
        found = next(iter(fit.delay))
        off.append((found.value - late) / found.error * (1.0 if seed % 2 else -1.0))
    assert abs(np.mean(off)) < 3.0 / np.sqrt(len(off))  # three standard errors of a mean of independent ones


def test_predictions_have_the_rows_of_the_log(fit: Fit) -> None:
    other = simulated_log(RR, 8.0, seed=5, delay=0.004)
    tau = fit.predict(other)
    assert tau.shape == other.tau.shape
    inside = np.isfinite(tau).all(axis=1)
    assert inside.mean() > 0.85
    assert not inside[0]
    assert fit.error(other).mean < 0.06  # of which 2 % is noise, and reversals fall between samples


def test_the_robot_carries_what_was_found(fit: Fit) -> None:
    joint = fit.robot.joint("joint2")
    assert joint.friction.viscous == pytest.approx(RR.joint("joint2").friction.viscous, rel=0.02)
    assert joint.friction.coulomb == pytest.approx(RR.joint("joint2").friction.coulomb, rel=0.02)
    assert not [d for d in fit.robot.diagnostics if d.level == "error"]


def test_prints_pickles_and_saves(fit: Fit, tmp_path) -> None:
    assert "joint1.viscous" in str(fit)
    assert "95 % interval" in str(fit)
    assert "base parameters determined" in repr(fit)
    assert "joint1.viscous" in fit._repr_html_()
    again = pickle.loads(pickle.dumps(fit))
    np.testing.assert_array_equal(again.base.values, fit.base.values)
    np.testing.assert_allclose(again.predict(LOG), fit.predict(LOG))
    fit.save(tmp_path / "rr.toml")
    assert lw.load(tmp_path / "rr.toml").joint("joint1").friction.viscous > 0.0
    table = fit.parameters.to_dataframe()
    assert set(table.columns) == {"value", "error", "lower", "upper", "prior"}
    with pytest.raises(lw.UnknownNameError, match="unknown parameter"):
        fit.base["joint9.viscous"]


def test_friction_is_there_and_an_offset_is_not(fit: Fit) -> None:
    assert fit.test("joint1.coulomb", "joint2.coulomb").probability < 1e-6
    assert fit.test("joint1.offset").probability > 1e-3
    with pytest.raises(lw.UnknownNameError, match="unknown base parameter"):
        fit.test("joint1.static")


@pytest.mark.parametrize("estimator", ["ordinary", "weighted", "total", "instrumental"])
def test_estimators_agree_where_noise_is_small(fit: Fit, estimator: str) -> None:
    other = lw.identify(RR, LOG, estimator=estimator, physical=False)
    assert np.abs((other.base.values - fit.base.values) / fit.base.errors).max() < 6.0


def test_noise_of_positions_is_taken_off() -> None:
    log = simulated_log(RR, 40.0, noise_q=3e-4, noise_tau=0.001)
    corrected = lw.identify(RR, log, physical=False, cutoff=8.0)
    assert np.abs(distances(corrected, RR)).max() < 5.0


def test_a_load_is_found_although_friction_is_wrong_by_a_tenth() -> None:
    robot = with_friction(lw.load("arm7"))
    mass, com = 2.0, (0.03, -0.02, 0.08)
    log = replace(simulated_log(robot.with_payload(mass, com, at="tool"), 20.0, delay=0.002), robot=robot)
    load = lw.identify(with_friction(robot, 1.1), log, payload="tool").payload
    assert load.mass.value == pytest.approx(mass, rel=0.02)
    assert load.mass.lower < mass < load.mass.upper
    assert [x.value for x in load.com] == pytest.approx(com, abs=0.02 * np.linalg.norm(com))
    assert all(x.lower < c < x.upper for x, c in zip(load.com, com, strict=True))
    assert "load at 'tool'" in str(load)


def test_what_the_data_do_not_determine_is_named_and_left() -> None:
    rng, clean = np.random.default_rng(0), simulated_log(RR, 20.0, noise_q=0.0)
    q = clean.q.copy()
    q[:, 1] = 0.3
    qd = np.gradient(q, 1.0 / clean.rate, axis=0, edge_order=2)
    tau = lw.compile(RR).inverse_dynamics(q, qd, np.gradient(qd, 1.0 / clean.rate, axis=0, edge_order=2))
    noise = rng.normal(size=(2, *q.shape))
    moving = Log(RR, clean.t, q + 1e-5 * noise[0], tau=tau + 0.01 * noise[1])
    guess = with_friction(lw.load("rr"), 2.0)
    fit = lw.identify(guess, moving, physical=False)
    assert "joint2.viscous" in fit.undetermined
    estimate = fit.base["joint2.viscous"]
    assert not estimate.determined
    assert any("do not determine" in note for note in fit.notes)


def test_unknown_gains_are_found_but_for_a_common_factor() -> None:
    robot = with_friction(lw.load("puma560"))
    log = simulated_log(robot, 20.0)
    gains = np.array([5.0, 7.0, 3.0, 1.0, 0.5, 2.0])
    drawn = replace(log, tau=None, current=log.tau / gains)
    fit = lw.identify(robot, drawn, physical=False)
    assert fit.gains == pytest.approx(gains, rel=0.03)
    assert any("gains of the drives are not known" in note for note in fit.notes)
    given = lw.identify(robot, drawn, physical=False, gains=gains)
    assert np.abs(distances(given, robot)).max() < 5.0


def test_gains_of_drives_that_only_rub_are_named_and_sensible() -> None:
    bare = lw.load("puma560").without_friction()
    robot = bare.replace(*(replace(j, armature=0.0) for j in bare.joints))  # as many files have it
    joints = [replace(j, friction=lw.Friction(2.0, 3.0)) for j in robot.joints if not j.is_fixed]
    log = simulated_log(robot.replace(*joints), 30.0)
    gains = np.array([12.0, 13.0, 11.0, 10.0, 12.0, 11.0])
    fit = lw.identify(robot, replace(log, robot=robot, tau=None, current=log.tau / gains), physical=False)
    assert fit.gains == pytest.approx(gains, rel=0.25)
    assert any("do not tell gains" in note and "joint6" in note for note in fit.notes)


ARM = with_friction(lw.load("industrial6"))
MOVED = simulated_log(ARM, 20.0)


@pytest.mark.parametrize("value", [np.nan, 0.0])
def test_a_drive_that_was_not_measured_is_left_out(value: float) -> None:
    tau = MOVED.tau.copy()
    tau[:, 3] = value
    fit = lw.identify(ARM, replace(MOVED, tau=tau))
    assert len(fit.training.drives) == 5
    assert f"{ARM.names[3]}.coulomb" not in fit.base.names
    assert f"not measured: {ARM.names[3]}" in fit.notes
    assert fit.training.mean < 0.03
    assert not any("standard errors, most" in note for note in fit.notes)


def test_rests_at_both_ends_do_no_harm() -> None:
    rate, rng = 250.0, np.random.default_rng(0)
    t = np.arange(0.0, 36.0, 1.0 / rate)
    x = np.clip(np.minimum(t - 8.0, 28.0 - t) / 2.0, 0.0, 1.0)
    size = x**4 * (35.0 - 84.0 * x + 70.0 * x**2 - 20.0 * x**3)  # from rest, and to it
    waves = np.arange(1.0, 4.0)[:, None] * rng.uniform(0.8, 1.6, ARM.nq)
    q = ARM.q() + 0.3 * size[:, None] * np.sin(t[:, None, None] * waves).sum(axis=1)
    qd = np.gradient(q, t, axis=0)
    qdd = np.gradient(qd, t, axis=0)
    tau = np.asarray(lw.compile(ARM, lw.inverse_dynamics)(q, qd, qdd))
    coulomb = np.array([j.friction.coulomb for j in ARM.joints if not j.is_fixed])
    for rest in (t <= 8.0, t >= 28.0):  # where friction may be anything
        tau[rest] += rng.uniform(-1.0, 1.0, ARM.nu) * coulomb
    tau += 0.02 * np.sqrt(np.mean(tau**2, axis=0)) * rng.normal(size=tau.shape)
    fit = lw.identify(ARM, Log(ARM, t, q + 2e-5 * rng.normal(size=q.shape), tau=tau), physical=False)
    assert np.abs(distances(fit, ARM)).max() < 5.0
    assert fit.training.mean < 0.05  # noise of 2 %, and rows of which a part is at rest
    assert len(fit.undetermined) < 6


@pytest.mark.parametrize("noise", [0.0, 1e-5])
def test_a_joint_at_rest_tells_nothing_of_its_friction(noise: float) -> None:
    log = simulated_log(ARM.lock([ARM.names[4]]), 20.0)
    q, tau = np.insert(log.q, 4, 0.3, axis=1), np.insert(log.tau, 4, 0.3, axis=1)
    q[:, 4] += noise * np.random.default_rng(0).normal(size=len(q))
    fit = lw.identify(ARM.without_friction(), Log(ARM, log.t, q, tau=tau), physical=False)
    assert {f"{ARM.names[4]}.{law}" for law in ("viscous", "coulomb")} <= set(fit.undetermined)


def test_signs_and_units_of_torques_are_questioned() -> None:
    tau = MOVED.tau.copy()
    tau[:, 4] *= -1.0
    notes = lw.identify(ARM, replace(MOVED, tau=tau), physical=False).notes
    assert any(note.startswith(f"friction of {ARM.names[4]} is negative") for note in notes)
    notes = lw.identify(ARM, replace(MOVED, tau=1e3 * MOVED.tau), physical=False).notes
    assert any("times those of the robot as given: are they in N m?" in note for note in notes)
    assert not any("negative" in note or "in N m?" in note for note in lw.identify(ARM, MOVED).notes)


def test_bristles_are_found() -> None:
    structure = Structure(RR, presliding={"joint1": 2e-3, "joint2": 4e-3})
    clean = simulated_log(RR, 30.0, noise_q=0.0, noise_tau=0.0)
    step = 1.0 / clean.rate
    qd = np.gradient(clean.q, step, axis=0, edge_order=2)
    qdd = np.gradient(qd, step, axis=0, edge_order=2)
    state, _ = structure.with_friction(State(clean.q, qd, qdd), clean.runs, clean.rate)
    tau = structure.columns(state) @ structure.prior
    noisy = tau + 0.005 * np.random.default_rng(0).normal(size=tau.shape)
    fit = lw.identify(RR, replace(clean, tau=noisy), physical=False)
    assert fit.structure.presliding["joint1"] == pytest.approx(2e-3, rel=0.6)
    assert fit.structure.presliding["joint2"] == pytest.approx(4e-3, rel=0.6)
    plain = lw.identify(RR, replace(clean, tau=noisy), physical=False, friction="viscous coulomb")
    assert fit.criteria["bic"] < plain.criteria["bic"]


def test_further_laws_of_friction_have_columns() -> None:
    log = replace(LOG, others={"temperature.joint1": np.linspace(20.0, 40.0, len(LOG))})
    laws = "viscous, coulomb, stribeck, root, asymmetric, load"
    fit = lw.identify(RR, log, friction=laws, physical=False)
    for law in ("stribeck", "root", "asymmetric", "load"):
        assert f"joint1.{law}" in fit.structure.names
    warm = lw.identify(RR, log, friction="viscous coulomb temperature", physical=False)
    assert "joint1.viscous_by_temperature" in warm.structure.names
    assert "joint2.viscous_by_temperature" not in warm.structure.names
    assert abs(warm.base["joint1.viscous_by_temperature"].value) < 0.01


def test_several_logs_are_left_out_one_by_one() -> None:
    both = lw.identify(RR, [LOG, simulated_log(RR, 15.0, seed=3, delay=0.004)], physical=False)
    assert len(both.times) > 0
    assert both.cross_validation.mean < 0.02
    assert np.abs(distances(both, RR)).max() < 5.0


def test_a_measured_wrench_pushes_the_robot() -> None:
    tip = RR.moving_links[-1]
    log = simulated_log(RR, 20.0)
    t = log.t
    wrench = np.stack([np.sin(2 * t), np.cos(3 * t), 0 * t, 0 * t, 0 * t, 0.3 * np.sin(t)], axis=1)
    dyn = lw.compile(RR, lw.inverse_dynamics, external=(tip,))
    zero = np.zeros_like(log.q)
    push = dyn(log.q, zero, zero, wrench[:, None]) - lw.compile(RR).inverse_dynamics(log.q, zero, zero)
    fit = lw.identify(RR, replace(log, tau=log.tau + push, wrenches={tip: wrench}), physical=False)
    assert np.abs(distances(fit, RR)).max() < 5.0


STEPS = {  # in their order, what runs in each
    "columns": ("identify", "_Work._smoothed"),
    "delay": ("identify", "delayed"),
    "friction": ("identify", "searched"),
    "noise": ("samples", "Samples.disturbed"),
    "estimate": ("answer", "robust"),
    "physical consistency": ("answer", "consistent"),
    "left-out blocks": ("answer", "_left_out"),
}


@pytest.mark.parametrize("step", STEPS)
def test_ctrl_c_keeps_the_best_so_far(monkeypatch: pytest.MonkeyPatch, fit: Fit, step: str) -> None:
    module, path = STEPS[step]
    *within, name = path.split(".")
    owner = reduce(getattr, within, import_module(f"linkwise.identification.{module}"))
    real, pressed = getattr(owner, name), []

    def stop(*given: Any, **options: Any) -> Any:
        if not pressed:
            pressed.append(True)
            raise KeyboardInterrupt
        return real(*given, **options)

    monkeypatch.setattr(owner, name, stop)
    found = lw.identify(RR, LOG)
    assert found.status == "interrupted"
    assert any(f"interrupted at the step '{step}'" in note for note in found.notes)
    assert found.summary.startswith("interrupted")
    # 4 ms of delay are left in the residual where Ctrl-C came before they were found
    assert found.training.mean < (0.05 if step in ("columns", "delay") else 0.02)
    assert found.robot.joint("joint2").friction.viscous == pytest.approx(0.4, rel=0.05)
    assert found.cross_validation is None
    assert found.base.names == fit.base.names


def test_a_second_ctrl_c_gives_up(monkeypatch: pytest.MonkeyPatch) -> None:
    module = import_module("linkwise.identification.identify")

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(module._Work, "_smoothed", stop)
    with pytest.raises(KeyboardInterrupt):
        lw.identify(RR, LOG)


def test_ctrl_c_as_a_signal_keeps_the_best_so_far() -> None:
    log = simulated_log(RR, 60.0, delay=0.004)
    lw.identify(RR, log)  # compiled
    began = perf_counter()
    lw.identify(RR, log)
    whole = perf_counter() - began
    for share in (0.05, 0.3, 0.5):
        signal.signal(signal.SIGALRM, signal.default_int_handler)
        signal.setitimer(signal.ITIMER_REAL, share * whole)
        try:
            found = lw.identify(RR, log)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0.0)
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
        assert found.status == "interrupted"
        assert found.training.mean < 0.05


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"friction": "sticky"}, "unknown friction 'sticky'"),
        ({"estimator": "magic"}, "unknown estimator 'magic'"),
        ({"hold": ["nobody.m"]}, "unknown parameter to hold"),
        ({"payload": "nowhere"}, "nowhere"),
        ({"coupled": [("joint1", "joint9")]}, "unknown coupled joint 'joint9'"),
        ({"gains": [1.0]}, "expected 2 numbers"),
        ({"gains": {"joint7": 1.0}}, "unknown drive of a gain 'joint7'"),
        ({"cutoff": -1.0}, "cutoff"),
    ],
)
def test_wrong_options_are_refused_in_words(options: dict, message: str) -> None:
    with pytest.raises(lw.LinkwiseError, match=message):
        lw.identify(RR, LOG, **options)


def test_wrong_logs_are_refused_in_words() -> None:
    with pytest.raises(lw.InputError, match="expected measured torques, got none"):
        lw.identify(RR, replace(LOG, tau=None))
    with pytest.raises(lw.InputError, match="other joints"):
        lw.identify(lw.load("arm7"), LOG)
    with pytest.raises(lw.InputError, match="expected a log, got none"):
        lw.identify(RR, [])
    with pytest.raises(lw.LinkwiseError, match="longer"):
        lw.identify(RR, LOG.part(0.0, 0.02), cutoff=5.0)
    with pytest.raises(lw.InputError, match="without"):
        lw.identify(RR, LOG, physical=False).payload  # noqa: B018


@pytest.mark.slow
def test_intervals_cover_the_truth() -> None:
    inside = []
    for seed in range(40):
        log = simulated_log(RR, 40.0, seed=seed, delay=0.0023, noise_q=3e-5)
        fit = lw.identify(RR, log, physical=False)
        low, high = fit.base.interval().T
        truth = fit.structure.mapping @ np.where(fit.structure.free, fit.structure.prior, 0.0)
        inside.append((low <= truth) & (truth <= high))
    assert 0.90 < np.mean(inside) < 0.99  # 440 intervals, those of a log not independent


def test_a_log_that_is_too_short_is_refused():
    robot = lw.load("rr")
    log = lw.identification.simulated_log(robot, 20.0)
    with pytest.raises(lw.InputError, match=r"equations or more for each of .* Give a longer log"):
        lw.identify(robot, log.part(0.0, 0.03), progress=False)
