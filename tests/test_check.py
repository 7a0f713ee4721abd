"""Numbers among arguments: what is taken, and how the rest is refused."""

from fractions import Fraction

import numpy as np
import pytest

import linkwise as lw
from linkwise import check


def test_numbers_of_every_kind():
    for one in (1, 1.0, np.float32(1.0), np.int64(1), Fraction(1)):
        assert check.number(one, "x") == check.positive(one, "x") == check.finite(one, "x") == 1.0
    assert check.number(np.inf, "x") == np.inf
    assert check.whole(np.uint8(3), "n", 0) == 3
    assert check.vector((1, 2, 3), "v").tolist() == [1.0, 2.0, 3.0]


@pytest.mark.parametrize("value", [True, None, "1", 1j, np.nan, 10**400, np.array([1.0])])
def test_what_is_no_number(value):
    for checked in (check.number, check.finite, check.positive, check.fraction):
        with pytest.raises(lw.InputError, match=r"^x: expected a .*, got "):
            checked(value, "x")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: check.positive(0.0, "dt"), "dt: expected a number above 0, got 0.0."),
        (lambda: check.finite(-np.inf, "x"), "x: expected a finite number, got -inf."),
        (lambda: check.fraction(1.5, "at"), "at: expected a fraction of the motion's time from 0 to 1, got 1.5."),
        (lambda: check.whole(2.0, "n", 1), "n: expected a whole number of at least 1, got 2.0."),
        (lambda: check.whole(False, "n", 0), "n: expected a whole number of at least 0, got False."),
        (lambda: check.whole(10, "n", 1, 9), "n: expected a whole number from 1 to 9, got 10."),
        (lambda: check.whole(2**70, "n", 1), "n: expected a whole number below 2**31, got 1.18e+21."),
        (lambda: check.vector([1, 2], "p"), "p: expected 3 finite numbers, got [1, 2]."),
    ],
)
def test_refusals(call, message):
    with pytest.raises(lw.InputError) as refusal:
        call()
    assert str(refusal.value) == message
