"""Libraries that bring a BLAS of their own are loaded with one thread."""

import os

from linkwise.planning.solvers.blas import VARIABLES, loading


def test_the_environment_is_left_as_it_was(monkeypatch):
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("MKL_NUM_THREADS", "4")
    with loading():
        assert os.environ["OPENBLAS_NUM_THREADS"] == "1"
        assert os.environ["MKL_NUM_THREADS"] == "4"  # what the user said stays
    assert "OPENBLAS_NUM_THREADS" not in os.environ
    assert os.environ["MKL_NUM_THREADS"] == "4"
