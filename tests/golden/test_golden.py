"""Generated texts are what they were; `pytest --update` accepts new ones."""

import pytest

import linkwise as lw
from support.arms import two_link

TEXTS = {
    "two_link_inverse_dynamics.txt": lambda k: k.listing(),
    "two_link_inverse_dynamics.c": lambda k: k.c_source(),
    "two_link_inverse_dynamics.js": lambda k: k.javascript_source(),
    "two_link_inverse_dynamics.h": lambda k: k.c_header(),
}


@pytest.mark.parametrize("name", TEXTS)
def test_inverse_dynamics_of_a_two_link_arm(name, golden):
    golden(name, TEXTS[name](lw.compile(two_link(), lw.inverse_dynamics)))
