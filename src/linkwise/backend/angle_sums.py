"""Sines and cosines of sums of angles in place of sums of products, as textbooks write them."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations

from linkwise.backend.terms import Atoms, Monomial, Sum, Terms, times


def contracted(x: Terms) -> Terms:
    """The same with sines and cosines of sums of angles, wherever two terms become one by them."""
    terms, changed = dict(x.terms), True
    while changed:
        changed = False
        for m in list(terms):
            found = _contraction(x.atoms, terms, m) if m in terms else None
            if found:
                twin, new = found
                del terms[m], terms[twin]
                terms = Terms(x.atoms, terms).plus(new).terms
                changed = True
    return Terms(x.atoms, dict(_with_squared_sines(x.atoms, terms)))


def _contraction(atoms: Atoms, terms: Sum, m: Monomial) -> tuple[Monomial, Terms] | None:
    """A term that with m is one sine or cosine of a sum or a difference of angles, times what they share; and that."""
    a = terms[m]
    for (i, _), (j, _) in combinations([f for f in m if f[0] in atoms.angle and f[1] > 0], 2):
        rest = times(m, ((i, -1), (j, -1)))
        twin = times(rest, ((atoms.other(i), 1), (atoms.other(j), 1)))
        b = terms.get(twin)
        if b is None or abs(b) != abs(a) or twin == m:
            continue
        (f, A), (g, B) = atoms.angle[i], atoms.angle[j]
        if f == g:  # cos A cos B -+ sin A sin B
            sign, angle = (a if f == "cos" else b), A + B if a != b else A - B
            whole = atoms.sympy.cos(angle)
        else:  # sin A cos B +- cos A sin B
            A, B = (A, B) if f == "sin" else (B, A)
            sign, whole = a, atoms.sympy.sin(A + B if a == b else A - B)
        return twin, atoms.of(whole) * Terms(atoms, {rest: sign})
    return None


def _with_squared_sines(atoms: Atoms, terms: Sum) -> Iterator[tuple[Monomial, Fraction]]:
    """The terms with x - x cos^2 written as x sin^2."""
    left = dict(terms)
    for m, c in terms.items():
        for k, p in m:
            if m in left and atoms.angle.get(k, ("",))[0] == "cos" and p == 2:
                rest = tuple(f for f in m if f[0] != k)
                if left.get(rest) == -c:
                    del left[m], left[rest]
                    yield times(rest, ((atoms.other(k), 2),)), -c
    yield from left.items()
