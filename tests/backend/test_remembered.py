"""Functions found again without being traced."""

import numpy as np

from linkwise.backend import remembered as module
from linkwise.backend.remembered import remembered
from linkwise.graph.program import Port, trace


def made(factor, calls):
    def make():
        calls.append(factor)
        program = trace("scaled", lambda x: ([factor * v for v in x],), [Port("x", (3,))], [Port("y", (3,))])
        return program, {"factor": factor, "pairs": [(0, 1)]}

    return make


def test_the_second_time_nothing_is_traced(monkeypatch):
    calls = []
    for _ in range(3):
        function, notes = remembered("scaled", "by two", made(2.0, calls))
        np.testing.assert_array_equal(function(np.ones((5, 3))), np.full((5, 3), 2.0))
        assert notes == {"factor": 2.0, "pairs": [[0, 1]]}
        monkeypatch.setattr(module, "_known", {})  # as in another process
    assert calls == [2.0]


def test_other_facts_are_another_function():
    calls = []
    for factor in (2.0, 3.0):
        function, _ = remembered("scaled", f"by {factor}", made(factor, calls))
        assert function([1.0, 1.0, 1.0])[0] == factor
    assert calls == [2.0, 3.0]


def test_edited_modules_are_another_function(monkeypatch):
    calls = []
    remembered("scaled", "edited", made(2.0, calls))
    monkeypatch.setattr(module, "_text", lambda modules: "edited")
    remembered("scaled", "edited", made(2.0, calls))
    assert len(calls) == 2


def test_without_a_cache(monkeypatch):
    monkeypatch.setenv("LINKWISE_CACHE", "off")
    calls = []
    remembered("scaled", "uncached", made(2.0, calls))
    remembered("scaled", "uncached", made(2.0, calls))
    assert len(calls) == 1  # this process knows it


def test_the_interpreter_is_asked_where_it_is_in_use(monkeypatch):
    monkeypatch.setenv("LINKWISE_BACKEND", "numpy")
    function, notes = remembered("scaled", "interpreted", made(2.0, []))
    np.testing.assert_array_equal(function(np.ones((2, 3))), np.full((2, 3), 2.0))
    assert notes["factor"] == 2.0
