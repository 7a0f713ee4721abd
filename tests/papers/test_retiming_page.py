"""Timings of paths against a program of its own."""

import pytest

import linkwise as lw
from papers import retiming as page


def test_the_least_time_of_an_independent_program():
    """Both tend to the same, from opposite sides."""
    ours = [lw.retime(lw.load("rr"), page.ENDS, effort=page.TORQUE, intervals=n).duration for n in (400, 800)]
    true = [page.fastest_in_the_plane(n) for n in (400, 800)]
    assert page.without_steps(ours) == pytest.approx(page.without_steps(true), rel=2e-6)


def test_a_reference_that_is_too_fast_is_slowed():
    robot, effort, rate = page.stanford_limits()
    run = page.slowed(robot, effort, rate, 0.55)
    assert run.kept.all()
    assert (abs(run.tau) <= effort).all()
    assert (abs(run.tau_dot) <= rate).all()
