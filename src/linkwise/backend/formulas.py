"""Programs as formulas of SymPy, written as textbooks do: multiplied out, angles summed, grouped by what is heavy."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from fractions import Fraction
from functools import reduce
from math import gcd
from typing import Any

from linkwise.backend.angle_sums import contracted
from linkwise.backend.terms import ONE, Atoms, Monomial, Sum, Terms, TooManyTermsError, product_of, times
from linkwise.errors import InputError
from linkwise.files import required
from linkwise.graph.inline import inlined
from linkwise.graph.program import Program

MOST = 2000  # terms of a sum; beyond, formulas stay as the program computes them
FEW = 60  # quotients that are brought over one denominator
SHORT = 12  # terms of a sum that is worth looking for factors
LARGEST = 100_000  # operations of formulas that are written out
DENOMINATORS = (1, 2, 3, 4, 6, 12)  # of numbers that stay fractions; the others become decimals


def formulas(
    program: Program, inputs: Sequence[Sequence[Any]], heads: Collection[Any] = (), expand: bool = True
) -> list[list[Any]]:
    """The outputs of a straight program, each flat, as expressions of the symbols that stand for its inputs.

    Args:
        program: without a loop inside.
        inputs: one flat sequence of symbols for each input.
        heads: symbols by which sums are grouped, such as masses.
        expand: multiply out, as long as that leaves few terms; otherwise the nested expressions of the program.
    """
    if expand:
        atoms = Atoms(MOST)
        try:
            given = [[atoms.of(x) for x in group] for group in inputs]
            found = inlined(program, *given, number=atoms.number)
            if sum(x.size() for group in found for x in group) > LARGEST:
                raise TooManyTermsError("too many terms")
            first = {k for head in heads for m in atoms.of(head).terms for k, _ in m}
            return [[_decimal(_grouped(contracted(x), first)) for x in group] for group in found]
        except TooManyTermsError:
            pass
    if written_size(program) > LARGEST:
        raise InputError(
            f"{program.name}: expected formulas of at most {LARGEST:,} operations, got more. Use listing() (--listing),"
            " which names what is used more than once, or formulas of parts, as mass_matrix and bias_forces."
        )
    exact = Atoms(MOST)
    nested = inlined(program, *inputs, number=lambda x: exact.number(x).expression())
    return [[_decimal(x) for x in group] for group in nested]


def written_size(program: Program) -> float:
    """How many operations the results have when everything is written where it is used."""
    size: dict[int, float] = {}
    for n in program.schedule:
        size[n.index] = 1.0 + sum(size.get(a.index, 0.0) for a in n.args)
    return sum(size.get(n.index, 0.0) for group in program.results for n in group)


def _grouped(x: Terms, heads: set[int]) -> Any:
    """A sum in which the terms of each head stand together, with what they share before the parenthesis."""
    if len(x.terms) <= FEW and any(x.atoms.expressions[k].is_Pow for m in x.terms for k, _ in m):
        return x.atoms.sympy.cancel(x.expression())  # of quotients one
    groups: dict[int, Sum] = {}
    for m, c in x.terms.items():
        groups.setdefault(next((k for k, _ in m if k in heads), -1), {})[m] = c
    parts = []
    for head, terms in groups.items():
        parts += [_factored(x.atoms, terms)] if head >= 0 else [product_of(x.atoms, m, c) for m, c in terms.items()]
    if len(groups) == 1:
        return _factored(x.atoms, x.terms)
    return x.atoms.sympy.Add(*parts)


def _factored(atoms: Atoms, terms: Sum) -> Any:
    """What all terms share, times the rest."""
    sympy = atoms.sympy
    shared = _common(list(terms))
    if len(terms) < 2 or not shared:
        return sympy.Add(*(product_of(atoms, m, c) for m, c in terms.items()))
    number = Fraction(1)
    if all(c.denominator in DENOMINATORS for c in terms.values()):
        number = reduce(lambda a, b: Fraction(gcd(a.numerator, b.numerator), _multiple(a, b)), terms.values())
    number = -number if all(c < 0 for c in terms.values()) else number
    inverse = tuple((k, -p) for k, p in shared)
    inner = sympy.Add(*(product_of(atoms, times(m, inverse), c / number) for m, c in terms.items()))
    if 2 < len(terms) <= SHORT and all(p > 0 for m in terms for _, p in m):
        inner = sympy.factor(inner)
    return sympy.Mul(product_of(atoms, shared, number), inner)


def _multiple(a: Fraction, b: Fraction) -> int:
    return a.denominator * b.denominator // gcd(a.denominator, b.denominator)


def _common(monomials: list[Monomial]) -> Monomial:
    """The largest product that all have."""
    powers = [dict(m) for m in monomials]
    least = {k: min(p.get(k, 0) for p in powers) for k in powers[0]} if powers else {}
    return tuple((k, p) for k, p in least.items() if p > 0) or ONE


def _decimal(x: Any) -> Any:
    """An expression with decimals in place of long fractions."""
    sympy = required("sympy", "symbolic")
    x = sympy.sympify(x)
    long = [r for r in x.atoms(sympy.Rational) if int(r.q) not in DENOMINATORS]
    return x.xreplace({r: sympy.Float(float(r)) for r in long})
