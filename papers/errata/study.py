"""Printed and right forms of equations, and the error that a printed form makes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from linkwise.errors import UnknownNameError

Form = Callable[..., Any]
Forms = Mapping[str, tuple[Form, Form]]  # label of an equation: its right form, its printed (or a suspected) one
Printed = frozenset[str]
NOTHING: Printed = frozenset()  # printed wrongly

Array = NDArray[Any]
Numbers = Sequence[float] | Array
Case = TypeVar("Case")


def chosen(forms: Forms, printed: Printed) -> dict[str, Form]:
    """The form of each equation: as printed where its label is among `printed`, else the right one."""
    for label in sorted(printed - forms.keys()):
        raise UnknownNameError("equation", label, forms)
    return {label: pair[label in printed] for label, pair in forms.items()}


def same(x: Any, *_: Any) -> Any:
    """The first argument; a form that leaves it as it is."""
    return x


def second(_: Any, x: Any, *rest: Any) -> Any:
    """The second argument; a form that takes it instead of the first."""
    return x


def zero(x: Any, *_: Any) -> Any:
    """Nothing of it."""
    return x * 0.0


def minus(x: Any, *_: Any) -> Any:
    """The opposite."""
    return -x


def relative(a: Any, b: Any) -> float:
    """The largest absolute difference of a from b over the largest absolute value of b."""
    a, b = np.asarray(a, float), np.asarray(b, float)
    return float(np.abs(a - b).max() / np.abs(b).max())


class Study(Generic[Case]):
    """An algorithm of a source with its printed forms, over cases whose true results are known.

    Args:
        cases: robots and states.
        evaluate: a quantity by the source's algorithm on a case, with these equations as printed.
        truth: the same quantities by Linkwise.
    """

    def __init__(
        self,
        cases: Sequence[Case],
        evaluate: Callable[[Case, str, Printed], Any],
        truth: Callable[[Case], Mapping[str, Any]],
    ) -> None:
        self._evaluate = evaluate
        self._known = [(case, truth(case)) for case in cases]

    def error(self, quantity: str, *printed: str) -> float:
        """The largest relative error of a quantity over all cases; without labels, that of the right equations."""
        labels = frozenset(printed)
        return max(relative(self._evaluate(case, quantity, labels), true[quantity]) for case, true in self._known)
