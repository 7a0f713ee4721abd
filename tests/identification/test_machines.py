"""Machines with loops and platforms are identified from logs, also of their drives' positions alone."""

from dataclasses import replace

import numpy as np
import pytest

import linkwise as lw
from linkwise.motion import Log
from linkwise.platforms import delta, gough_stewart
from support.experiments import distances, inside, motion, noisy, repeated, times, truth

FIVE_BAR = lw.load("fivebar")
RUBBING = [replace(FIVE_BAR.joint(n), friction=lw.Friction(0.3, 0.2), armature=0.02) for n in FIVE_BAR.drives]
MACHINES = {  # the true one, one with other numbers, how far it moves, noise of positions
    "five-bar": (FIVE_BAR.replace(*RUBBING), FIVE_BAR, 0.4, 1e-5),
    "Delta": (delta(armature=0.01, friction=lw.Friction(0.1, 0.05)), delta(), 0.1, 2e-6),
    "Gough-Stewart": (gough_stewart(armature=0.4, friction=lw.Friction(20.0, 3.0)), gough_stewart(), 0.15, 2e-6),
}


def experiment(name: str, noise: float = 1.0, coulomb: bool = True) -> tuple[lw.Robot, lw.Robot, Log]:
    true, guess, width, level = MACHINES[name]
    if not coulomb:
        smooth = [replace(j, friction=replace(j.friction, coulomb=0.0)) for j in true.joints if not j.is_fixed]
        true = true.replace(*smooth)
    states = motion(true, width)
    tau = repeated(lw.compile(true).inverse_dynamics(*states), 2)
    q = noisy(repeated(states[0], 2), noise * level, 1)
    return true, guess, Log(guess, times(len(q)), q, tau=noisy(tau, noise * 0.01 * tau.std(axis=0), 2))


@pytest.mark.parametrize("name", MACHINES)
def test_the_truth_is_inside_the_intervals(name: str) -> None:
    true, guess, log = experiment(name)
    fit = lw.identify(guess, log)
    assert np.abs(distances(fit, true)).max() < 5.0
    assert inside(fit, true) > 0.85
    assert fit.training.mean < 0.01
    assert lw.compile(fit.robot).inverse_dynamics(*motion(true, MACHINES[name][2], 3)) == pytest.approx(
        lw.compile(true).inverse_dynamics(*motion(true, MACHINES[name][2], 3)), abs=0.05 * np.nanmax(np.abs(log.tau))
    )


@pytest.mark.parametrize("name", MACHINES)
def test_without_noise_torques_are_exact(name: str) -> None:
    true, guess, log = experiment(name, noise=0.0, coulomb=False)
    fit = lw.identify(guess, log, delays=False, physical=False, friction="viscous coulomb")
    assert fit.training.mean < 1e-8
    if name == "five-bar":  # all its groups move torques enough to be told apart to round-off
        right = truth(fit, true)
        np.testing.assert_allclose(fit.base.values, right, atol=1e-7 * np.abs(right).max())


def test_a_file_may_have_positions_of_the_drives_alone() -> None:
    true, guess, log = experiment("Delta", noise=0.0)
    opened = true.opened()
    every = lw.compile(true).positions(log.q).q
    columns = {"t": log.t} | {f"q.{n}": every[:, opened.slots[n].q] for n in true.drives}
    columns |= {f"tau.{n}": x for n, x in zip(true.drives, log.tau.T, strict=True)}
    read = lw.read_log(columns, guess)
    np.testing.assert_allclose(read.q, log.q, atol=1e-12)
    assert any("follow from those of the drives" in note for note in read.notes)
    np.testing.assert_allclose(read.tau, log.tau)
    columns = {name: x[:100] for name, x in columns.items()}
    columns[f"q.{true.drives[0]}"] = 57.3 * columns[f"q.{true.drives[0]}"]
    with pytest.raises(lw.InputError, match="expected positions of the drives that its loops allow"):
        lw.read_log(columns, guess)
    with pytest.raises(lw.InputError, match="expected positions of all joints"):
        lw.read_log({"t": log.t, "q.leg1.motor": log.q[:, 0]}, guess)


def test_a_load_on_a_platform_that_never_turns_has_a_mass_and_no_centre() -> None:
    true, _, log = experiment("Delta")
    light = true.with_parameters({"platform.m": true.link("platform").mass - 0.1})
    load = lw.identify(light, replace(log, robot=light), payload="platform").payload
    assert load.mass.lower < 0.1 < load.mass.upper
    assert not any(x.determined for x in load.com)
    assert str(load).endswith("centre not determined")


def test_drives_that_follow_have_offsets() -> None:
    true, guess, log = experiment("Delta")
    fit = lw.identify(guess, replace(log, tau=log.tau + np.array([0.3, -0.2, 0.1])), physical=False)
    extra = {f"leg{k + 1}.motor.offset": x for k, x in enumerate((0.3, -0.2, 0.1))}
    assert np.abs(distances(fit, true, extra)).max() < 5.0
