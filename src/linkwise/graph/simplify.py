"""Rewrite rules, applied as expressions are written. Each takes nodes or numbers and returns a node or a number.

They fold constants, drop 0 and 1, merge multiples of one value, and move signs outwards, where the next addition
takes them in. Zero times anything is zero, so a value that a result does not need may be NaN without effect.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from linkwise.graph.node import Graph

SMALL = 1e-300  # numbers whose reciprocals keep all their digits lie between this and its reciprocal


def add(g: Graph, a: Any, b: Any) -> Any:
    if isinstance(a, float):
        a, b = b, a
    if isinstance(b, (float, int)):
        if b == 0.0:
            return a
        if a.op == "add" and a.args[0].op == "const":  # (c + x) + b
            return add(g, a.args[1], a.args[0].value + b)
        return _commutative(g, "add", g.constant(float(b)), a)
    if b.op == "neg":
        return sub(g, a, b.args[0])
    if a.op == "neg":
        return sub(g, b, a.args[0])
    ka, xa = _multiple(a)
    kb, xb = _multiple(b)
    if xa is xb:
        return mul(g, xa, ka + kb)
    if ka == kb and ka != 1.0:  # k x + k y
        return mul(g, add(g, xa, xb), ka)
    if kb < 0.0 and ka > 0.0 and kb != -1.0:  # a + (-k) x
        return g.apply2("sub", a, _node(g, mul(g, xb, -kb)))
    if ka < 0.0 and kb > 0.0 and ka != -1.0:
        return g.apply2("sub", b, _node(g, mul(g, xa, -ka)))
    return _commutative(g, "add", a, b)


def sub(g: Graph, a: Any, b: Any) -> Any:
    if isinstance(b, (float, int)):
        return add(g, a, -b)
    if isinstance(a, (float, int)):
        if a == 0.0:
            return neg(g, b)
        if b.op == "neg":
            return add(g, b.args[0], float(a))
        return g.apply2("sub", g.constant(float(a)), b)
    if a is b:
        return 0.0
    if b.op == "neg":
        return add(g, a, b.args[0])
    if a.op == "neg":
        return neg(g, add(g, a.args[0], b))
    ka, xa = _multiple(a)
    kb, xb = _multiple(b)
    if xa is xb:
        return mul(g, xa, ka - kb)
    if ka == kb and ka != 1.0:  # k x - k y
        return mul(g, sub(g, xa, xb), ka)
    if kb < 0.0 and kb != -1.0:  # a - (-k) x
        return add(g, a, mul(g, xb, -kb))
    return g.apply2("sub", a, b)


def neg(g: Graph, a: Any) -> Any:
    if isinstance(a, (float, int)):
        return -a
    if a.op == "neg":
        return a.args[0]
    if a.op == "sub":
        return sub(g, *_numbers(a.args[1], a.args[0]))
    if a.op == "mul" and a.args[0].op == "const":
        return mul(g, a.args[1], -a.args[0].value)
    return g.apply("neg", a)


def mul(g: Graph, a: Any, b: Any) -> Any:
    if isinstance(a, (float, int)):
        a, b = b, a
    if isinstance(b, (float, int)):
        if b == 0.0:
            return 0.0
        if b == 1.0:
            return a
        if b == -1.0:
            return neg(g, a)
        if a.op == "neg":
            return mul(g, a.args[0], -b)
        if a.op == "mul" and a.args[0].op == "const":
            return mul(g, a.args[1], a.args[0].value * b)
        return g.apply2("mul", g.constant(float(b)), a)
    if a.op == "neg":
        return neg(g, mul(g, a.args[0], b))
    if b.op == "neg":
        return neg(g, mul(g, a, b.args[0]))
    if a.op == "where" and _is_mask(a):
        return _masked(a, b)
    if b.op == "where" and _is_mask(b):
        return _masked(b, a)
    return _commutative(g, "mul", a, b)


def div(g: Graph, a: Any, b: Any) -> Any:
    if isinstance(b, (float, int)):
        if SMALL < abs(b) < 1.0 / SMALL:
            return mul(g, a, 1.0 / b)
        return g.apply2("div", a, g.constant(float(b)))  # the reciprocal would overflow or lose digits
    if isinstance(a, (float, int)):
        return 0.0 if a == 0.0 else g.apply2("div", g.constant(float(a)), b)
    if a is b:
        return 1.0
    if a.op == "neg":
        return neg(g, div(g, a.args[0], b))
    if b.op == "neg":
        return neg(g, div(g, a, b.args[0]))
    return g.apply2("div", a, b)


def _commutative(g: Graph, op: str, a: Any, b: Any) -> Any:
    return g.apply2(op, a, b) if a.index <= b.index or a.op == "const" else g.apply2(op, b, a)


def _multiple(a: Any) -> tuple[float, Any]:
    """k and x with a = k x, k known."""
    if a.op == "mul" and a.args[0].op == "const":
        return a.args[0].value, a.args[1]
    return 1.0, a


def _is_mask(n: Any) -> bool:
    """Whether a `where` chooses between one and zero, as the derivative of one does."""
    return all(a.op == "const" and a.value in (0.0, 1.0) for a in n.args[1:])


def _masked(mask: Any, x: Any) -> Any:
    """x where the mask is one, else zero whatever x is."""
    c, yes, no = mask.args
    return c.where(x if yes.value else 0.0, x if no.value else 0.0)


def _node(g: Graph, x: Any) -> Any:
    return g.constant(float(x)) if isinstance(x, (float, int)) else x


def _numbers(*nodes: Any) -> list[Any]:
    """Constant nodes back as numbers, so that rules see them."""
    return [n.value if n.op == "const" else n for n in nodes]
