"""Programs of planning problems run from their definition, and their derivatives by other means."""

import numpy as np

from linkwise.planning.drives import drives_of
from linkwise.planning.point import Point
from linkwise.planning.problem import CALM, GAUSS, Problem
from linkwise.planning.terms import Time

STEP = 1e-200
DIRECTIONS = 3


class Defined:
    """The program of a problem, run on any scalars from its definition."""

    def __init__(self, made: Problem, variables, grid) -> None:
        self.made, self.variables, self.grid = made, variables, grid

    def motions(self, x, s):
        every = self.variables.lower.astype(x.dtype)
        every[self.variables.free] = x
        P, T = every[:-1].reshape(-1, self.made.chart.n), every[-1]
        stack = [self.made.basis.matrix(s, d) @ P / T**d for d in range(drives_of(self.made.robot).orders)]
        return [[z[i].tolist() for z in stack] for i in range(len(s))], P, T

    def rows(self, groups, x, s):
        motions, _, T = self.motions(x, s)
        found = []
        for i, motion in enumerate(motions):
            made, now = self.made, complex(T * s[i]) if np.iscomplexobj(T) else float(T * s[i])
            point = Point(made.robot, motion, float(s[i]), (), made.chart, made.environment, now)
            for g in groups:
                point.data = g.data(np.array([s[i]]))[0].tolist() if g.data else []
                found.append(np.array(g.function(point)))
        return found

    def g(self, x):
        groups = self.made.rows
        parts = []
        along = [r for r in groups if r.at is None]
        if along:
            values = self.rows(along, x, self.grid)
            scales = [g.scale for g in along] * len(self.grid)
            parts += [v / k for v, k in zip(values, scales, strict=True)]
        for r in groups:
            if r.at is not None:
                s = np.array(r.at)
                parts += [v / r.scale for v in self.rows([r], x, s)]
        _, P, _ = self.motions(x, np.array([0.0]))
        parts += [r.matrix @ P.ravel() for r in self.made.linear]
        return np.concatenate(parts) if parts else np.zeros(0)

    def f(self, x):
        s, rule = self.made.basis.gauss(GAUSS)
        T = self.motions(x, s)[2]
        total = self.unrest(x) if all(isinstance(t, Time) for _, t in self.made.minimize.terms) else 0.0
        for factor, term in self.made.minimize.terms:
            if isinstance(term, Time):
                total = total + factor * T
                continue
            rows, weights, squared = term.integrand(self.made.robot)
            for w, v in zip(rule, self.rows([rows], x, s), strict=True):
                total = total + factor * T * w * np.sum(weights * (v * v if squared else v))
        return total

    def unrest(self, x):
        """What makes a motion of the least time calm: T CALM times the integral of squares of q''(s) over the way."""
        s, rule = self.made.basis.gauss(GAUSS)
        P, T = self.made.variables(1.3).split(x.real)[0].astype(x.dtype), self.motions(x, s)[2]
        P.ravel()[self.made.variables(1.3).free[:-1]] = x[:-1]
        way = np.nan_to_num(np.ptp(self.made.ends.fixed[[0, -1]], axis=0)).max()
        return CALM * T * np.sum(rule[:, None] * ((self.made.basis.matrix(s, 2) @ P) / way) ** 2)

    def check_slopes(self, ours, function, x, tolerance=1e-11):
        """The derivatives of a function of x, along random directions, in which a wrong one anywhere shows."""
        directions = np.random.default_rng(5).uniform(0.5, 1.5, (DIRECTIONS, len(x)))
        found = [np.atleast_1d(function(x + 1j * STEP * d)).imag / STEP for d in directions]
        close(np.atleast_2d(ours) @ directions.T, np.array(found).T, tolerance)


def set_up(made: Problem):
    variables = made.variables(1.3)
    program = made.program(variables, made.grid)
    rng = np.random.default_rng(7)
    x = rng.uniform(-1.0, 1.0, program.n)
    if variables.time_is_free:
        x[-1] = 1.2
    return program, Defined(made, variables, made.grid), x


def dense(program, x):
    J = np.zeros((program.m, program.n))
    np.add.at(J, (program.jac_rows, program.jac_columns), program.jacobian(x))
    return J


def close(ours, theirs, tolerance=1e-8):
    size = max(1.0, float(np.abs(theirs).max(initial=0.0)))
    assert np.abs(ours - theirs).max(initial=0.0) <= tolerance * size


def hessian(program, x, sigma, weights):
    H = np.zeros((program.n, program.n))
    H[program.hess_rows, program.hess_columns] = program.hessian(x, sigma, weights)
    return H + np.tril(H, -1).T


def differences(slope, x, h=1e-4):
    """The derivative of a gradient by differences of the fourth order."""
    rows = []
    for k in range(len(x)):
        e = np.zeros(len(x))
        e[k] = h
        rows.append((8.0 * (slope(x + e) - slope(x - e)) - (slope(x + 2 * e) - slope(x - 2 * e))) / (12.0 * h))
    return np.array(rows)
