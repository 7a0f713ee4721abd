"""Times of inverse dynamics beside those of other libraries."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwise.errors import LinkwiseError
from linkwise.kernel.compile import compile
from linkwise.motion.trajectory import Array
from linkwise.peers import models
from linkwise.robot.joint_order import Permutation
from linkwise.robot.robot import Robot

BATCH = 4096
LOOP = 256  # rows for peers that are called row by row


@dataclass(frozen=True)
class Peer:
    """Another library's way to the torques of the first `rows` states: `run` computes them, `tau` gives them.

    `tau` is in our order of joints, and None for a way whose library has been compared already.
    """

    name: str
    rows: int
    run: Callable[[], object]
    tau: Callable[[], Array] | None = None


States = tuple[Array, Array, Array]


def interleaved(
    candidates: dict[str, Callable[[], object]], rounds: int = 25, least: float = 2e-2
) -> dict[str, dict[str, float]]:
    """CPU seconds of one call of each candidate: the median and the best of `rounds`, taken in turns.

    Measured side by side, so that a busy machine slows them alike. A measurement repeats a call until it lasts
    `least` seconds.
    """
    repeats = {}
    for name, call in candidates.items():
        call(), call()  # which compile a kernel, and load the short way into it
        start = time.process_time()
        call()
        once = max(time.process_time() - start, 1e-7)
        repeats[name] = max(1, int(least / once))
    samples: dict[str, list[float]] = {name: [] for name in candidates}
    gc.disable()
    try:
        for _ in range(rounds):
            for name, call in candidates.items():
                start = time.process_time()
                for _ in range(repeats[name]):
                    call()
                samples[name].append((time.process_time() - start) / repeats[name])
    finally:
        gc.enable()
    return {name: {"median": float(np.median(s)), "best": float(np.min(s))} for name, s in samples.items()}


def states(robot: Robot, rows: int) -> States:
    """Random positions, velocities and accelerations, the same in every run."""
    rng = np.random.default_rng(0)
    q = rng.uniform(-2, 2, (rows, robot.nq))
    for slot in robot.slots.values():
        if (at := slot.quaternion) is not None:
            q[:, at] /= np.linalg.norm(q[:, at], axis=1, keepdims=True)
    return q, rng.normal(size=(rows, robot.nv)), rng.normal(size=(rows, robot.nv))


def pinocchio_peers(model: Any, order: Permutation, given: States) -> list[Peer]:
    """Pinocchio's batch call on one thread, and its single call in a loop of Python."""
    import pinocchio as pin

    data, rows = model.createData(), len(given[0])
    ours = [np.ascontiguousarray(x[:, at]) for x, at in zip(given, (order.q, order.v, order.v), strict=True)]
    few = min(LOOP, rows)

    def loop() -> list[Any]:
        return [pin.rnea(model, data, *x) for x in zip(*(a[:few] for a in ours), strict=True)]

    def loop_tau() -> Array:
        # `rnea` returns the same memory every time
        found = [np.array(pin.rnea(model, data, *x)) for x in zip(*(a[:few] for a in ours), strict=True)]
        return np.array(found)[:, order.v_back]

    peers = []
    if hasattr(pin, "rneaInParallel"):
        pool = pin.ModelPool(model, 1)
        columns = [np.asfortranarray(x.T) for x in ours]
        theirs = np.empty((model.nv, rows), order="F")

        def batch() -> None:
            pin.rneaInParallel(1, pool, *columns, theirs)

        peers.append(Peer("Pinocchio, rneaInParallel(1)", rows, batch, lambda: theirs.T[:, order.v_back]))
    return [*peers, Peer("Pinocchio, rnea in a Python loop", few, loop, None if peers else loop_tau)]


def mujoco_peers(model: Any, order: Permutation, given: States) -> list[Peer]:
    """MuJoCo's inverse dynamics in a loop of Python."""
    import mujoco

    state, few = mujoco.MjData(model), min(LOOP, len(given[0]))
    rows = [x[:few, order.v] for x in given]
    forces = np.empty((few, model.nv))

    def loop() -> None:
        for k in range(few):
            state.qpos[:], state.qvel[:], state.qacc[:] = (x[k] for x in rows)
            mujoco.mj_inverse(model, state)
            forces[k] = state.qfrc_inverse

    return [Peer("MuJoCo, mj_inverse in a Python loop", few, loop, lambda: forces[:, order.v_back])]


def _mujoco_model(robot: Robot) -> tuple[Any, Permutation]:
    """MuJoCo's model of a robot without a free base."""
    if any(j.freedom.nv > 1 for j in robot.joints):
        raise LinkwiseError("the velocity of MuJoCo's free joint is in world axes, so that rows cannot be compared")
    return models.mujoco_model(robot)


def compare(robot: Robot, given: States, peers: Sequence[Peer], rounds: int = 25) -> dict[str, Any]:
    """Times in nanoseconds a row, ratios, and the largest difference of torques relative to the largest torque."""
    kernel = compile(robot).inverse_dynamics
    tau = kernel(*given)
    candidates: dict[str, Callable[[], object]] = {"linkwise": lambda: kernel(*given, out=tau)}
    rows = {"linkwise": len(tau)}
    differences = {}
    for peer in peers:
        candidates[peer.name], rows[peer.name] = peer.run, peer.rows
        if peer.tau:
            peer.run()
            ours = tau[: peer.rows]
            differences[peer.name] = float(np.abs(peer.tau() - ours).max() / np.abs(ours).max())
    times = interleaved(candidates, rounds)
    ns = {k: {m: 1e9 * t[m] / rows[k] for m in t} for k, t in times.items()}
    ratio = {k: {m: t[m] / ns["linkwise"][m] for m in t} for k, t in ns.items() if k != "linkwise"}
    return {
        "robot": robot.name, "nv": robot.nv, "batch": len(tau), "operations": dict(kernel.count()),
        "ns a row": ns, "ratio": ratio, "difference": differences,
    }  # fmt: skip


def measure(robot: Robot, rows: int = BATCH, rounds: int = 25) -> dict[str, Any]:
    """A robot's inverse dynamics, without friction, beside whichever peers are installed; `left out` says why not."""
    robot = models.ideal(robot)
    given = states(robot, rows)
    peers: list[Peer] = []
    left_out = {}
    libraries = {
        "pinocchio": (models.pinocchio_model, pinocchio_peers),
        "mujoco": (_mujoco_model, mujoco_peers),
    }
    for package, (build, ways) in libraries.items():
        if not models.has(package):
            left_out[package] = "not installed"
            continue
        try:
            peers += ways(*build(robot), given)
        except LinkwiseError as error:
            left_out[package] = str(error)
    return {**compare(robot, given, peers, rounds), "left out": left_out}
