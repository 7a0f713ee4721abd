"""Native code that nobody holds is unloaded, and what somebody holds stays."""

import numpy as np
import pytest

from linkwise.backend import llvm, native
from linkwise.errors import LinkwiseError
from linkwise.kernel.tracing import Port, trace


def line(slope):
    program = trace("line", lambda x: ([x[0] * slope + x[1]],), [Port("x", (2,))], [Port("y", (1,))])
    return native.function(program)


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(native, "_functions", {})
    monkeypatch.setattr(native, "IDLE", 6)
    monkeypatch.setattr(native, "_sweep_at", 6)


@pytest.mark.skipif(native.backend() != "llvm", reason="nothing is loaded")
def test_what_is_held_stays(small):
    before, held = len(llvm._engines), []
    for k in range(40):
        function = line(100.0 + k)
        assert function([2.0, 1.0]) == 2.0 * (100.0 + k) + 1.0
        if k % 10 == 0:
            held.append((function, 100.0 + k))
        del function
    assert len(native._functions) <= 12
    assert len(llvm._engines) - before <= 12
    for function, slope in held:
        np.testing.assert_array_equal(function([[2.0, 1.0]] * 9), [[2.0 * slope + 1.0]] * 9)
    assert line(100.0) is held[0][0]


@pytest.mark.skipif(native.backend() != "llvm", reason="nothing is loaded")
def test_more_than_a_process_can_hold_is_refused_in_words(small, monkeypatch):
    monkeypatch.setattr(native, "MOST", 4)
    held = [line(200.0 + k) for k in range(6)]
    with pytest.raises(LinkwiseError, match="Let go of those that you no longer need"):
        line(300.0)
    assert held[0]([2.0, 1.0]) == 401.0
