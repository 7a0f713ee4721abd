"""A base that moves along an analytic pose, with all derivatives by power series."""

from math import factorial

import numpy as np

from linkwise.jet import Jet, part, rate
from linkwise.rotation import rpy
from linkwise.vector import Mat3, Vec3

HIGHEST = 4


def waves(count, seed):
    """Smooth curves of time, as functions that give them with derivatives, one row each."""
    rng = np.random.default_rng(seed)
    size, speed, phase = rng.uniform(0.3, 0.8, count), rng.uniform(0.5, 1.5, count), rng.uniform(0.0, 6.0, count)
    return lambda t, orders: np.array([size * speed**k * np.sin(speed * t + phase + k * np.pi / 2) for k in orders])


class BasePose:
    """A pose p(t), R(t) of the base: angles about three axes and a path, all derivatives by power series."""

    def __init__(self, seed):
        self._angles, self._path = waves(3, seed), waves(3, seed + 50)

    def series(self, t):
        """Position and rotation with so many rates that the base's acceleration has the highest."""
        orders = range(HIGHEST + 3)
        path, angles = ([Jet.of(x) for x in curve(t, orders).T.tolist()] for curve in (self._path, self._angles))
        return Vec3(*path), rpy(*angles)

    def in_the_world(self, t):
        """R, and velocity, acceleration, jerk, ... as vectors of the world: rows of linear and angular."""
        p, R = self.series(t)
        R_dot = [[rate(x) for x in row] for row in R]
        less = Mat3.of([[Jet(x.c[:-1]) for x in row] for row in R])
        spin = Mat3.of(R_dot) @ less.T  # hat(omega)
        omega = spin.z.y, spin.x.z, spin.y.x
        linear = [[part(x, k + 1) for x in p] for k in range(HIGHEST + 2)]
        angular = [[part(x, k) for x in omega] for k in range(HIGHEST + 2)]
        return np.array([[part(x) for x in row] for row in R]), np.hstack([linear, angular])

    def inputs(self, t, order, gravity):
        """What a kernel takes: derivatives of the world in the base's axes, and gravity there."""
        R, vectors = self.in_the_world(t)
        rows = vectors[: order + 2]
        return [*np.hstack([rows[:, :3] @ R, rows[:, 3:] @ R]), np.array(gravity) @ R]

    def components(self, t):
        """The rates of the numbers of the velocity in the base's axes, as a floating joint has them."""
        R, vectors = self.in_the_world(t)
        _, series = self.series(t)
        turned = Mat3.of([[Jet(x.c[:-1]) for x in row] for row in series]).T
        moved = []
        for six in (vectors[:, :3], vectors[:, 3:]):
            jets = Vec3(*(Jet([x / factorial(k) for k, x in enumerate(column)]) for column in six.T))
            moved.append(turned @ jets)
        return R, np.array([[part(x, k) for six in moved for x in six] for k in range(HIGHEST + 2)])
