"""Sums of products with exact coefficients: a scalar that multiplies out, so that equal formulas come out equal.

What is no sum or product, as a sine, a quotient or a choice, is an atom: a factor of its own. The square of a sine is
one less that of the cosine, and the square of a root is its number, wherever they arise.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import isfinite, isqrt, pi
from typing import Any

from linkwise.errors import LinkwiseError
from linkwise.expressions import function_of
from linkwise.files import required

Monomial = tuple[tuple[int, int], ...]  # atoms by number, each with its power
Sum = dict[Monomial, Fraction]

FUNCTIONS = ("sqrt", "exp", "tanh", "atan2", "atan2_of", "sign", "minimum", "maximum", "less", "greater", "where")
ONE: Monomial = ()
SHORT = 11  # digits of a decimal that somebody may have written
LONGEST = 20_000  # factors in the argument of a function
LEAST = 64  # denominators of numbers that are fractions, parts of pi or roots
ROUND_OFF = 4e-15  # of a few operations on floats


class TooManyTermsError(LinkwiseError):
    """A sum that has outgrown what anybody would read."""


class Atoms:
    """The factors that terms are made of, each known by its expression."""

    def __init__(self, most: int) -> None:
        self.most = most  # terms of a sum
        self.sympy = required("sympy", "symbolic")
        self.expressions: list[Any] = []
        self.square: dict[int, Sum] = {}  # of atoms whose square is something else
        self.angle: dict[int, tuple[str, Any]] = {}  # of sines and cosines: which of them, of what
        self._number: dict[Any, int] = {}
        self._numbers: dict[float, Terms] = {}
        self._other: dict[int, int] = {}
        self._size: dict[int, int] = {}  # of atoms, in factors

    def constant(self, x: Fraction) -> Terms:
        return Terms(self, {ONE: x} if x else {})

    def number(self, x: float) -> Terms:
        """The number that a float stands for: a decimal or a fraction, a part of pi, or a root."""
        if x not in self._numbers:
            self._numbers[x] = self._exact(x)
        return self._numbers[x]

    def _exact(self, x: float) -> Terms:
        if not isfinite(x):
            return self.of(self.sympy.nan if x != x else self.sympy.oo if x > 0 else -self.sympy.oo)
        if len(f"{x:.13e}".partition("e")[0].strip("-").replace(".", "").rstrip("0")) <= SHORT:
            return self.constant(Fraction(f"{x:.14g}"))
        for value, made in (
            (x, self.constant),
            (x / pi, lambda near: self.constant(near) * self.of(self.sympy.pi)),
            (x * x, lambda near: self._root(near) * (1 if x > 0 else -1)),
        ):
            near = Fraction(value).limit_denominator(LEAST)
            if near and abs(float(near) - value) < ROUND_OFF * abs(value):
                return made(near)
        return self.constant(Fraction(repr(x)))

    def _root(self, x: Fraction) -> Terms:
        """The square root of a fraction, with the roots of primes as atoms."""
        rest, found, p = x.numerator * x.denominator, self.constant(Fraction(1, x.denominator)), 2
        while rest > 1 and p <= isqrt(rest):
            while rest % (p * p) == 0:
                rest, found = rest // (p * p), found * p
            if rest % p == 0:
                rest, found = rest // p, found * self.of(self.sympy.sqrt(p))
            p += 1
        return found * self.of(self.sympy.sqrt(rest)) if rest > 1 else found

    def of(self, expression: Any) -> Terms:
        """An expression as a number times an atom."""
        coefficient, atom = self.sympy.sympify(expression).as_coeff_Mul(rational=True)
        if not coefficient.is_Rational:
            coefficient, atom = self.sympy.Integer(1), expression
        factor = Fraction(int(coefficient.p), int(coefficient.q))
        return self.constant(factor) if atom == 1 else Terms(self, {((self._placed(atom), 1),): factor})

    def _placed(self, atom: Any) -> int:
        """The number of an atom, which is given its rules when it is new."""
        if atom in self._number:
            return self._number[atom]
        k = self._number[atom] = len(self.expressions)
        self.expressions.append(atom)
        if isinstance(atom, (self.sympy.sin, self.sympy.cos)):
            self.angle[k] = (type(atom).__name__, atom.args[0])
            if isinstance(atom, self.sympy.sin):
                cosine = self._placed(self.sympy.cos(atom.args[0]))
                self.square[k] = {ONE: Fraction(1), ((cosine, 2),): Fraction(-1)}
        elif atom.is_Pow and atom.exp == self.sympy.S.Half and atom.base.is_Integer:
            self.square[k] = {ONE: Fraction(int(atom.base))}
        return k

    def size(self, k: int) -> int:
        """About how many factors an atom is written with."""
        if k not in self._size:
            self._size[k] = 1 + self.expressions[k].count_ops() if self.expressions[k].args else 1
        return self._size[k]

    def other(self, k: int) -> int:
        """The cosine of the angle of a sine, and the other way round."""
        kind, angle = self.angle[k]
        if k not in self._other:
            self._other[k] = self._placed(getattr(self.sympy, "cos" if kind == "sin" else "sin")(angle))
        return self._other[k]

    def product(self, a: Monomial, b: Monomial) -> Iterator[tuple[Monomial, Fraction]]:
        """The product of two monomials, with squares replaced."""
        whole = times(a, b)
        for k, p in whole:
            if p > 1 and k in self.square:
                rest = times(whole, ((k, -2),))
                for m, c in self.square[k].items():
                    for found, d in self.product(rest, m):
                        yield found, c * d
                return
        yield whole, Fraction(1)


class Terms:
    """A sum of products of atoms: a scalar."""

    __slots__ = ("atoms", "terms")

    def __init__(self, atoms: Atoms, terms: Sum) -> None:
        self.atoms, self.terms = atoms, terms

    def __add__(self, other: Any) -> Terms:
        return self.plus(self._lifted(other))

    def __sub__(self, other: Any) -> Terms:
        return self.plus(self._lifted(other), -1)

    def __neg__(self) -> Terms:
        return Terms(self.atoms, {m: -c for m, c in self.terms.items()})

    def __mul__(self, other: Any) -> Terms:
        other = self._lifted(other)
        if len(self.terms) * len(other.terms) > 50 * self.atoms.most:
            raise TooManyTermsError("too many terms")
        total: Sum = {}
        for a, x in self.terms.items():
            for b, y in other.terms.items():
                for m, c in self.atoms.product(a, b):
                    total[m] = total.get(m, 0) + x * y * c
        return self._checked(total)

    def __truediv__(self, other: Any) -> Terms:
        other = self._lifted(other)
        if len(other.terms) == 1:
            ((m, c),) = other.terms.items()
            return self * Terms(self.atoms, {tuple((k, -p) for k, p in m): 1 / c})
        return self * self.atoms.of(1 / other.expression())

    def __abs__(self) -> Terms:
        return self.atoms.of(abs(self.expression()))

    def sin(self) -> Terms:
        return self.atoms.of(self.atoms.sympy.sin(self.expression()))

    def cos(self) -> Terms:
        return self.atoms.of(self.atoms.sympy.cos(self.expression()))

    def __getattr__(self, name: str) -> Any:
        if name not in FUNCTIONS:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

        def apply(*others: Any) -> Terms:
            x = self.expression()
            return self.atoms.of(function_of(x, name)(x, *(self._lifted(y).expression() for y in others)))

        return apply

    def expression(self) -> Any:
        """The sum as SymPy has it."""
        if self.size() > LONGEST:
            raise TooManyTermsError("too many terms")
        return self.atoms.sympy.Add(*(product_of(self.atoms, m, c) for m, c in self.terms.items()))

    def size(self) -> int:
        """About how many factors it is written with."""
        return sum(self.atoms.size(k) for m in self.terms for k, _ in m)

    def plus(self, other: Terms, sign: int = 1) -> Terms:
        """The sum with as many times another one."""
        total = dict(self.terms)
        for m, c in other.terms.items():
            total[m] = total.get(m, 0) + sign * c
        return self._checked(total)

    def _checked(self, total: Sum) -> Terms:
        kept = {m: c for m, c in total.items() if c}
        if len(kept) > self.atoms.most:
            raise TooManyTermsError("too many terms")
        return Terms(self.atoms, kept)

    def _lifted(self, x: Any) -> Terms:
        return x if isinstance(x, Terms) else self.atoms.constant(Fraction(x))


def product_of(atoms: Atoms, monomial: Monomial, coefficient: Fraction) -> Any:
    """A term as SymPy has it."""
    sympy = atoms.sympy
    number = sympy.Rational(coefficient.numerator, coefficient.denominator)
    return sympy.Mul(number, *(atoms.expressions[k] ** p for k, p in monomial))


def times(m: Monomial, factors: Monomial) -> Monomial:
    """A monomial times powers of atoms, none of which is replaced."""
    powers = dict(m)
    for k, p in factors:
        powers[k] = powers.get(k, 0) + p
    return tuple(sorted((k, p) for k, p in powers.items() if p))
