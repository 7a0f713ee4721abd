"""Rates of any function along a motion, by running it on scalars that carry their rates."""

from linkwise.jet import Jet
from linkwise.mechanism.series import derivatives


def time_derivative(function, values, rates):
    """The outputs of a function of lists, and their rates, when its arguments change at the rates given."""
    outputs = function(*([Jet(pair) for pair in zip(x, v, strict=True)] for x, v in zip(values, rates, strict=True)))
    return derivatives(outputs, 0), derivatives(outputs, 1)
