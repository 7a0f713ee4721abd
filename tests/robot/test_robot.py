"""Robots as they are shown, and their loops cut."""

import linkwise as lw


def test_a_robot_is_shown_in_a_few_lines():
    walker = lw.load("walker")
    text = repr(walker)
    assert len(text.splitlines()) <= 4
    assert len(text) < 500
    assert "'walker': 55 degrees of freedom, 56 links, 73 kg" in text
    assert "... and 43 more" in text
    assert "loops: " in repr(lw.load("fivebar"))


def test_a_robot_with_loops_is_opened():
    closed = lw.load("fivebar")
    opened = closed.opened()
    assert opened.loops == ()
    assert opened == closed.replace(loops=())
    assert closed.opened().opened() == opened
