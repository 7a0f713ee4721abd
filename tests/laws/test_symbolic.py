"""Formulas of kernels: those of textbooks, and the numbers that the kernels compute."""

import pickle
import re

import numpy as np
import pytest
import sympy as sp

import linkwise as lw

PLANAR = [
    {"theta": 0, "d": 0, "a": a, "alpha": 0, "mass": m, "com": (c, 0, 0), "inertia": (0, 0, I), "name": name}
    for a, m, c, I, name in ((0, 1.5, 0.25, 0.1, "upper"), (0.4, 2.0, 0.2, 0.2, "fore"), (0.3, 0.7, 0.1, 0.05, "hand"))
]
DOWN = (0, -9.81, 0)
q1, q2, v1, v2, m1, m2, c1, c2, I1, I2, l1, g = sp.symbols("q_1 q_2 qd_1 qd_2 m_1 m_2 c_1 c_2 I_1 I_2 l_1 g")


@pytest.fixture(scope="module")
def two_link():
    return lw.compile(lw.modified_dh(PLANAR[:2], gravity=DOWN, name="two links"))


def same(found, expected):
    return sp.simplify(found - expected) == sp.zeros(*expected.shape)


def test_mass_matrix_of_the_textbook(two_link):
    """Spong, Hutchinson and Vidyasagar, section 7.4; Craig's too, for point masses at the ends."""
    m12 = m2 * (c2**2 + l1 * c2 * sp.cos(q2)) + I2
    m11 = m1 * c1**2 + m2 * (l1**2 + c2**2 + 2 * l1 * c2 * sp.cos(q2)) + I1 + I2
    M = sp.Matrix([[m11, m12], [m12, m2 * c2**2 + I2]])
    assert same(two_link.mass_matrix.symbolic()["M"], M)


def test_coriolis_and_gravity_of_the_textbook(two_link):
    h = -m2 * l1 * c2 * sp.sin(q2)
    C = sp.Matrix([[h * v2, h * (v1 + v2)], [-h * v1, 0]])
    G = sp.Matrix([m1 * c1 + m2 * l1, 0]) * g * sp.cos(q1) + m2 * c2 * g * sp.cos(q1 + q2) * sp.ones(2, 1)
    assert same(two_link.coriolis_matrix.symbolic()["C"], C)
    assert same(two_link.gravity_forces.symbolic()["g"], G)
    assert same(two_link.bias_forces.symbolic()["h"], C * sp.Matrix([v1, v2]) + G)


def test_gravity_is_the_gradient_of_the_potential_energy(two_link):
    V = two_link.potential_energy.symbolic()["V"]
    assert same(two_link.gravity_forces.symbolic()["g"], sp.Matrix([V.diff(q1), V.diff(q2)]))


def test_forward_dynamics_has_one_denominator(two_link):
    qdd = two_link.forward_dynamics.symbolic()["qdd"]
    M = two_link.mass_matrix.symbolic()["M"]
    below = [sp.fraction(x)[1] for x in qdd]
    assert below[0] == below[1]
    assert sp.simplify(below[0] - M.det()) == 0


def test_standard_tables_too():
    """Centres are measured from the far end there, so that l_c = l + c."""
    model = lw.compile(lw.load("rr")).mass_matrix.symbolic()
    l2, lc1, lc2 = sp.symbols("l_2 lc_1 lc_2")
    M22 = sp.expand(model["M"][1, 1].subs(c2, lc2 - l2))
    assert sp.simplify(M22 - (m2 * lc2**2 + I2)) == 0
    M11 = model["M"][0, 0].subs({c1: lc1 - l1, c2: lc2 - l2})
    assert sp.simplify(M11 - (m1 * lc1**2 + m2 * (l1**2 + lc2**2 + 2 * l1 * lc2 * sp.cos(q2)) + I1 + I2)) == 0


def test_formulas_are_as_short_as_those_of_the_textbook(two_link):
    assert two_link.mass_matrix.symbolic().latex().splitlines() == [
        r"\begin{aligned}",
        r"M_{11} &= I_{1} + I_{2} + m_{1} c_{1}^{2} + m_{2} \left(c_{2}^{2} + 2 l_{1} c_{2} \cos q_{2}"
        r" + l_{1}^{2}\right) \\",
        r"M_{12} = M_{21} &= I_{2} + m_{2} c_{2} \left(c_{2} + l_{1} \cos q_{2}\right) \\",
        r"M_{22} &= I_{2} + m_{2} c_{2}^{2}",
        r"\end{aligned}",
    ]
    assert two_link.coriolis_matrix.symbolic()._repr_latex_() == (
        r"$\displaystyle C(q, \dot{q}) = \begin{bmatrix}- m_{2} l_{1} c_{2} \dot{q}_{2} \sin q_{2} & - m_{2} l_{1}"
        r" c_{2} \sin q_{2} \left(\dot{q}_{1} + \dot{q}_{2}\right)\\m_{2} l_{1} c_{2} \dot{q}_{1} \sin q_{2} & 0"
        r"\end{bmatrix}$"
    )
    T = lw.compile(lw.modified_dh(PLANAR, gravity=DOWN)).poses.symbolic()["T"]
    assert str(T[2][0, 0]) == "cos(q_1 + q_2 + q_3)"


def test_symbols_have_meanings_and_values(two_link):
    model = two_link.gravity_forces.symbolic()
    assert model.meanings["l_1"] == "fore.xyz.x"
    assert model.meanings["g"] == "-gravity.y"
    assert model.values == {m1: 1.5, m2: 2.0, c1: 0.25, c2: 0.2, l1: 0.4, g: 9.81}
    found = model["g"].subs(model.values).subs({q1: 0.3, q2: -0.7})
    assert np.allclose(np.array(found, float)[:, 0], two_link.gravity_forces([0.3, -0.7]), rtol=1e-14)


def test_some_numbers_stay(two_link):
    assert [str(x) for x in two_link.mass_matrix.symbolic("mass").arguments] == ["q_1", "q_2", "m_1", "m_2"]
    some = two_link.mass_matrix.symbolic(("fore.mass", "upper.com.y"))
    assert [str(x) for x in some.arguments] == ["q_1", "q_2", "m_2", "c_y1"]
    none = two_link.mass_matrix.symbolic(False)
    assert none.text() == (
        "M[1, 1] = 0.32*cos(q_2) + 0.79375\nM[1, 2] = 0.16*cos(q_2) + 0.28\n"
        "M[2, 1] = 0.16*cos(q_2) + 0.28\nM[2, 2] = 0.28\n"
    )
    asked = lw.compile(two_link.robot, lw.mass_matrix, parameters=("fore.mass",)).symbolic(False)
    assert [str(x) for x in asked.arguments] == ["q_1", "q_2", "m_2"]


def test_names_of_the_robot(two_link):
    model = two_link.gravity_forces.symbolic(names=True)
    names = "q_upper q_fore m_upper m_fore c_upper c_fore l_upper g"
    assert " ".join(map(str, model.arguments)) == names
    assert r"m_{\mathrm{upper}} g c_{\mathrm{upper}} \cos q_{\mathrm{upper}}" in model.latex()


def test_hostile_names_reach_no_formula():
    rows = [
        {**PLANAR[0], "name": r"a}\input{x}_$%&"},
        {**PLANAR[1], "name": "a\nimport os"},
        {**PLANAR[2], "name": "é"},
    ]
    for names in (True, False):
        model = lw.compile(lw.modified_dh(rows, gravity=DOWN)).gravity_forces.symbolic(names=names)
        assert all(str(x).isascii() and str(x).isidentifier() for x in model.arguments)
        assert len(set(model.arguments)) == len(model.arguments)
        commands = set(re.findall(r"\\[A-Za-z]+", model.latex()))
        assert commands <= {r"\begin", r"\end", r"\cos", r"\left", r"\right", r"\mathrm"}
        assert not set(model.latex()) & set("$%#~^") - {"^"}
        assert all(re.match(r"#|[\w]+ = [\w .*+()-]+$", line) for line in model.listing().split("\n") if line)


def random_values(kernel, rng):
    return {name: rng.normal(size=shape) for name, shape in kernel.inputs.items()}


def witness(kernel, symbols, rng, **options):
    """The largest difference of formulas, evaluated by SymPy, from the kernel, relative to its largest result."""
    model = kernel.symbolic(symbols, **options)
    given = random_values(kernel, rng)
    flat = [x for values in given.values() for x in np.ravel(values)]
    results = kernel(*given.values())
    results = results if isinstance(results, tuple) else (results,)
    worst = 0.0
    for value, expected in zip(model.expressions.values(), results, strict=True):
        value = list(value) if isinstance(value, tuple) else value
        found = np.array(sp.lambdify(model.arguments, value, cse=True)(*flat, *model.values.values()), float)
        worst = max(worst, np.abs(found.reshape(np.shape(expected)) - expected).max() / (np.abs(expected).max() or 1.0))
    return worst


def polar():
    """A turn and a slide, with friction, rotors, gears and a spring."""
    turn = lw.Joint(
        "turn", "base", "column", origin=lw.Pose.of((0.1, 0.0, 0.4)), friction=lw.Friction(0.3, 0.2), armature=0.02
    )
    motor = lw.Motor(rotor=1e-4, mass=0.3, com=(0.0, 0.1, 0.0), inertia=(1e-3, 1e-3, 1e-3))
    slide = lw.Joint(
        "slide", "column", "rod", "prismatic", lw.Pose.of((0, 0, 0.2), rpy=(np.pi / 2, 0, np.pi / 4)), (0, 0, 1),
        friction=lw.Friction(2.0, 1.0, law="tanh", width=0.1), spring=lw.Spring(30.0, 0.1, 0.2),
        drive=lw.Drive(gear=50.0, motor=motor),
    )  # fmt: skip
    links = [lw.Link("base"), lw.Link("column", 4.0, (0, 0, 0.1), (0.1, 0.2, 0.3)),
             lw.Link("rod", 1.0, (0.0, 0.05, 0.3), (0.02, 0.001, 0.0, 0.03, 0.002, 0.004))]  # fmt: skip
    return lw.Robot(links, [turn, slide], [lw.Frame("tip", "rod", lw.Pose.of((0, 0, 0.5)))], name="polar")


ROBOTS = {
    "pendulum": lambda: lw.modified_dh([{**PLANAR[0], "alpha": np.pi / 2}]),
    "polar": polar,
    "planar 3R": lambda: lw.modified_dh(PLANAR, gravity=DOWN),
    "scara": lambda: lw.load("scara"),
    "tree": lambda: lw.random_tree(3, 4),
}
KERNELS = ("mass_matrix", "coriolis_matrix", "gravity_forces", "bias_forces", "inverse_dynamics", "kinetic_energy",
           "joint_wrenches", "poses")  # fmt: skip


@pytest.mark.parametrize("name", ROBOTS)
def test_formulas_are_what_kernels_compute(name):
    """Rounding of sums of some hundred terms."""
    rng, dyn = np.random.default_rng(1), lw.compile(ROBOTS[name]())
    some = "mass" if name == "tree" else True  # its axes are at any angle
    for key in KERNELS if name == "polar" else ("mass_matrix", "bias_forces"):
        assert witness(getattr(dyn, key), some, rng) < 2e-14, key
    assert witness(dyn.bias_forces, False, rng) < 2e-14
    assert witness(dyn.bias_forces, some, rng, simplify=False) < 2e-14


def test_frames_have_formulas():
    robot, rng = polar(), np.random.default_rng(2)
    for algorithm in (lw.jacobian, lw.pose):
        kernel = lw.compile(robot, algorithm, frame="tip")
        assert witness(kernel, True, rng) < 1e-15
    lengths = {"l_x0": "turn.xyz.x", "l_z0": "turn.xyz.z", "l_1": "slide.xyz.z", "l_2": "tip.xyz.z"}
    assert kernel.symbolic().meanings == lengths


def test_stanford_arm_in_numbers():
    dyn, rng = lw.compile(lw.load("stanford")), np.random.default_rng(3)
    assert witness(dyn.mass_matrix, False, rng) < 1e-14
    assert witness(dyn.inverse_dynamics, False, rng) < 1e-14
    assert witness(dyn.gravity_forces, True, rng) < 1e-14


def test_floating_bases_and_loops():
    rng = np.random.default_rng(4)
    free = lw.load("rr", base="floating")
    assert witness(lw.compile(free).gravity_forces, True, rng) < 1e-13
    five = lw.compile(lw.load("fivebar"))
    with pytest.raises(lw.InputError, match="loops that Newton's method closes"):
        five.inverse_dynamics.symbolic()
    assert witness(five.drive_jacobian, "mass", rng) < 1e-12


def test_listings_have_symbols(two_link):
    listing = two_link.mass_matrix.symbolic().listing()
    assert "# m_2 = 2.0, fore.mass\n" in listing
    body = listing.partition("\n\n")[2]
    space = {"cos": np.cos, "sin": np.sin, "q1": 0.2, "q2": 0.4}
    space |= {str(k): v for k, v in two_link.mass_matrix.symbolic().values.items()}
    exec(body, space)
    M = two_link.mass_matrix([0.2, 0.4])
    assert np.allclose([space["M1"], space["M2"], space["M3"], space["M4"]], M.ravel(), rtol=1e-15)


def test_large_formulas_are_refused_in_words():
    kernel = lw.compile(lw.load("stanford")).forward_dynamics
    with pytest.raises(lw.InputError, match=r"formulas of at most 100,000 operations.*Use listing\(\)"):
        kernel.symbolic()["qdd"]
    assert "qdd6" in kernel.symbolic().listing()


def test_wrong_words_are_answered(two_link):
    kernel = two_link.mass_matrix
    with pytest.raises(lw.UnknownNameError, match=r"unknown quantity in symbols 'masses'.*Did you mean 'mass'"):
        kernel.symbolic("masses")
    with pytest.raises(lw.UnknownNameError, match=r"unknown link in parameter 'forearm.mass'"):
        kernel.symbolic(["forearm.mass"])
    with pytest.raises(lw.InputError, match="symbols: expected True, False or names such as 'mass'"):
        kernel.symbolic([3])
    with pytest.raises(lw.InputError, match=r"symbols 'fore.rotation': expected a quantity among mass"):
        kernel.symbolic("fore.rotation")
    with pytest.raises(lw.UnknownNameError, match="unknown output 'm'"):
        kernel.symbolic()["m"]


def test_without_sympy_the_remedy_is_named(two_link, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "sympy", None)
    model = two_link.mass_matrix.symbolic()
    assert "m_1" in model.listing()
    with pytest.raises(lw.InputError, match=r'pip install "linkwise\[symbolic\]"\.'):
        model.latex()


def test_models_can_be_sent(two_link):
    model = pickle.loads(pickle.dumps(two_link.mass_matrix.symbolic("mass")))
    assert model["M"] == two_link.mass_matrix.symbolic("mass")["M"]
    assert repr(model) == "<Symbolic mass_matrix of the robot 'two links': M[2, 2] of q_1, q_2, m_1, m_2>"
