"""Results and robots in damaged, hostile and special files, and many who write and read one.

A damaged result is refused or says what it said before; a robot file is refused in words or gives a robot with finite
torques. What is no plain file is refused, and never waited for, replaced or followed.
"""

from __future__ import annotations

import math
import os
import random
import threading
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from caches import damaged
from verdict import CLEAR, Verdict, crashed, refused, said, worst

import linkwise as lw
from linkwise.errors import LinkwiseError
from papers.two_link_plans import minimum_time
from support.mjcf import BODY, body, mjcf
from support.mutate import Damaged

TRIES, QUICK, LONGEST = 24_000, 260, 60.0
EXAMPLES = Path(__file__).parents[1] / "examples"
MJCF = mjcf(
    body(
        "a", BODY, '<joint name="i" axis="1 0 0" ref="20" range="-90 90"/>', '<joint name="j" type="slide"/>',
        body("b", BODY, '<joint class="soft" name="k" stiffness="1" damping="2"/>', attributes='quat="1 2 3 4"'),
        attributes='axisangle="1 1 1 30" childclass="soft"',
    ),
    body("c", '<inertial pos="1 0 0" mass="2" fullinertia="1 1 1 0.1 0.1 0.1"/>', "<freejoint/>"),
    head=['<default><joint armature="0.1"/><default class="soft"><joint frictionloss="0.1"/></default></default>'],
    tail=['<equality><joint joint1="k" joint2="i" polycoef="0.1 2 0 0 0"/></equality>'],
)  # fmt: skip


class Stage:
    """A saved file of each kind, and robot files to be damaged."""

    def __init__(self, folder: Path, quick: bool) -> None:
        self.folder, robot = folder, lw.load("rr")
        self.robot = robot
        run = lw.simulate(robot, [0.1, 0.2], None, 0.05, events={"half": lambda t, q, qd: t - 0.025})
        plan = minimum_time(8, progress=False)
        for name in ("run.npz", "run.parquet", "run.csv", "motion.npz"):
            run.save(folder / name)
        plan.save(folder / "plan.npz")
        lw.save(robot, folder / "robot.toml")
        lw.save(robot, folder / "robot.urdf")
        self.readers: dict[str, Callable[[Path], Any]] = {
            "run.npz": simulation, "run.parquet": simulation, "plan.npz": planned, "motion.npz": self.motion,
        }  # fmt: skip
        self.good = {name: (folder / name).read_bytes() for name in (*self.readers, "run.csv")}
        self.truth = {name: read(folder / name) for name, read in self.readers.items()}
        self.run = run
        bundled = [f for f in files("linkwise.formats.library").iterdir() if f.name.endswith(".toml")]
        tables = [("toml", f.read_text()) for f in bundled]
        xml = [("urdf", (EXAMPLES / "arm.urdf").read_text()), ("urdf", (folder / "robot.urdf").read_text())]
        every = [*tables, *xml * 4, *[("xml", MJCF)] * 6]
        self.robots = [(form, Damaged(text, "toml" if form == "toml" else "xml")) for form, text in every]

    def motion(self, path: Path) -> Any:
        found = lw.motion.read(path, self.robot)
        return [x.tobytes() for x in (found.t, found.q, found.qd, found.qdd)]


def simulation(path: Path) -> Any:
    found = lw.simulation.Simulation.load(path)
    columns = [column.tobytes() for column in found.columns().values()]
    return columns, [x.tolist() for x in found.events["half"]], found.status, found.notes, found.robot


def planned(path: Path) -> Any:
    found = lw.planning.Plan.load(path)
    return found.curve.points.tobytes(), found.curve.basis, found.duration, found.objective, found.robot


def prepare(folder: Path, quick: bool) -> Stage:
    return Stage(folder, quick)


def draw(stage: Stage, rng: random.Random) -> Callable[[], Verdict]:
    act = rng.choices((results, table, robots, hostile, special, together), (40, 8, 40, 8, 4, 1))[0]
    return lambda: act(stage, rng)


# ---- results


def results(stage: Stage, rng: random.Random) -> Verdict:
    """Damage is refused, or harmless."""
    name = rng.choice(tuple(stage.readers))
    path = stage.folder / f"bad-{name}"
    path.write_bytes(damaged(stage.good[name], rng))
    try:
        found = stage.readers[name](path)
    except LinkwiseError as error:
        return said(str(error), [path.name])
    if found != stage.truth[name]:
        return Verdict("silent", f"{name}: a damaged file is read as other data")
    return CLEAR


def table(stage: Stage, rng: random.Random) -> Verdict:
    """A damaged table is refused, or has finite numbers in as many columns as before."""
    path = stage.folder / "bad.csv"
    path.write_bytes(damaged(stage.good["run.csv"], rng))
    try:
        found = lw.motion.read(path, stage.robot)
    except LinkwiseError as error:
        return said(str(error), [path.name])
    if not all(np.isfinite(x).all() for x in (found.t, found.q, found.qd, found.qdd) if x is not None):
        return Verdict("silent", "a table without finite numbers is read")
    if not (np.diff(found.t) > 0.0).all():
        return Verdict("silent", "times that do not grow")
    return measured(stage, path)


def measured(stage: Stage, path: Path) -> Verdict:
    """As a log, a damaged table is refused, or has finite positions at growing times."""
    try:
        log = lw.read_log(path, stage.robot)
    except LinkwiseError as error:
        return said(str(error), [])
    good = np.isfinite(log.q).all() and (np.diff(log.t) > 0.0).all()
    return CLEAR if good else Verdict("silent", "a log without finite positions at growing times")


# ---- robots


def loaded(path: Path) -> Verdict:
    """A robot with finite torques, or an error that says something about the file."""
    try:
        robot = lw.load(path)
    except LinkwiseError as error:
        return said(str(error), [path.name, path.stem, "'", '"', "line"])
    tree = robot.opened()  # loops of a damaged file need not close
    v = [0.7] * tree.nv
    tau = lw.inverse_dynamics.plain(tree, (tree.q() + 0.3).tolist(), v, v)
    return CLEAR if all(map(math.isfinite, tau)) else Verdict("silent", "a robot whose torques are not finite")


def robots(stage: Stage, rng: random.Random) -> Verdict:
    form, file = rng.choice(stage.robots)
    path = stage.folder / f"bad.{form}"
    path.write_bytes(file.copy(rng))
    return loaded(path)


def urdf(inner: str, head: str = "") -> str:
    return f'<?xml version="1.0"?>\n{head}<robot name="r">{inner}</robot>'


def link(name: str, mass: str = "1") -> str:
    inertia = '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
    return f'<link name="{name}"><inertial><mass value="{mass}"/>{inertia}</inertial></link>'


def joint(name: str, parent: str, child: str, more: str = "") -> str:
    ends = f'<parent link="{parent}"/><child link="{child}"/>'
    return f'<joint name="{name}" type="continuous">{ends}<axis xyz="0 0 1"/>{more}</joint>'


def laughs(n: int) -> str:
    lines = "".join(f'<!ENTITY a{k} "{f"&a{k - 1};" * 10}">' for k in range(1, 10))
    return urdf("&a9;", f'<!DOCTYPE r [<!ENTITY a0 "ha">{lines}]>')


HOSTILE: dict[str, Callable[[int], str]] = {
    "laughs.urdf": laughs,
    "entity.urdf": lambda n: urdf("&x;", '<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]>'),
    "dtd.urdf": lambda n: urdf(link("a"), '<!DOCTYPE r SYSTEM "http://127.0.0.1:9/x.dtd">'),
    "deep.urdf": lambda n: urdf("<a>" * n + "</a>" * n),
    "deep.xml": lambda n: "<mujoco><worldbody>" + "<body>" * n + "</body>" * n + "</worldbody></mujoco>",
    "cycle.urdf": lambda n: urdf(link("a") + link("b") + joint("i", "a", "b") + joint("j", "b", "a")),
    "self.urdf": lambda n: urdf(link("a") + joint("i", "a", "a")),
    "twice.urdf": lambda n: urdf(link("a") * 2 + link("b") + joint("i", "a", "b")),
    "two.urdf": lambda n: urdf(link("a") + link("b") + link("c") + joint("i", "a", "b") + joint("i", "a", "c")),
    "parents.urdf": lambda n: urdf(
        link("a") + link("b") + link("c") + joint("i", "a", "c") + joint("j", "b", "c") + joint("k", "a", "b")
    ),
    "missing.urdf": lambda n: urdf(link("a") + joint("i", "a", "b")),
    "huge.urdf": lambda n: urdf(link("a") + link("b", "9" * n) + joint("i", "a", "b")),
    "long.urdf": lambda n: urdf(link("x" * n) + link("b") + joint("i", "x" * n, "b")),
    "mimic.urdf": lambda n: urdf(
        link("a") + link("b") + link("c") + joint("i", "a", "b", '<mimic joint="j"/>')
        + joint("j", "b", "c", '<mimic joint="i"/>')
    ),
    "control.urdf": lambda n: urdf(link(f"a{chr(n % 32)}")),
    "empty.urdf": lambda n: "",
    "bytes.urdf": lambda n: "\x00" * n,
    "other.urdf": lambda n: "<sdf><model/></sdf>",
    "dots.toml": lambda n: ".".join(["a"] * n) + " = 1\n",
    "deep.toml": lambda n: "a = " + "[" * n + "]" * n + "\n",
    "tables.toml": lambda n: "a = " + "{a=" * n + "1" + "}" * n + "\n",
    "number.toml": lambda n: f"gravity = [0, 0, -{'9' * n}]\n",
    "float.toml": lambda n: 'name = "r"\ngravity = [nan, inf, 1e400]\n',
    "wrong.toml": lambda n: 'name = 3\nlinks = "none"\n',
    "control.toml": lambda n: f'name = "a{chr(n % 32)}"\n[[link]]\nname = "a\\u001b[31m"\n',
    "include.xml": lambda n: '<mujoco><include file="include.xml"/></mujoco>',
    "passwd.xml": lambda n: '<mujoco><include file="/etc/passwd"/></mujoco>',
    "class.xml": lambda n: '<mujoco><default><default class="a"><default class="a"/></default></default></mujoco>',
}  # fmt: skip


def hostile(stage: Stage, rng: random.Random) -> Verdict:
    """Files made to cost much or to lead elsewhere; whether there is a robot in them is not the point."""
    name = rng.choice(tuple(HOSTILE))
    path = stage.folder / name
    path.write_text(HOSTILE[name](rng.choice((1, 2, 30, 1000, 20_000))), encoding="utf-8", errors="replace")
    verdict = loaded(path)
    path.unlink()
    return verdict


# ---- what is no plain file


def special(stage: Stage, rng: random.Random) -> Verdict:
    """Files that are pipes, folders, devices, links or read-only, to be read or to be written."""
    read, write = rng.choice(READ), rng.choice(WRITE)
    suffix = rng.choice(read[1])
    path = stage.folder / f"special{suffix}"
    made = rng.choice(("pipe", "folder", "device", "loop", "dangling", "missing", "long", "zero", "nul"))
    if made == "long":
        path = stage.folder / ("x" * 300 + suffix)
    elif made == "nul":
        path = Path(f"{stage.folder}/a\0b{suffix}")
    try:
        place(path, made)
        verdicts = [refused(lambda: read[0](stage, path), path.name, path.name[:50], "\\x00")]
        if made not in ("device", "dangling", "missing"):  # a new file is fine; a device is never put at risk
            target = path.with_suffix(rng.choice(write[1]))
            if target != path:
                place(target, made)
            verdicts.append(refused(lambda: write[0](stage, target), target.name, target.name[:50], "\\x00"))
            remove(target)
        return worst(verdicts)
    finally:
        remove(path)


def place(path: Path, made: str) -> None:
    if made == "pipe":
        os.mkfifo(path)
    elif made == "folder":
        path.mkdir()
    elif made == "device":
        path.symlink_to("/dev/zero")
    elif made == "loop":
        path.symlink_to(path)
    elif made == "dangling":
        path.symlink_to(path.with_name("nowhere"))
    elif made == "zero":
        path.write_bytes(b"")
        path.chmod(0o444)


def remove(path: Path) -> None:
    if "\0" in str(path) or len(path.name) > 255:
        return
    if path.is_dir() and not path.is_symlink():
        path.rmdir()
    else:
        path.unlink(missing_ok=True)


READ: tuple[tuple[Callable[[Stage, Path], Any], tuple[str, ...]], ...] = (
    (lambda stage, path: lw.load(path), (".urdf", ".toml", ".xml")),
    (lambda stage, path: lw.simulation.Simulation.load(path), (".npz", ".parquet")),
    (lambda stage, path: lw.planning.Plan.load(path), (".npz",)),
    (lambda stage, path: lw.motion.read(path, stage.robot), (".npz", ".csv")),
    (lambda stage, path: lw.read_log(path, stage.robot), (".npz", ".csv", ".txt", ".parquet", ".bag", ".db3", ".mcap")),
)
WRITE: tuple[tuple[Callable[[Stage, Path], Any], tuple[str, ...]], ...] = (
    (lambda stage, path: stage.run.save(path), (".npz", ".csv", ".parquet")),
    (lambda stage, path: lw.save(stage.robot, path), (".urdf", ".toml")),
)


# ---- many at once


def together(stage: Stage, rng: random.Random) -> Verdict:
    """Threads that write and read one result: each reads the whole of one, and nothing else is left."""
    suffix = rng.choice((".npz", ".parquet"))
    folder = stage.folder / f"many{rng.getrandbits(40)}"
    folder.mkdir()
    path, found = folder / f"run{suffix}", []
    stage.run.save(path)
    truth = stage.truth[f"run{suffix}"]

    def work(writes: bool) -> None:
        for _ in range(5):
            try:
                if writes:
                    stage.run.save(path)
                elif simulation(path) != truth:
                    found.append(Verdict("wrong", "half a file was read"))
            except Exception as error:
                found.append(crashed(error))

    threads = [threading.Thread(target=work, args=(k % 2 == 0,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    left = [p.name for p in folder.iterdir() if p != path]
    for p in folder.iterdir():
        p.unlink()
    folder.rmdir()
    return worst([*found, Verdict("wrong", f"left behind {left}") if left else CLEAR])
