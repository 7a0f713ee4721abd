"""Experiments on closed loops say the same as the library."""

import numpy as np

import linkwise as lw
from papers.closed_loops import course, printed_57
from papers.linkages import outline, tidy


def test_the_printed_equation_is_wrong():
    t = np.linspace(0.0, 1.0, 11)
    found = course("fivebar", t, tidy(t, np.zeros(2), np.array([0.4, -0.3])))
    assert found.worst < 1e-10
    assert printed_57(found) > 1e-2


def test_links_are_as_long_as_they_are():
    """Drawn from closed positions, ends of links that a cut holds together are one point."""
    robot = lw.load("fourbar")
    q = lw.compile(robot).positions([[0.3], [2.0]]).q
    links = outline(robot, q)
    lengths = {"crank": 0.15, "coupler": 0.45, "rocker": 0.35}
    for name, length in lengths.items():
        a, b = links[name][:, 0], links[name][:, -1]
        assert np.abs(np.linalg.norm(b - a, axis=1) - length).max() < 1e-12
    assert np.abs(links["coupler"][:, -1] - links["rocker"][:, -1]).max() < 1e-12


def test_a_tidy_move_rests_at_both_ends():
    t = np.linspace(0.0, 2.0, 201)
    q, qd, qdd = tidy(t, np.array([1.0]), np.array([3.0]))
    assert (q[0], q[-1]) == (1.0, 3.0)
    assert np.abs([qd[0], qd[-1], qdd[0], qdd[-1]]).max() == 0.0
    assert np.abs(np.gradient(q[:, 0], t) - qd[:, 0]).max() < 1e-2
