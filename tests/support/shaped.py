"""Robots with collision shapes on their links, drawn at random."""

import numpy as np

import linkwise as lw

KINDS = {"sphere": 1, "capsule": 2, "box": 3}


def shaped(robot, seed=0, kinds=("sphere", "capsule", "box"), size=0.06, most=None):
    """The robot with a shape on every link, or on the first and last ones, of these kinds in turn."""
    rng = np.random.default_rng(seed)
    shapes = []
    links = robot.links if most is None else (*robot.links[: most // 2], *robot.links[-(most - most // 2) :])
    for k, link in enumerate(dict.fromkeys(links)):
        kind = kinds[k % len(kinds)]
        origin = lw.Pose.of(rng.uniform(-0.1, 0.1, 3).tolist(), rng.uniform(-3.0, 3.0, 3).tolist())
        edges = rng.uniform(0.5, 1.5, KINDS[kind]) * size
        shapes.append(lw.Shape(link.name, kind, tuple(edges.tolist()), origin, "collision"))
    return robot.replace(shapes=shapes)
