"""Everything public is sent between processes: by pickle in all protocols, by cloudpickle, and copied in depth.

Every public name and every class that a public function or method says it returns is covered, or the tests fail.
"""

import copy
import importlib
import inspect
import math
import pickle
import pkgutil
import sys
import typing
from dataclasses import fields, is_dataclass
from functools import cache, partial

import cloudpickle
import numpy as np
import pytest
from scipy.interpolate import CubicSpline

import linkwise as lw
from linkwise import motion, walking
from linkwise.identification.laws import State
from linkwise.motion.log import Log
from linkwise.planning.certified import LeastDistance
from linkwise.planning.constraints import base_motion
from linkwise.planning.point import Point
from linkwise.robot import Course, Curve, Diagnostic, HeightField
from linkwise.robot.coupling import couplings
from linkwise.robot.joint import KINDS
from linkwise.robot.joint.screw import Screw
from papers.two_link_plans import minimum_time
from support.feet import anyhow, hopper
from support.processes import run

WAYS = {f"pickle {p}": lambda x, p=p: pickle.loads(pickle.dumps(x, p)) for p in range(2, pickle.HIGHEST_PROTOCOL + 1)}
WAYS |= {"cloudpickle": lambda x: pickle.loads(cloudpickle.dumps(x)), "deepcopy": copy.deepcopy}
ARM = lw.load("arm7")
FOUR = lw.load("fourbar")


def tension(point: Point):
    return point.tau[0]


def leaning(t):
    return np.zeros(6), np.zeros(6), np.zeros(6)


def law(pose, velocity):
    return lw.Wrench(lw.Vec3(0.0, 0.0, -1.0), lw.Vec3(0.0, 0.0, 0.0))


def feedback(q, qd, u):
    return [a - 2.0 * b for a, b in zip(u, qd, strict=True)]


# ---- one of each


@cache
def excited():
    return lw.identification.excite(lw.load("rr"), duration=2.0, harmonics=2, tries=3, iterations=5, progress=False)


def watched(observer):
    return [observer([0, 0], [1, k], [0, 0]) for k in range(3)]


def observer():
    return lw.control.momentum_observer(lw.load("rr"), 20.0, 0.01)


@cache
def looped():
    return lw.compile(FOUR)


def around(call):
    """The answer of a linkage where it stands."""
    q = FOUR.q()
    return call(looped(), q, np.full_like(q, 0.1), np.full_like(q, 0.2))


@cache
def delta():
    return lw.compile(lw.delta())


POSE = np.array([0.0, 0.0, -0.5])


class Held(dict):
    """Motions of joints that a cache can know."""

    def __hash__(self):
        return id(self)


wave = CubicSpline([0.0, 0.1, 0.2], [0.3, 0.25, 0.3])


@cache
def fallen(**how):
    return lw.simulate(lw.load("rr"), [0.3, 0.1], None, 0.2, events={"turn": crossing}, **how)


def crossing(t, q, qd):
    return q[0] - 0.29


def pushing(t, q, qd):
    return np.full(len(qd), 1000.0)


@cache
def pushed():
    """A simulation under a sampled control that asks for more than the drives can give."""
    return lw.simulate(ARM, None, None, 0.1, control=lw.control.sampled(pushing, 0.05), limits="saturate")


@cache
def stopped():
    """The error of a simulation that runs away, which has the motion up to there."""
    with pytest.raises(lw.SimulationError) as caught:
        lw.simulate(lw.load("puma560"), None, None, 1.0, control=np.full(6, 1e160))
    return caught.value


@cache
def logs():
    """A log, and the same made smooth."""
    t = np.arange(600) / 200.0
    log = lw.read_log({"t": t, "q.joint1": np.sin(t), "q.joint2": np.cos(t), "tau.joint1": t}, lw.load("rr"))
    return [log, motion.smooth(log)]


@cache
def planned():
    return minimum_time(8, iterations=20)


@cache
def moved():
    """A line of a tool with limits of its own, on a path whose ends are eased."""
    return lw.move(lw.load("industrial6"), [0.2, -0.3, 0.5, 0.1, 0.9, 0.3], by=(0.0, 0.1, 0.0), speed=0.3, jerk=300.0,
                   intervals=20)  # fmt: skip


@cache
def retimed():
    return lw.retime(ARM, np.random.default_rng(0).uniform(-1, 1, (4, 7)), velocity=np.inf)


@cache
def scaler():
    """In the middle of a run."""
    made = lw.scaler(ARM, effort=[60.0] * 7, effort_rate=[1200.0] * 7, dt=2e-3)
    made.run(path().eased().derivatives, 0.3)
    return made


@cache
def walked():
    return walking.walk(solver="scipy", iterations=1, progress=False)


@cache
def reached():
    return lw.inverse_kinematics(ARM, ARM.links[-1].name, lw.compile(ARM).pose(np.full(7, 0.3), ARM.links[-1].name))


def path():
    return lw.planning.Path.through(np.random.default_rng(1).uniform(-1, 1, (4, 7)), ARM)


def weighed():
    n = len(ARM.parameter_names)
    return lw.identification.consistent(ARM, np.eye(n), np.ones(n), method="cholesky")


def fitted():
    v = np.linspace(-1.0, 1.0, 41)[:, None]
    return lw.identification.nonlinear_friction(["a"], v, np.tanh(v / 0.3), v[:, :, None], {"a": "tanh"})


def identified():
    return lw.identify(lw.load("rr"), lw.identification.simulated_log(lw.load("rr"), 10.0))


def swung():
    robot = lw.load("rr")
    q = np.sin(np.arange(40)[:, None] / 10.0 + [0.0, 1.0])
    log = Log(robot, np.arange(40) / 100.0, q, tau=q)
    return lw.identification.output_error(log, f"{robot.names[0]}.viscous", window=0.1)


def rolled(**how):
    return lw.compile_rollout(lw.load("rr"), **how)


def turned(rollout):
    return rollout([0.1, 0.2], [0.0, 0.0], np.ones((5, 2)), 0.01)


def errors():
    found = [kind("what to do.") for kind in (lw.LinkwiseError, lw.ModelError, lw.InputError, lw.SimulationError)]
    noted = lw.UnknownNameError("joint", "elbo", ["elbow", "wrist"])
    noted.add_note("while loading")
    return [*found, noted, stopped()]


def formulas():
    found = lw.compile(lw.load("rr")).mass_matrix.symbolic("mass")
    return found, found.numbers


def kernels():
    """Kernels of all sorts, with options."""
    rr, rng = lw.load("rr"), np.random.default_rng(0)
    gains = {"kp": 10.0, "kd": 1.0}
    every = [
        lw.compile(rr, lw.joint_wrenches),
        lw.compile(rr, lw.jacobian, frame=rr.links[-1].name, axes="local"),
        lw.compile(rr, lw.inverse_dynamics, threads=2, external=(rr.links[-1].name,)),
        lw.compile(rr, lw.inverse_dynamics, parameters=(f"{rr.links[-1].name}.mass",), gravity="input"),
        lw.compile(rr, lw.forward_dynamics, forces={rr.links[-1].name: [law, lw.simulation.Drag((0.1, 0.1, 0.1))]}),
        lw.compile(rr, lw.derivative(lw.inverse_dynamics, "q", of="tau")),
        lw.compile(rr, lw.control.computed_torque, **gains),
        lw.compile(rr, lw.control.passivity_control, **gains),
        lw.compile(rr).forward_dynamics_derivatives,
        delta().mass_matrix,
        delta().drive_jacobian,
        delta().joint_wrenches,
        looped().inverse_dynamics,
        looped().tree_motion,
        lw.compile(FOUR, lw.inverse_dynamics, closure="newton"),
    ]
    return [(k, [rng.uniform(0.1, 0.2, s) for s in k.inputs.values()]) for k in every]


def clearance():
    """Of an arm above ground, with a plane."""
    arm = lw.load("rr")
    shapes = [lw.Shape(link.name, "sphere", 0.05, role="collision") for link in arm.links]
    ground = HeightField("ground", [[-3.0, -3.0], [-3.0, -2.9]], (1.0, 1.0))
    wall = lw.Shape("wall", "plane", origin=lw.Pose.of((-9.0, 0.0, 0.0), (0.0, 1.5, 0.0)))
    return lw.compile(arm.replace(shapes=shapes)).clearance.among([ground, wall])


ONES = {
    "kinds of joints": (lambda: [*KINDS.values(), Screw(0.3)], lambda kinds: [(k.name, k.units) for k in kinds]),
    "kernels": (kernels, lambda pairs: [(k.inputs, k.outputs, k.count(), k(*x)) for k, x in pairs]),
    "results of kernels": (lambda: [k(*x) for k, x in kernels()], None),
    "formulas": (formulas, lambda found: [found[0].text(), found[1]]),
    "dynamics": (lambda: lw.compile(ARM), lambda d: (d.robot, d.mass_matrix(np.ones(7)), len(d.robot.loops))),
    "looped": (looped, lambda d: (d.robot, d.positions(d.robot.q()))),
    "platform": (delta, lambda p: (p.robot, p.positions(POSE), p.drive_jacobian(POSE))),
    "contacts": (
        lambda: anyhow(*hopper(), [lw.limit.contact("sole", sole=(0.2, 0.1))]),
        lambda p: (p.contacts, p.contact_force("sole", 0.2), p.tau(0.2)),
    ),
    "looped results": (
        lambda: [
            around(lambda d, q, v, a: d.positions(q)),
            around(lambda d, q, v, a: d.workspace(q)),
            around(lambda d, q, v, a: d.tree_motion(q, v, a)),
            around(lambda d, q, v, a: d.inverse_dynamics(q, v, a)),
            around(lambda d, q, v, a: d.joint_wrenches(q, v, a)),
            around(lambda d, q, v, a: d.forward_dynamics(q, v, a)),
            around(lambda d, q, v, a: d.force_rates(q, v, a, a)),
            around(lambda d, q, v, a: d.inverse_dynamics_derivatives(q, v, a)),
        ],
        None,
    ),
    "results of platforms": (
        lambda: [
            delta().workspace(POSE),
            delta().positions(POSE),
            delta().positions(drives=[0.1, 0.1, 0.1]),
            lw.platforms.Leg("leg", lw.load("rr"), "link2", (0.1, 0.0, 0.0), "joint1"),
        ],
        None,
    ),
    "clearance": (clearance, lambda c: (c.pairs, c.left_out, c.covers, c.reach, c(c.scene.robot.q()))),
    "least distance": (
        lambda: LeastDistance(0.01, ("forearm", "post"), 0.2, 0.0104),
        lambda found: (float(found), str(found)),
    ),
    "what clearance looks at": (lambda: [clearance().covers, *clearance().left_out], None),
    "robots": (
        lambda: [lw.load(n) for n in lw.list_robots()],
        None,
    ),
    "parts of robots": (
        lambda: [
            lw.Drive(lw.Motor("m", 1e-4), gear=50.0, stiffness=1e4),
            lw.Friction(1.0, 2.0),
            lw.Limits(-1, 1),
            lw.Spring(3.0),
            lw.Mimic("a", 2.0),
            lw.Frame("f", "link"),
            lw.Shape("link", "box", (1, 2, 3)),
            lw.beam(1.0, 1.0, bending=2.0, segments=2),
            ARM.slots,
            lw.Joint("j", "a", "b", mimic=lw.Mimic("i", 2.0, 0.1)),
            lw.Joint("j", "a", "b", "coupled", course=Course(x=Curve((0.0, 0.1)), turn_z=Curve(x=(0, 1), y=(0, 2)))),
            couplings([lw.Joint("j", "a", "b", mimic=lw.Mimic("i", curve=Curve((0.0, 1.0, 2.0))))]),
            lw.Loop("l", "a", "b"),
            lw.permutation(ARM, reversed(ARM.names)),
            lw.dh.to_khalil(ARM),
            lw.dh.to_modified_dh(lw.load("puma560")),
            lw.dh.DHRow(0.1, 0.2, 0.3, 0.4),
            lw.dh.KhalilRow(*range(8)),
            ARM.diagnostics,
            Diagnostic("warning", "here", "what"),
            lw.Vec3(1.0, 2.0, 3.0),
            lw.Pose(),
            lw.Motion(),
            lw.Wrench(),
            lw.algorithms.World(),
        ],
        None,
    ),
    "parameters": (
        lambda: lw.base_parameters(lw.load("rr")),
        lambda b: (b.values, b.names, b.regressor([1, 2], [3, 4], [5, 6])),
    ),
    "laws": (
        lambda: [
            lw.simulation.Drag((0.1, 0.1, 0.1)),
            lw.simulation.GroundContact(1e4, 10.0),
            lw.simulation.GroundFriction(0.5, 0.2),
            lw.simulation.RollingWheel(0.1),
            lw.simulation.Thrust((1.0, 0.0, 0.0)),
            lw.simulation.JointStop(-1.0, 1.0),
            lw.simulation.joint_stops(ARM),
        ],
        None,
    ),
    "simulations": (
        lambda: [
            fallen(),
            fallen(dense=True),
            fallen(dense=True, driven=Held(joint1=0.3)),
            fallen(dense=True, driven=Held(joint1=wave)),
            fallen(dense=True, method="LSODA"),
        ],
        lambda every: [(s, s["joint2"], *(s.state([0.05, 0.1]) if s.motion else ())) for s in every],
    ),
    "simulation with loops": (
        lambda: lw.simulate(FOUR, None, None, 0.05, dense=True),
        lambda s: (s, s.state(0.02)),
    ),
    "simulation of a platform": (
        lambda: lw.simulate(lw.delta(), None, None, 0.05, dense=True),
        lambda s: (s, s.state(0.02), s.state(0.02, whole=True)),
    ),
    "sampled control": (
        lambda: [lw.control.sampled(pushing, 0.05), pushed()],
        lambda both: (both[0].period, both[1], both[1].limits_met, both[1].commands),
    ),
    "rollouts": (
        lambda: [rolled(), rolled(control=feedback), rolled(threads=2, method="euler")],
        lambda every: [(turned(r), r.linearization([0.1, 0.2], [0, 0], [1, 1], 0.01), r.count()) for r in every],
    ),
    "rollout results": (lambda: [turned(rolled()), rolled().linearization([0.1, 0.2], [0, 0], [1, 1], 0.01)], None),
    "steps of rollouts": (
        lambda: [rolled().step, rolled().linearization],
        lambda both: [f([0.1, 0.2], [0, 0], [1, 1], 0.01) for f in both],
    ),
    "consistent parameters": (lambda: [weighed(), fitted()], lambda both: [both[0], both[1].values()]),
    "output error": (swung, lambda x: [x.values, x.errors, x.robot]),
    "estimate": (lambda: next(iter(identified().base)), list),
    "test of a fit": (lambda: identified().test(identified().base.names[0]), lambda x: [x.statistic, x.probability]),
    "load": (lambda: lw.identification.Load("tool", *[next(iter(identified().base))] * 2), list),
    "state": (lambda: State(*np.ones((3, 4, 2))), lambda x: [x.q, x.qd, x.qdd]),
    "fit": (identified, lambda x: [x.base.values, x.parameters.errors, x.robot]),
    "plan": (planned, lambda p: (p.q(0.1), p.tau(0.1), p.largest_violation, p.duals, p.status, p.duration, p.terms)),
    "exciting motion": (
        excited,
        lambda e: (e.q(0.1), e.log_det, e.condition, e.parameters, e.standard_errors(), repr(e)),
    ),
    "observer of contacts": (
        lambda: [observer(), observer().along(*np.zeros((3, 9, 2)))],
        lambda both: (watched(copy.deepcopy(both[0])), both[0].names, both[1]),
    ),
    "motion of a tool": (moved, lambda m: (m(0.1), m.uses, m.facts["length"])),
    "words of plans": (
        lambda: [
            0.1 * lw.cost.time() + lw.cost.effort([1.0, 2.0]),
            lw.cost.effort_rate(),
            lw.cost.energy(),
            lw.cost.power(),
            lw.cost.jerk(),
            lw.cost.information("A", about="friction"),
            lw.limit.joints("effort"),
            lw.limit.joints(velocity=[1.0]),
            lw.cost.function(tension, "mine"),
            lw.limit.function(tension, 0.0, 1.0),
            lw.limit.cyclic(),
            lw.limit.passive("a"),
            lw.limit.mirrored({"a": "b"}),
            lw.limit.reaction("joint1", force=3.0),
            base_motion(leaning),
            lw.planning.State([0.0, 1.0]),
            lw.limit.via(0.5, {"joint1": 1.0}),
            lw.limit.clearance("tool", 0.1, half_space=((0, 0, 1), 0.0)),
            lw.limit.clearance(lw.Shape("post", "sphere", 0.1), 0.01),
            lw.cost.reaction("joint1"),
            lw.cost.tool_path("tool", line=([0, 0, 0], [1, 0, 0])),
            lw.limit.tool_path("tool", line=([0, 0, 0], [1, 0, 0]), tolerance=0.1),
        ],
        None,
    ),
    "tool paths": (
        lambda: lw.cost.tool_path("tool", path=[[0, 0, 0], [1, 0, 0], [1, 1, 0]]),
        lambda p: p.path.path(np.linspace(0, 1, 5)),
    ),
    "path": (
        lambda: [path(), path().eased(), path().with_reversals()],
        lambda all: [p.derivatives(np.array([0.1, 0.5])) for p in all],
    ),
    "retimed": (retimed, lambda r: (r(0.1), r.columns(), r.duration)),
    "scaler": (scaler, lambda s: copy.deepcopy(s).run(path().eased().derivatives, 0.5)),
    "scaled runs": (lambda: copy.deepcopy(scaler()).run(path().eased().derivatives, 0.5), None),
    "scaled": (lambda: copy.deepcopy(scaler()).step(*path().eased().derivatives(scaler().places)), None),
    "reached": (reached, None),
    "reversals": (lambda: lw.motion.reversals(lw.load("puma560"), np.sin(np.arange(60.0)).reshape(10, 6)), None),
    "motions": (
        lambda: [
            motion.Trajectory(*np.ones((4, 3, 2)), True, {"qd": "the file"}),
            motion.Excess("elbow", "velocity", 2.0, 1.0, 0.1, 3),
        ],
        None,
    ),
    "logs": (logs, lambda every: [(x.notes, x.columns() if hasattr(x, "columns") else x.qdd) for x in every]),
    "walk": (walked, lambda w: (w.stride(5).tau, w.effort, w.violations(), repr(w), w.rows, w.features())),
    "walk results": (lambda: [walked().stride(5), walked().audit(1), walked().violations(), walked().compared()], None),
    "walk as a view": (lambda: walked().shown(), lambda m: (m.robot, m.t, m.q, dict(m.forces), dict(m.curves))),
    "persons": (
        lambda: [
            walking.Person(loads=[walking.Load(10.0, "chest")]),
            walking.Bounds(),
            walking.band("hip_angle"),
            walking.effort(),
            walking.tracking(),
        ],
        None,
    ),
    "errors": (
        errors,
        lambda every: [
            (type(e), str(e), e.args, getattr(e, "__notes__", []), getattr(e, "result", None)) for e in every
        ],
    ),
}


def same(a, b):
    """Whether two things are of one kind and hold the same, numbers bit by bit; NaN is itself."""
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    if isinstance(a, float):
        return a == b or (math.isnan(a) and math.isnan(b))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(same, a, b))
    if is_dataclass(a) and not isinstance(a, type):
        return all(same(getattr(a, f.name), getattr(b, f.name)) for f in fields(a))
    if isinstance(a, partial):
        return same((a.func, a.args, a.keywords), (b.func, b.args, b.keywords))
    if type(a).__eq__ is object.__eq__ and not callable(a):
        return same(vars(a), vars(b)) if hasattr(a, "__dict__") else True
    return bool(a == b) or (callable(a) and not inspect.isroutine(a))  # what can be called is compared by its use


@pytest.mark.parametrize("kind", ONES)
def test_sent_and_received(kind):
    make, use = ONES[kind]
    before = make()
    expected = use(before) if use else before
    for way, sent in WAYS.items():
        after = sent(before)
        assert same(use(after) if use else after, expected), way


@pytest.mark.parametrize("name", lw.__all__)
def test_public_names(name):
    """Functions, classes, algorithms and modules are known by name, and are themselves again."""
    value = getattr(lw, name)
    for way, sent in WAYS.items():
        if inspect.ismodule(value) and way != "cloudpickle":
            continue  # what Python itself does not send
        assert sent(value) is value or value == sent(value), way


def test_the_package_itself():
    assert WAYS["cloudpickle"](lw) is lw
    assert pickle.loads(cloudpickle.dumps(lambda: lw.load("rr").name))() == "rr"


# ---- nothing is left out


def classes_of(hint):
    """The classes of ours in a type, be it a union or a list of them."""
    if isinstance(hint, type) and hint.__module__.startswith("linkwise"):
        yield hint
    for inner in typing.get_args(hint):
        yield from classes_of(inner)


def answers(thing):
    """The classes that a function, or the public methods and fields of a class, say they give."""
    if isinstance(thing, type):
        own = {n: v for n, v in vars(thing).items() if not n.startswith("_") or n == "__call__"}
        parts = [
            getattr(v, "func", None) or getattr(v, "fget", None) or getattr(v, "__func__", v) for v in own.values()
        ]
        spaces = [(thing, f) for f in getattr(thing, "__annotations__", ())]
    else:
        parts, spaces = [thing], []
    for part in filter(inspect.isfunction, parts):
        yield from _hints(part, "return")
    for owner, name in spaces:
        if not name.startswith("_"):
            yield from _hints(owner, name)


def _hints(owner, name):
    known = {c.__name__: c for c in every_class().values()} | {
        "NDArray": list,
        "ArrayLike": list,
        "Figure": object,
        "np": np,
    }
    try:
        return list(
            classes_of(typing.get_type_hints(owner, localns={**known, **vars(sys.modules[owner.__module__])}).get(name))
        )
    except NameError as error:
        raise AssertionError(f"the type of {owner} {name} is not known: {error}") from error


@cache
def every_class():
    for module in pkgutil.walk_packages(lw.__path__, "linkwise."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    ours = [m for n, m in list(sys.modules.items()) if n.startswith("linkwise")]
    return {f"{c.__module__}.{c.__name__}": c for m in ours for c in vars(m).values() if isinstance(c, type)}


# how things are made inside: never in the hands of a user, or abstract; and what belongs to a process
INNER = {
    "Derivation", "Program", "Port", "Node", "Basis", "Body", "Tree", "Elastic", "Rotor", "Structure",
    "Assembled", "Inertia", "Term", "Constraint", "Rows", "LinearRows", "Point", "Problem",
    "Found", "Effort", "Support", "Contact", "Foot", "Moment", "Step", "Timetable",
    "Phase", "Curve", "PathModel", "PathRows", "TimeLaw", "Mat3", "Bounds", "Options", "Reason", "Closing",
    "Carrier", "Linearizer", "Compiled", "Place", "Show", "Push",
}  # fmt: skip


def test_every_answer_is_covered():
    """A class that a public function returns has to be among the things that are sent above."""
    public = [getattr(lw, n) for n in lw.__all__]
    modules = [m for m in public if inspect.ismodule(m)]
    left = public + [v for m in modules for n, v in vars(m).items() if not n.startswith("_")]
    asked = set()
    while left:
        thing = left.pop()
        if (inspect.isfunction(thing) or isinstance(thing, type)) and thing not in asked:
            asked.add(thing)
            left += [c for c in answers(thing) if c.__name__ not in INNER]
    wanted = {
        c for c in asked if isinstance(c, type) and c.__module__.startswith("linkwise") and c.__name__ not in INNER
    }
    sent = set()
    for make, _ in ONES.values():
        _collect(make(), sent, set())
    missing = sorted(f"{c.__module__}.{c.__name__}" for c in wanted if not any(issubclass(x, c) for x in sent))
    assert not missing, f"no instance is sent of: {', '.join(missing)}"
    assert len(wanted) > 80


def _collect(x, found, seen):
    """The classes of ours in a value, however deep."""
    if id(x) in seen:
        return
    seen.add(id(x))
    found.update(c for c in type(x).__mro__[:1])
    parts = [*x.keys(), *x.values()] if isinstance(x, dict) else list(x) if isinstance(x, (list, tuple)) else []
    parts += [getattr(x, f.name) for f in fields(x)] if is_dataclass(x) and not isinstance(x, type) else []
    if type(x).__module__.startswith("linkwise"):
        parts += vars(x).values() if hasattr(x, "__dict__") else []
    for part in parts:
        _collect(part, found, seen)


OWN = """
import pickle, cloudpickle, sys
import linkwise as lw

@lw.algorithm(inputs="q qd", outputs={"p": ("nv",)})
def own(tree, q, qd):
    return ([a * b for a, b in zip(q, qd)],)

kernel = lw.compile(lw.load("rr"), own)
for dumps in (pickle.dumps, cloudpickle.dumps):
    assert pickle.loads(dumps(kernel))([1, 2], [3, 4]).tolist() == [3, 8]
with open(sys.argv[-1], "wb") as file:
    cloudpickle.dump(kernel, file)
"""


def test_an_algorithm_of_a_script(tmp_path):
    """One that no other process could import goes by value, through cloudpickle as functions do."""
    script, file = tmp_path / "script.py", tmp_path / "kernel"
    script.write_text(OWN)
    run(f"import runpy, sys; sys.argv.append({str(file)!r}); runpy.run_path({str(script)!r}, run_name='__main__')")
    assert pickle.loads(file.read_bytes())([1, 2], [3, 4]).tolist() == [3, 8]


def test_a_robot_is_sent_without_what_follows_from_it():
    """However much was asked of it before, and what it answers is found again."""
    robot = lw.load("arm7")
    fresh = pickle.dumps(robot)
    names, theta = robot.parameter_names, robot.parameters()
    assert pickle.dumps(robot) == fresh
    received = pickle.loads(fresh)
    assert received == robot
    assert received.parameter_names == names
    np.testing.assert_array_equal(received.parameters(), theta)
