"""Closed forms of loops: what is recognised, and that it closes the loops as Newton's method does."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

import linkwise as lw
from linkwise.backend import python
from linkwise.jet import Jet, part
from linkwise.kernel.tracing import Port, trace
from linkwise.mechanism.angle import Angle
from linkwise.mechanism.closed_form import closed_forms
from linkwise.mechanism.form import Crossing, Guide, Leg
from linkwise.mechanism.loops import Cut
from linkwise.mechanism.structure import structure_of
from linkwise.robot import Joint, Link, Loop, Mimic, Robot, parameters
from linkwise.robot.align import aligned
from linkwise.robot.tree import Tree
from linkwise.spatial import Pose
from linkwise.vector import Vec3
from support.following import (
    LEGS,
    UNKNOWN,
    Followed,
    completed,
    dyad,
    error,
    led,
    leg,
    moving,
    on_legs,
    polished,
    rate_of,
    rates,
)
from support.linkages import compiled, example, leading
from support.machines import NAMES

STEP = 1e-30
CUTS = ("revolute", "spherical", "universal", "prismatic")
DYADS = [
    pytest.param(unknown, cut, before, skew, id=f"{unknown} {cut} {before}{' skew' * skew}")
    for unknown, cut, before, skew in product(UNKNOWN, CUTS, range(3), (False, True))
    if (unknown, cut) != ("PP", "prismatic")
]


def forms_of(found: Followed):
    """The closed forms of a machine all of whose loops have one."""
    forms, left = closed_forms(found.tree, found.robot.loops, found.known, found.q[0].tolist())
    assert left == []
    places = [found.tree.bodies[k].q for form in forms for k in form.bodies]
    assert sorted(places) == found.unknown
    return forms


def check(found: Followed):
    """In all rows the same positions as Newton's method has, gaps, rates by jets and by a complex step, and traces."""
    forms = forms_of(found)
    rng = np.random.default_rng(0)
    for tree in (found.tree, aligned(found.tree)):
        program = traced(forms, tree, found.known)
        for row, q in enumerate(found.q):
            full = completed(forms, tree, led(found, row))
            assert max(error(full[k], q[k]) for k in found.unknown) < 1e-12
            gaps = [x for loop in found.robot.loops for x in Cut.at(tree, full, loop).gap()]
            assert np.abs(gaps).max() < 1e-12
            (flat,) = python.evaluate(program, q[list(found.known)].tolist())
            assert np.abs(np.subtract(flat, pairs(full, found.unknown))).max() < 1e-13

            qd = rng.uniform(-1.0, 1.0, found.robot.opened().nv)
            wanted = rates(found, q, qd)
            jets = moving(found, row, qd)
            fast = completed(forms, tree, jets)
            assert np.abs([rate_of(fast[k]) for k in found.unknown] - wanted).max() < 1e-10 * scale(wanted)
            steps = [None if x is None else complex(x.c[0], STEP * x.c[1]) for x in jets]
            stepped = pairs(completed(forms, tree, steps), found.unknown)
            by_jets = [part(x, 1) for x in pairs(fast, found.unknown)]
            assert np.abs(np.imag(stepped) / STEP - by_jets).max() < 1e-12 * scale(wanted)


def scale(x):
    """What errors are measured by."""
    return max(1.0, np.abs(x).max())


def pairs(full, places):
    """Cosine and sine of angles, lengths and zero."""
    found = []
    for k in places:
        found += [full[k].c, full[k].s] if isinstance(full[k], Angle) else [full[k], 0.0]
    return found


def traced(forms, tree, known):
    """The program of all forms, with coordinates that lead as inputs."""
    unknown = [k for k in range(tree.nq) if k not in known]

    def function(q):
        given = dict(zip(known, q, strict=True))
        return (pairs(completed(forms, tree, [given.get(k) for k in range(tree.nq)]), unknown),)

    return trace("forms", function, [Port("q", (len(known),))], [Port("places", (2 * len(unknown),))])


# ---- machines


@pytest.mark.parametrize("name", NAMES)
def test_legs_follow_their_platform(name):
    check(on_legs(name))


@pytest.mark.parametrize(("unknown", "cut", "before", "skew"), DYADS)
def test_two_joints_in_a_plane_follow_wherever_they_are(unknown, cut, before, skew):
    found = dyad(unknown, cut, before, skew)
    check(found)
    (form,) = forms_of(found)
    assert type(form) is (Guide if cut == "prismatic" else Crossing if unknown == "PP" else Leg)


@pytest.mark.parametrize("before", range(4))
@pytest.mark.parametrize("letters", LEGS)
def test_three_joints_in_space_follow_wherever_they_are(letters, before):
    check(leg(letters, before))


def check_against_newton(found: Followed):
    """The same positions as the compiled machine finds by Newton's method from the reference."""
    names = tuple(found.robot.opened().names[k] for k in found.known)
    robot = found.robot.replace(replace(found.robot.loops[0], active=names), leads=names)
    assert robot.coordinates == names
    at = lw.compile(robot, closure="newton").positions(leading(robot, found.q), guess=found.q[0])
    assert at.converged.all()
    q, forms = at.q, forms_of(found)
    for row in range(len(q)):
        full = completed(forms, found.tree, led(found, row))
        assert max(error(full[k], q[row, k]) for k in found.unknown) < 1e-12


@pytest.mark.parametrize(("unknown", "cut", "before", "skew"), [d for d in DYADS if d.values[-1]])
def test_dyads_are_as_newtons_method_has_them(unknown, cut, before, skew):
    check_against_newton(dyad(unknown, cut, before, skew))


@pytest.mark.parametrize("before", range(4))
@pytest.mark.parametrize("letters", LEGS)
def test_legs_are_as_newtons_method_has_them(letters, before):
    check_against_newton(leg(letters, before))


def linkage(name, known, rows=6):
    """A bundled linkage with positions that Newton's method finds on ways from the reference."""
    robot = example(name).robot
    newton = compiled(robot, closure="newton")
    start = robot.q()
    reach = {"fourbar": 3.0, "fivebar": 0.6, "palletiser": 0.5, "ankle": 0.3}[name]
    ends = start + np.random.default_rng(0).uniform(-reach, reach, (rows, len(start)))
    ways = start + np.linspace(0.0, 1.0, 40)[:, None] * (ends - start)[:, None]
    q = newton.positions(ways, along=True)
    assert q.converged.all()
    found = Followed(robot, tuple(known), np.vstack([structure_of(robot).reference, q.q[:, -1]]))
    return found._replace(q=np.array([polished(found, row) for row in found.q]))


@pytest.mark.parametrize("name", ["fourbar", "fivebar", "palletiser"])
def test_linkages_of_the_library(name):
    """As Newton's method and its velocity map have them, loop by loop."""
    robot = example(name).robot
    structure = structure_of(robot).part
    found = linkage(name, [v for v in range(robot.opened().nv) if v not in structure.passive])
    check(found)
    forms, G = forms_of(found), compiled(robot, closure="newton").tree_jacobian(leading(robot, found.q))
    for row in range(len(found.q)):
        for column, v in enumerate(structure.independent):
            fast = completed(forms, found.tree, moving(found, row, np.eye(robot.opened().nv)[v]))
            wanted = G[row][found.unknown, column]
            assert np.abs([rate_of(fast[k]) for k in found.unknown] - wanted).max() < 1e-10 * scale(wanted)


def test_an_ankle_follows_its_foot():
    """Rods on universal joints are legs once the foot leads; where motors lead, both legs hang on the same foot."""
    robot = example("ankle").robot
    tree, structure = Tree.of(robot), structure_of(robot)
    check(linkage("ankle", [b.q for b in tree.bodies[1:] if not b.name.startswith(("left", "right"))]))
    motors = [k for k in range(robot.opened().nq) if k not in structure.part.passive]
    forms, left = closed_forms(tree, robot.loops, motors, structure.reference.tolist())
    assert (forms, left) == ([], list(robot.loops))


def test_a_palletiser_is_solved_loop_after_loop():
    robot = example("palletiser").robot
    structure = structure_of(robot)
    known = [k for k in range(robot.opened().nq) if k not in structure.part.passive]
    turned = robot.replace(loops=robot.loops[::-1])
    forms, left = closed_forms(Tree.of(turned), turned.loops, known, structure.reference.tolist())
    assert left == []
    order = [form.loop.name for form in forms]
    assert sorted(order) == sorted(loop.name for loop in robot.loops)
    assert order.index("upper_parallelogram") == 2


# ---- a slider-crank, by trigonometry

CRANK, ROD = 0.1, 0.35


def slider_crank(cut, **joint):
    """A crank, a rod and a slide along x; the loop is cut at one of its four joints."""
    y, x = Vec3(0.0, 1.0, 0.0), Vec3(1.0, 0.0, 0.0)
    links = [Link("base"), Link("crank", 1.0), Link("rod", 1.0), Link("slider", 1.0)]
    crank = Joint("crank", "base", "crank", axis=y)
    rod = Joint("rod", "crank", "rod", origin=Pose(p=Vec3(CRANK, 0.0, 0.0)), axis=y)
    slide = Joint("slide", "base", "slider", "prismatic", axis=x)
    pin = Pose.of(rpy=(-np.pi / 2, 0.0, 0.0))
    if cut == "pin":
        ends = Loop("cut", "rod", "slider", "revolute", Pose.of((ROD, 0.0, 0.0)) @ pin, pin)
        return Robot(links, [crank, rod, slide], loops=[ends])
    if cut == "elbow":
        rod = Joint("rod", "slider", "rod", axis=y)
        ends = Loop(
            "cut", "crank", "rod", "revolute", Pose.of((CRANK, 0.0, 0.0)) @ pin, Pose.of((-ROD, 0.0, 0.0)) @ pin
        )
        return Robot(links, [crank, slide, rod], loops=[ends])
    wrist = Joint("wrist", "rod", "slider", origin=Pose(p=Vec3(ROD, 0.0, 0.0)), axis=y)
    along = Pose.of(rpy=(0.0, np.pi / 2, 0.0))
    return Robot(links, [crank, rod, wrist], loops=[Loop("cut", "base", "slider", "prismatic", along, along)])


def slider_crank_positions(cut, crank):
    """By trigonometry, the slider to the right of the crank."""
    z = -CRANK * np.sin(crank)
    tilt = np.arcsin(z / ROD)  # of the rod against x, downwards
    x = CRANK * np.cos(crank) + ROD * np.cos(tilt)
    return {"pin": [crank, tilt - crank, x], "elbow": [crank, x, tilt], "guide": [crank, tilt - crank, -tilt]}[cut]


@pytest.mark.parametrize("cut", ["pin", "elbow", "guide"])
def test_a_slider_crank_turns_all_around(cut):
    q = np.array([slider_crank_positions(cut, x) for x in np.linspace(0.3, 6.5, 9)])
    check(Followed(slider_crank(cut), (0,), q))


@pytest.mark.parametrize("cut", ["pin", "elbow"])
def test_a_slider_that_leads_has_two_branches_that_meet(cut):
    """Driven by its slider, a crank stands still where it points along the rod: no form from there."""
    robot = slider_crank(cut)
    tree = Tree.of(robot)
    slide = robot.opened().slots["slide"].q
    for crank, found in ((0.7, 1), (-0.7, 1), (0.0, 0), (np.pi, 0)):
        q = slider_crank_positions(cut, crank)
        forms, left = closed_forms(tree, robot.loops, [slide], q)
        assert (len(forms), len(left)) == (found, 1 - found)
        full = completed(forms, tree, [x if k == slide else None for k, x in enumerate(q)])
        assert all(error(full[tree.bodies[k].q], q[tree.bodies[k].q]) < 1e-12 for form in forms for k in form.bodies)


# ---- what is not reached, and what is not recognised


def unreached():
    robot = slider_crank("pin")
    tree = Tree.of(robot)
    (form,), _ = closed_forms(tree, robot.loops, [2], slider_crank_positions("pin", 0.7))
    return tree, form


def shortened(form):
    """The form of a slider-crank with a short rod."""
    return replace(form, loop=replace(form.loop, origin_a=Pose(form.loop.origin_a.R, Vec3(0.02, 0.0, 0.0))))


@pytest.mark.parametrize("value", [1.0, 1.0 + 0j, Jet([1.0, 0.5]), 0.0, Jet([0.0, 1.0])])
def test_what_cannot_be_reached_is_no_number(value):
    tree, form = unreached()
    found = form.positions(tree, [None, None, value])
    numbers = [y for x in found for c in (x.c, x.s) for y in (c.c if isinstance(c, Jet) else [c])]
    assert len(found) == 2
    assert all(y != y for y in numbers)


def test_traces_of_what_cannot_be_reached_are_no_numbers():
    """Cosine and sine both, though the root is in one of them alone."""
    tree, form = unreached()
    program = traced([form], tree, (2,))
    assert np.isnan(python.evaluate(program, [1.0])).all()
    assert np.isfinite(python.evaluate(program, [0.3])).all()
    robot = slider_crank("pin")
    (form,), _ = closed_forms(tree, robot.loops, [0], slider_crank_positions("pin", 0.2))
    program = traced([shortened(form)], tree, (0,))
    assert np.isnan(python.evaluate(program, [1.5])[0][:3]).all()
    assert np.isfinite(python.evaluate(program, [0.1])).all()


@pytest.mark.parametrize("name", ["Gough-Stewart", "Delta", "3-RRR upright", "6-PUS", "6-RUS", "3-PRR"])
def test_platforms_far_away_leave_no_leg_a_number(name):
    """Of each leg one joint at least, and of that cosine and sine; a hexapod's legs have no end."""
    found = on_legs(name)
    forms = forms_of(found)
    far = led(found, 0)
    far[0] = 10.0
    program = traced(forms, found.tree, found.known)
    values = iter(np.reshape(python.evaluate(program, [far[k] for k in found.known])[0], (-1, 2)))
    places = {k: next(values) for k in found.unknown}
    bodies = found.tree.bodies
    for form in forms:
        lost = [np.isnan(places[bodies[k].q][: 2 if bodies[k].kind.turns else 1]).all() for k in form.bodies]
        assert any(lost) == (name != "Gough-Stewart")


def test_a_slide_that_cannot_be_reached_is_no_number():
    robot = slider_crank("pin")
    tree = Tree.of(robot)
    (form,), _ = closed_forms(tree, robot.loops, [0], slider_crank_positions("pin", 0.2))
    short = shortened(form)
    for crank in (1.5, Jet([1.5, 1.0]), 1.5 + 0j):
        found = dict(zip(short.bodies, short.positions(tree, [crank, None, None]), strict=True))
        assert all(x != x for x in (found[2].c, found[2].s, found[3]))


def test_numbers_of_the_model_may_be_inputs():
    """A five-bar linkage with the length of an arm as an input."""
    robot = example("fivebar").robot
    structure = structure_of(robot)
    known = [k for k in range(robot.opened().nq) if k not in structure.part.passive]
    forms, _ = closed_forms(Tree.of(robot), robot.loops, known, structure.reference.tolist())

    def function(q, length):
        tree = Tree.of(parameters.substitute(robot, {"left_elbow.xyz": (0.0, 0.0, length[0])}))
        given = dict(zip(known, q, strict=True))
        full = completed(forms, tree, [given.get(k) for k in range(tree.nq)])
        return ([x for loop in robot.loops for x in Cut.at(tree, full, loop).gap()],)

    program = trace("forms", function, [Port("q", (2,)), Port("length", (1,))], [Port("gap", (5,))])
    for length in (0.18, 0.2, 0.23):
        (gap,) = python.evaluate(program, [0.1, -0.2], [length])
        assert np.abs(gap).max() < 1e-14


def test_joints_that_others_mimic_are_left_to_newtons_method():
    robot = slider_crank("pin")
    mimicking = Joint("copy", "base", "copy", axis=Vec3(0.0, 1.0, 0.0), mimic=Mimic("rod", 2.0))
    more = robot.add(Link("copy", 1.0), mimicking)
    forms, left = closed_forms(Tree.of(more), more.loops, [0], slider_crank_positions("pin", 0.2))
    assert (forms, left) == ([], list(more.loops))


def test_loops_whose_joints_are_all_known_are_in_neither_list():
    robot = slider_crank("pin")
    assert closed_forms(Tree.of(robot), robot.loops, [0, 1, 2], [0.0, 0.0, CRANK + ROD]) == ([], [])
    twice = robot.add(replace(robot.loops[0], name="again"))
    forms, left = closed_forms(Tree.of(twice), twice.loops, [0], slider_crank_positions("pin", 0.2))
    assert ([form.loop.name for form in forms], left) == (["cut"], [])


@pytest.mark.parametrize("cut", CUTS)
def test_loops_out_of_a_plane_are_left_to_newtons_method(cut):
    """A joint that leads and turns about another axis takes a linkage out of the plane in which it is closed."""
    found = dyad("RR", cut, 0, True, bent=True)
    forms, left = closed_forms(found.tree, found.robot.loops, found.known, found.q[0].tolist())
    assert (forms, left) == ([], list(found.robot.loops))


@pytest.mark.parametrize(("letters", "before"), [("RU", 0), ("UP", 0)])
def test_axes_that_do_not_meet_are_left_to_newtons_method(letters, before):
    found = leg(letters, before, apart=1e-6)
    forms, left = closed_forms(found.tree, found.robot.loops, found.known, found.q[0].tolist())
    assert (forms, left) == ([], list(found.robot.loops))


# ---- operations


@pytest.mark.parametrize(("name", "most"), [("Gough-Stewart", 322), ("Delta", 140), ("3-RRR upright", 129)])
def test_forms_take_few_operations(name, most):
    """No more than legs that are written down by hand, each by itself."""
    found = on_legs(name)
    assert sum(traced(forms_of(found), found.tree, found.known).count().values()) <= most
