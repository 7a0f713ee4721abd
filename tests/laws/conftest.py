"""The laws hold on every back end: one seed in three runs as native code, the others on the NumPy interpreter."""

import pytest


@pytest.fixture(autouse=True)
def back_end(request, monkeypatch):
    """Native code for the tests of kernels and for seeds 0, 3, ...; else the interpreter, which compiles nothing."""
    parameters = getattr(request.node, "callspec", None)
    seed = parameters.params.get("seed", 0) if parameters else 0
    if seed % 3 and request.path.name != "test_kernels.py":
        monkeypatch.setenv("LINKWISE_BACKEND", "numpy")
