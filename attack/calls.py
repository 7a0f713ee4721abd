"""Kernels called with good and bad arguments: shapes, types, strides, batches, outputs, and numbers of any size.

A right call is judged by the interpreter over NumPy on a few of its rows, one at a time, so that rows must not know of
each other; the inputs must be what they were. A wrong call must be refused with an error that names the argument.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
from machines import Subject, Zoo, numbers
from verdict import CLEAR, Verdict, refused, said, same, worst

from linkwise.errors import LinkwiseError

TRIES, QUICK, LONGEST = 60_000, 300, 60.0
TOLERANCE = 1e-6  # of the largest number in a row: orders of operations differ, and mass matrices are ill-conditioned
BATCHES = ((), (), (1,), (2,), (5,), (7,), (2, 3), (1, 4), (0,), (3, 0), (0, 2), (65,), (300,), (1030,), (2, 1, 3))
# near singular poses rounding decides, so there the witness is asked how far rounding has moved it
SPREAD = 30.0  # times so far, results may differ
LOST = 0.01  # of its numbers: a witness that was moved further tells nothing
ROWS = 3  # that are judged


def prepare(folder: Path, quick: bool) -> Zoo:
    return Zoo(quick)


def draw(zoo: Zoo, rng: random.Random) -> Callable[[], Verdict]:
    subject = zoo.draw(rng)
    return right(subject, rng) if rng.random() < 0.65 else wrong(subject, rng)


# ---- right calls


def right(subject: Subject, rng: random.Random) -> Callable[[], Verdict]:
    random_numbers = numbers(rng)
    batch = rng.choice(BATCHES)
    sizes = rng.choices((1.0, 1e-3, 30.0, 1e200), (10, 1, 1, 1))[0]
    poison = rng.choices((None, np.nan, np.inf), (8, 1, 1))[0]
    values = []
    for shape in subject.kernel.inputs.values():
        x = sizes * random_numbers.uniform(-2.0, 2.0, (*narrowed(batch, rng), *shape))
        if poison is not None and x.size:
            x.flat[rng.randrange(x.size)] = poison
        values.append(x)
    given = [rng.choice(DRESSES)(x) for x in values]
    values = [np.array(x, float) for x in given]  # some dresses round
    batch = np.broadcast_shapes(
        *(x.shape[: x.ndim - len(s)] for x, s in zip(values, subject.kernel.inputs.values(), strict=True))
    )
    outs = targets(subject, batch, given, rng)
    by_name = rng.random() < 0.2

    def act() -> Verdict:
        extra = {} if outs is None else {"out": outs if len(outs) > 1 or by_name else outs[0]}
        try:
            if by_name:
                found = subject.kernel(**dict(zip(subject.kernel.inputs, given, strict=True)), **extra)
            else:
                found = subject.kernel(*given, **extra)
        except LinkwiseError as error:
            if any(isinstance(g, np.ma.MaskedArray) for g in given):  # NumPy's masks fit few results
                return said(str(error), ["arrays without masks"])
            return Verdict("wrong", f"a right call is refused: {error}")
        return judged(subject, values, given, batch, found, outs, gross=sizes > 1e100 or poison is not None, rng=rng)

    return act


def judged(
    subject: Subject, values: list[Any], given: list[Any], batch: Any, found: Any, outs: Any, gross: bool, rng: Any
) -> Verdict:
    """Rows of the results against the witness; with infinities only what no order of operations changes."""
    results, verdicts = subject.several(found), []
    for r, (name, shape) in zip(results, subject.kernel.outputs.items(), strict=True):
        if np.shape(r) != (*batch, *shape):
            return Verdict("wrong", f"{subject.name}: {name} has shape {np.shape(r)}, expected {(*batch, *shape)}")
    if outs is not None and any(o is not r for o, r in zip(outs, results, strict=True)):
        return Verdict("wrong", f"{subject.name}: out is not what was returned")
    for x, g in zip(values, given, strict=True):
        aliased = outs is not None and any(np.may_share_memory(g, o) for o in outs if isinstance(g, np.ndarray))
        if not aliased and not np.array_equal(np.array(g, float), x, equal_nan=True):
            return Verdict("wrong", f"{subject.name}: an input has changed")
    rows = list(np.ndindex(*batch))
    wide = [np.broadcast_to(x, (*batch, *s)) for x, s in zip(values, subject.kernel.inputs.values(), strict=True)]
    for row in rng.sample(rows, min(ROWS, len(rows))):
        asked = [x[row] for x in wide]
        expected = subject.several(subject.witness(*asked))
        for r, e, name in zip(results, expected, subject.kernel.outputs, strict=True):
            r, single = np.asarray(r)[row], np.asarray(r).dtype == np.float32
            if gross and not np.abs(np.asarray(e)).max(initial=0.0) < 1e30:
                continue
            tolerance, what = 1e-5 if single else TOLERANCE, f"{subject.name} {name} of row {row}"
            verdict = same(r, e, tolerance, what)
            if verdict.kind != "clear" and np.isfinite(spread := unsure(subject, name, asked, np.asarray(e))):
                verdicts.append(same(r, e, tolerance, what, SPREAD * spread))
    return worst(verdicts)


def unsure(subject: Subject, name: str, row: list[Any], expected: Any) -> float:
    """How far the witness is from itself in longer numbers; infinite where that is much, or where NaN come or go."""
    place = list(subject.kernel.outputs).index(name)
    exact = np.asarray(subject.several(subject.exact(*(x.astype(np.longdouble) for x in row)))[place])
    if (np.isnan(exact) != np.isnan(expected)).any():
        return np.inf
    most = np.nanmax(np.abs(exact - expected), initial=0.0)
    return np.inf if most > LOST * np.nanmax(np.abs(expected), initial=0.0) else float(most)


def narrowed(batch: tuple[int, ...], rng: random.Random) -> tuple[int, ...]:
    """A batch that broadcasts to this one."""
    if rng.random() < 0.7:
        return batch
    drop = rng.randrange(len(batch) + 1)
    return tuple(1 if n == 0 or rng.random() < 0.5 else n for n in batch[drop:])


class Kind(np.ndarray):
    """A subclass without manners of its own."""


class Holder:
    """An object that becomes an array when it is asked."""

    def __init__(self, x: Any) -> None:
        self.x = x

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.array(self.x, dtype)


def frozen(x: Any) -> Any:
    x.setflags(write=False)
    return x


def shifted(x: Any) -> Any:
    """At an address that is no multiple of 8."""
    data = np.zeros(x.nbytes + 8, np.uint8)
    view = data[3 : 3 + x.nbytes].view(x.dtype).reshape(x.shape)
    view[...] = x
    return view


def spread(x: Any) -> Any:
    """Every second number of a larger array, backwards along the first axis."""
    if not x.ndim:
        return x
    wide = np.zeros(tuple(2 * n for n in x.shape))
    view = wide[tuple(slice(None, None, 2) for _ in x.shape)]
    view[...] = x
    return view[::-1].copy()[::-1] if x.shape[0] else view


def backwards(x: Any) -> Any:
    return np.ascontiguousarray(x[..., ::-1])[..., ::-1] if x.ndim else x


def single(x: Any) -> Any:
    with np.errstate(all="ignore"):
        return x.astype(np.float32)


def whole(x: Any) -> Any:
    return np.where(np.abs(x) < 100.0, x, 1.0).astype(np.int32)


DRESSES: tuple[Callable[[Any], Any], ...] = (
    lambda x: x, lambda x: x, lambda x: x, lambda x: x.tolist() if x.size else x, np.asfortranarray, backwards, spread,
    shifted, frozen, single, whole, lambda x: x.view(Kind), Holder, np.ma.masked_array, lambda x: x.astype(">f8"),
    lambda x: (x > 0.0), lambda x: np.moveaxis(np.moveaxis(x, 0, -1).copy(), -1, 0) if x.ndim else x,
    lambda x: np.float16(np.clip(np.nan_to_num(x), -9.0, 9.0)), lambda x: tuple(x) if x.ndim and x.size else x,
)  # fmt: skip


def targets(subject: Subject, batch: Any, given: list[Any], rng: random.Random) -> Any:
    """Arrays to be filled, or None; they may be inputs."""
    if rng.random() < 0.6:
        return None
    made: list[Any] = []
    for shape in subject.kernel.outputs.values():
        full = (*batch, *shape)
        free = [g for g in given if type(g) is np.ndarray and g.shape == full and g.flags.writeable
                and g.dtype == np.float64 and not any(g is m for m in made)]  # fmt: skip
        how = rng.randrange(6)
        if how == 0 and free:
            made.append(rng.choice(free))
        elif how == 1:
            made.append(np.full(full[::-1], np.nan).T)
        elif how == 2 and full:
            made.append(np.full((*full[:-1], 2 * full[-1]), np.nan)[..., ::2])
        elif how == 3 and full:
            made.append(np.full(full, np.nan)[..., ::-1])
        elif how == 4:
            made.append(shifted(np.full(full, np.nan)))
        else:
            made.append(np.full(full, np.nan))
    return tuple(made)


# ---- wrong calls


def wrong(subject: Subject, rng: random.Random) -> Callable[[], Verdict]:
    batch = rng.choice([b for b in BATCHES if 0 not in b])
    inputs = subject.kernel.inputs
    given = {n: numbers(rng).uniform(-2.0, 2.0, (*batch, *shape)) for n, shape in inputs.items()}
    how = rng.random()
    if how < 0.6:
        name = rng.choice(list(inputs))
        bad = rng.choice(BAD)(given[name], inputs[name])
        if bad is None:
            return lambda: CLEAR
        given[name] = bad
        return lambda: refused(lambda: subject.kernel(**given), f"{name} of shape", f"masked {name}")
    if how < 0.7:
        names = list(inputs)
        if len(names) < 2 or len(batch) == 0:
            return lambda: refused(lambda: subject.kernel(), f"{subject.name}()", also=(TypeError,))
        name = rng.choice(names)
        given[name] = np.zeros((batch[-1] + 2, *inputs[name]))
        if batch[-1] == 1:
            return lambda: CLEAR if subject.kernel(**given) is not None else Verdict("wrong")
        return lambda: refused(lambda: subject.kernel(**given), "do not broadcast")
    if how < 0.75:
        return lambda: refused(lambda: subject.kernel(**given, speed=1), f"{subject.name}()", also=(TypeError,))
    outs = [np.zeros((*batch, *shape)) for shape in subject.kernel.outputs.values()]
    place = rng.randrange(len(outs))
    spoiled = rng.choice(BAD_OUT)(outs[place])
    if spoiled is None:
        return lambda: CLEAR
    outs[place] = spoiled
    if rng.random() < 0.2:
        outs.append(np.zeros(batch))
    return lambda: refused(lambda: subject.kernel(**given, out=tuple(outs)), "out must be")


def ragged(x: Any, shape: tuple[int, ...]) -> Any:
    return [[0.0] * 3, [0.0] * 2]


def filled(x: Any, entry: Any) -> Any:
    """The numbers as objects, one of them another one."""
    if not x.size:
        return None
    made = x.astype(object)
    made.flat[0] = entry
    return made


BAD: tuple[Callable[[Any, tuple[int, ...]], Any], ...] = (
    lambda x, s: np.zeros((*x.shape[:-1], x.shape[-1] + 1)) if s else x.astype(complex),
    lambda x, s: np.zeros((*x.shape[:-1], x.shape[-1] - 1)) if s and s[-1] else "0",
    lambda x, s: 1.0 if s else None,
    lambda x, s: [] if s and s[-1] else {},
    lambda x, s: x.astype(complex),
    lambda x, s: x.astype(np.longdouble) if np.dtype(np.longdouble).itemsize > 8 else "1",
    lambda x, s: x.astype(str),
    lambda x, s: x.astype("S"),
    lambda x, s: x.astype(object),
    lambda x, s: filled(x, None),
    lambda x, s: filled(x, 10**400),
    lambda x, s: filled(x, Decimal("1.5")),
    lambda x, s: filled(x, "nan"),
    lambda x, s: np.zeros(x.shape, "M8[s]"),
    lambda x, s: np.zeros(x.shape, "m8[s]"),
    lambda x, s: np.zeros(x.shape, [("a", float)]),
    lambda x, s: {1, 2},
    lambda x, s: object(),
    lambda x, s: (k for k in range(3)),
    lambda x, s: "abc",
    lambda x, s: b"abc",
    lambda x, s: {"q": 1.0},
    lambda x, s: Holder("abc"),
    lambda x, s: np.ma.masked_array(x, mask=np.ones(x.shape, bool)),
    lambda x, s: np.ma.masked_array(x.astype(complex)),
    ragged,
)
BAD_OUT: tuple[Callable[[Any], Any], ...] = (
    lambda o: frozen(np.zeros(o.shape)),
    lambda o: np.zeros(o.shape, int),
    lambda o: np.zeros(o.shape, bool),
    lambda o: np.zeros(o.shape, "M8[s]"),
    lambda o: np.zeros(o.shape, "U3"),
    lambda o: np.zeros(o.shape, object),
    lambda o: o.tolist() if o.ndim else 1.0,
    lambda o: "here",
    lambda o: np.zeros((*o.shape[:-1], o.shape[-1] + 1)) if o.ndim and o.shape[-1] != 1 else np.zeros(3, int),
    lambda o: np.broadcast_to(np.zeros(()), o.shape) if o.ndim else 0.0,
)
