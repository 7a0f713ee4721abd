"""Torques of the same robot in libraries written in JAX, beside ours: compilation, batches, differences.

They are measured where they are installed (pip install adam-robotics frax jaxsim), each on the robot as Linkwise
writes it: a URDF file, of which jaxsim gets the same in SDF.
"""

from __future__ import annotations

import logging
import tempfile
import time
import warnings
import xml.etree.ElementTree as xml
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import robots

import linkwise as lw

BATCH = 4096
CALLS = 7
HARDLY = "1e-12"  # the mass of links without one, which jaxsim takes out of the tree


def run(names: Sequence[str] = ("Panda", "TALOS")) -> dict[str, dict[str, float]]:
    """Print the table of every robot and return its figures."""
    import jax

    jax.config.update("jax_enable_x64", True)
    logging.disable(logging.ERROR)  # tags of files that a library does not know
    lost = [name for name in LIBRARIES if not find_spec(name)]
    if lost:
        print(f"not installed: {', '.join(lost)}")
    return {name: _table(name) for name in names}


def _table(name: str) -> dict[str, float]:
    import jax
    import jax.numpy as jnp

    robot, figures = robots.robot(name), {}
    x = [np.random.default_rng(k).normal(size=(BATCH, robot.nv)) for k in range(3)]
    kernel = lw.compile(robot, lw.inverse_dynamics)
    ours = {"torques": kernel(*x)}
    functions: dict[str, Callable[[], Any]] = {
        "Linkwise": lambda: jax.vmap(kernel.jax()),
        "Linkwise, lower='xla'": lambda: jax.vmap(kernel.jax(lower="xla")),
        **{n: lambda n=n: _torques(n, robot) for n in LIBRARIES if find_spec(n)},
    }
    print(f"{name}, {BATCH} rows: seconds of the processor to compile, ns a row, difference as a part of the largest")
    for library, make in functions.items():
        try:
            f = make()
            for what, one in {"torques": f, "gradient": jax.grad(lambda *x, f=f: jnp.sum(f(*x) ** 2))}.items():
                call = jax.jit(one)
                seconds = [_timed(lambda call=call: call(*x)) for _ in range(1 + CALLS)]
                found = np.asarray(call(*x))
                apart = np.abs(found - ours.setdefault(what, found)).max() / np.abs(found).max()
                first, row = seconds[0], 1e9 * float(np.median(seconds[1:])) / BATCH
                print(f"  {library:22} {what:9} {first:7.2f} s {row:9.0f} ns {apart:8.0e}", flush=True)
                figures |= {f"{library}, {what}, compilation": first, f"{library}, {what}, row": row}
        except Exception as error:  # a library may not know this version of JAX
            print(f"  {library:22} fails in JAX {jax.__version__}: {type(error).__name__}: {error}", flush=True)
    return figures


def _timed(call: Callable[[], Any]) -> float:
    """Seconds of the processor, all threads together: other work on the machine does not count."""
    begin = time.process_time()
    call().block_until_ready()
    return time.process_time() - begin


def _torques(library: str, robot: lw.Robot) -> Callable[..., Any]:
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        lw.save(robot, Path(folder, "robot.urdf"))
        return LIBRARIES[library](robot, Path(folder, "robot.urdf"))


def adam(robot: lw.Robot, file: Path) -> Callable[..., Any]:
    """By adam-robotics, whose base floats, which takes batches itself, and has no inverse dynamics in one."""
    from adam.jax import KinDynComputations

    dynamics = KinDynComputations(str(file), list(robot.names), gravity=np.array([*robot.gravity, 0, 0, 0]))
    here, still = np.tile(np.eye(4), (BATCH, 1, 1)), np.zeros((BATCH, 6))

    def torques(q: Any, qd: Any, qdd: Any) -> Any:
        mass, bias = dynamics.mass_matrix(here, q), dynamics.bias_force(here, q, still, qd)
        return (mass[:, 6:, 6:] @ qdd[..., None])[..., 0] + bias[:, 6:]

    return torques


def frax(robot: lw.Robot, file: Path) -> Callable[..., Any]:
    """By frax."""
    import jax
    from frax import Robot

    other = Robot(str(file), joint_ordering=list(robot.names))
    upward = np.array([*(-x for x in robot.gravity), 0, 0, 0])  # the base accelerated, in the place of gravity
    return jax.vmap(lambda q, qd, qdd: other.rnea(q, qd, qdd, upward, None))


def jaxsim(robot: lw.Robot, file: Path) -> Callable[..., Any]:
    """By jaxsim."""
    import jax
    import jaxsim.api as js
    import rod

    (described,) = rod.Sdf.load(_sdf(file)).models()
    model = js.model.JaxSimModel.build_from_model_description(described, gravity=-robot.gravity[2])
    to_ours = np.array([model.joint_names().index(name) for name in robot.names])
    to_theirs = np.argsort(to_ours)

    def torques(q: Any, qd: Any, qdd: Any) -> Any:
        state = {"joint_positions": q[to_theirs], "joint_velocities": qd[to_theirs]}
        data = js.data.JaxSimModelData.build(model=model, **state)
        return js.model.inverse_dynamics(model, data, joint_accelerations=qdd[to_theirs])[1][to_ours]

    return jax.vmap(torques)


LIBRARIES = {"adam": adam, "frax": frax, "jaxsim": jaxsim}


def _sdf(file: Path) -> str:
    """A robot of a URDF file in SDF, which jaxsim reads without another program."""
    robot, whole = xml.parse(file).getroot(), xml.Element("sdf", version="1.10")
    model = xml.SubElement(whole, "model", name="robot")
    above = {j.find("child").get("link"): j.get("name") for j in robot.findall("joint")}

    def put(parent: xml.Element, tag: str, text: str, **more: str) -> None:
        xml.SubElement(parent, tag, **more).text = text

    def place(element: xml.Element | None) -> str:
        found = None if element is None else element.find("origin")
        return "0 0 0 0 0 0" if found is None else f"{found.get('xyz', '0 0 0')} {found.get('rpy', '0 0 0')}"

    for link in robot.findall("link"):
        name, given = link.get("name"), link.find("inertial")
        body = xml.SubElement(model, "link", name=name)
        put(body, "pose", place(None), **({"relative_to": above[name]} if name in above else {}))
        inertial = xml.SubElement(body, "inertial")
        put(inertial, "pose", place(given))
        put(inertial, "mass", HARDLY if given is None else given.find("mass").get("value"))
        inertia = xml.SubElement(inertial, "inertia")
        for k in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz"):
            put(inertia, k, HARDLY if given is None else given.find("inertia").get(k))
        if name not in above:
            weld = xml.SubElement(model, "joint", name="weld", type="fixed")
            put(weld, "parent", "world"), put(weld, "child", name)
    for joint in robot.findall("joint"):
        kind, axis = joint.get("type"), joint.find("axis")
        body = xml.SubElement(model, "joint", name=joint.get("name"), type=kind.replace("continuous", "revolute"))
        parent = joint.find("parent").get("link")
        put(body, "pose", place(joint), relative_to=parent)
        put(body, "parent", parent), put(body, "child", joint.find("child").get("link"))
        put(xml.SubElement(body, "axis"), "xyz", "1 0 0" if axis is None else axis.get("xyz"))
    return xml.tostring(whole, encoding="unicode")
