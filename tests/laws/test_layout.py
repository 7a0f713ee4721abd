"""Frames and inertias laid out anew: the same forces for no more operations."""

import numpy as np
import pytest

import linkwise as lw
from linkwise.algorithms.algorithm import INPUTS, World, sizes
from linkwise.graph.program import Port, trace
from linkwise.robot import Link
from linkwise.robot.align import aligned
from linkwise.robot.regroup import regrouped
from linkwise.robot.tree import Tree
from support.pinocchio_bridge import example
from support.sources import case, planar, serial, stanford
from support.sources import tree as khalil_tree
from support.trees import SEEDS, error, states, tree

LAYOUTS = {"aligned": aligned, "regrouped": regrouped, "both": lambda t: regrouped(aligned(t))}
ALGORITHMS = (
    lw.inverse_dynamics,
    lw.mass_matrix,
    lw.algorithms.bias_forces,
    lw.algorithms.gravity_forces,
    lw.algorithms.coriolis_matrix,
)


def run(algorithm, laid_out, robot, *inputs):
    """An algorithm in plain Python on a tree."""
    world = {"world": World(gravity=robot.gravity)} if algorithm.uses else {}
    return algorithm.function(laid_out, *(x.tolist() for x in inputs), **world)[0]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("seed", SEEDS)
def test_layout_leaves_the_forces(seed, layout):
    """tau, M, h, g of the new layout = those of the plain tree."""
    robot = light(seed) if seed % 3 == 2 else tree(seed)
    plain = Tree.of(robot)
    state = [x[0] for x in states(robot)]
    for algorithm in ALGORITHMS:
        inputs = state[: len(algorithm.inputs)]
        expected = run(algorithm, plain, robot, *inputs)
        if algorithm is lw.algorithms.coriolis_matrix:  # one of many; only its product with qd is unique
            found = np.reshape(run(algorithm, LAYOUTS[layout](plain), robot, *inputs), (robot.nv, -1)) @ state[1]
            assert error(found, np.reshape(expected, (robot.nv, -1)) @ state[1]) < 1e-12
        else:
            assert error(run(algorithm, LAYOUTS[layout](plain), robot, *inputs), expected) < 1e-12


def light(seed):
    """A robot, half of whose links have no mass."""
    robot = tree(seed)
    return robot.replace(*(Link(k.name) for k in robot.links[1::2]))


def operations(robot, algorithm, layout=lambda t: t):
    """Multiplications and additions of an algorithm on a tree."""
    widths = sizes(robot)
    ports = [Port(n, tuple(widths[w] for w in INPUTS[n])) for n in algorithm.inputs]
    shapes = [Port(n, tuple(widths.get(w, w) for w in shape)) for n, shape in algorithm.outputs.items()]
    world = {"world": World(gravity=robot.gravity)} if algorithm.uses else {}
    laid_out = layout(Tree.of(robot))
    count = trace("count", lambda *x: algorithm.function(laid_out, *x, **world), ports, shapes).count()
    return count["mul"] + count["add"] + count["sub"]


EXAMPLES = {
    **{name: (lambda name=name: lw.load(example(name))) for name in ("panda.urdf", "ur5_robot.urdf", "z1.urdf")},
    "stanford": stanford,
    "planar": lambda: planar("001_RR_table4.1"),
    "serial": serial,
    "tree": lambda: khalil_tree(case("003_elastic_inverse")["robot"]),
    **{f"random {seed}": (lambda seed=seed: tree(seed)) for seed in SEEDS},
    **{f"light {seed}": (lambda seed=seed: light(seed)) for seed in SEEDS},
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_layout_does_not_cost_operations(name):
    """Kernels of the laid out tree take no more operations than those of the plain one, 1 % aside."""
    robot = EXAMPLES[name]()
    for algorithm in (lw.inverse_dynamics, lw.mass_matrix, lw.algorithms.bias_forces):
        count = lw.compile(robot, algorithm).count()
        assert count["mul"] + count["add"] + count["sub"] <= 1.01 * operations(robot, algorithm), algorithm.name
