"""Native code that nobody holds is unloaded, and what somebody holds stays."""

import sys
from pathlib import Path

import numpy as np
import pytest

from linkwise.backend import llvm, native
from linkwise.backend.call import caller
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
@pytest.mark.parametrize("calls", [1, 2, 3])
@pytest.mark.parametrize("threads", [1, 2])
def test_kernels_keep_their_code_however_often_they_were_called(small, monkeypatch, calls, threads):
    program = trace("kept", lambda x: ([x[0] * 7.0 + x[1]],), [Port("x", (2,))], [Port("y", (1,))])
    kernel = caller(program, "", threads)
    for _ in range(calls):
        kernel([2.0, 1.0])
    for k in range(20):
        line(500.0 + k)
    loads = []
    monkeypatch.setattr(native, "_ufunc", lambda *a: loads.append(a))
    assert kernel([2.0, 1.0]) == kernel(np.array([2.0, 1.0])) == 15.0
    assert not loads


@pytest.mark.skipif(native.backend() != "llvm", reason="nothing is loaded")
def test_what_other_tools_hold_stays(small):
    """CasADi and JAX call a loop by its address, and hold what was loaded."""
    program = trace("lent", lambda x: ([x[0] * 7.0 + x[1]],), [Port("x", (2,))], [Port("y", (1,))])
    held = native.loaded(program)
    for k in range(20):
        line(700.0 + k)
    assert held.loop in llvm._engines
    assert native.loaded(program) == held


@pytest.mark.skipif(native.backend() != "llvm", reason="nothing is loaded")
def test_more_than_a_process_can_hold_is_refused_in_words(small, monkeypatch):
    """LLVM would end the process."""
    monkeypatch.setattr(native, "_look_in", 6)
    monkeypatch.setattr(native, "_maps", lambda: 0.95)
    held = [line(200.0 + k) for k in range(5)]
    for _ in range(2):
        with pytest.raises(LinkwiseError, match="Let go of functions that you no longer need"):
            line(300.0)
    assert held[0]([2.0, 1.0]) == 401.0


@pytest.mark.skipif(native.backend() != "llvm", reason="nothing is loaded")
def test_what_nobody_holds_makes_room_before_maps_of_memory_run_out(small, monkeypatch):
    monkeypatch.setattr(native, "_sweep_at", 1000)
    monkeypatch.setattr(native, "LOOK", 10)
    monkeypatch.setattr(native, "_look_in", 10)
    monkeypatch.setattr(native, "_maps", lambda: 0.5)
    for k in range(40):
        line(400.0 + k)
        assert len(native._functions) <= 10


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="of Linux")
def test_maps_of_memory_are_counted(monkeypatch):
    assert 0.0 < native._maps() < 1.0
    monkeypatch.setattr(native, "Path", lambda name: Path("/nowhere") if "sys" in name else Path(name))
    assert 0.0 < native._maps() < 1.0
    monkeypatch.setattr(native, "Path", lambda name: Path("/nowhere"))
    assert native._maps() == 0.0
