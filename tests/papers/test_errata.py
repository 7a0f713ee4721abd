"""The errata: the right equations agree with Linkwise and with independent numbers, the printed ones err as known."""

import time

import numpy as np
import pytest

from linkwise.dh import DHRow, KhalilRow
from linkwise.errors import UnknownNameError
from linkwise.formats.dh_rows import Row
from linkwise.vector import Mat3, Vec3
from papers.errata import KINDS, Erratum, barman, errata, guarino, hua, khalil, khalil_loops, nasser, summary
from papers.errata.draw import Draw
from papers.errata.study import Study, chosen, relative, same, zero
from papers.errata.tables import barman as barman_table
from papers.errata.tables import guarino as guarino_table
from papers.errata.tables import hua as hua_table
from papers.errata.tables import khalil_loops as loops
from papers.errata.tables import khalil_trees as trees
from papers.errata.tables import nasser as nasser_table
from support.sources import KINDS as JOINTS
from support.sources import case

EXACT = 1e-13  # a few hundred operations in double precision, on well conditioned robots
GRAVITY = np.array([0.0, 0.0, -9.81])


@pytest.fixture(scope="module")
def entries():
    return errata()


# ---- the right equations

STUDIES = [
    (guarino_table.study, ("tau", "tau_dot")),
    (barman_table.study, ("tau", "dtau_dq", "dtau_dqd", "dtau_dqdd", "F_p", "dxd_dqd")),
    (hua_table.fixed, ("tau", "A", "zeta", "qdd")),
    (hua_table.moving, ("tau", "A", "zeta", "qdd")),
    (trees.fixed, ("Gamma", "qdd", "qdd by A and H")),
    (trees.serial, ("position", "Gamma", "qdd", "qdd by A and H")),
    (trees.elastic, ("qdd", "Gamma")),
    (trees.free, ("Gamma", "V_dot_0 of the inverse", "H_1 + A_12 qdd", "qdd", "V_dot_0")),
    (trees.free_serial, ("Gamma", "V_dot_0 of the inverse", "H_1 + A_12 qdd", "qdd", "V_dot_0")),
    (loops.linkages, ("Gamma", "qdd")),
    (loops.five_bars, ("Gamma", "qdd")),
    (loops.uneven_five_bars, ("Gamma", "qdd")),
    (loops.platforms, ("Gamma",)),
    (nasser_table.serial, ("qdd",)),
    (nasser_table.branched, ("qdd",)),
]


@pytest.mark.parametrize(("study", "quantities"), STUDIES, ids=lambda x: getattr(x, "__module__", "")[-16:])
def test_right_equations_agree_with_linkwise(study, quantities):
    error = study().error
    for quantity in quantities:
        assert error(quantity) < EXACT, quantity


def dh_rows(c, geometry, com, inertia, armature=None):
    """Rows of a case, given where it keeps coms and tensors."""
    columns = geometry, c["sigma"], c["m"], c[com], c[inertia], armature or [0.0] * len(c["m"])
    return [
        DHRow(*x, JOINTS[int(sigma)], mass=m, com=r, inertia=I, armature=Ja)
        for x, sigma, m, r, I, Ja in zip(*columns, strict=True)
    ]


def test_guarino_gives_the_rates_of_the_stanford_arm():
    c = case("002_stanford")
    rows = dh_rows(c, zip(c["theta"], c["d"], c["a"], c["alpha"], strict=True), "com", "Idiag")
    for state in c["states"]:
        tau, tau_dot = guarino.force_rates(rows, *(state[k] for k in ("q", "qd", "qdd", "qddd")), Vec3(*GRAVITY))
        assert relative(tau, state["tau"]) < EXACT
        np.testing.assert_allclose(tau_dot, state["taudot"], rtol=0, atol=1e-13)


@pytest.mark.parametrize("name", ["001_RR_table4.1", "001_RR_vertical_payload", "001_PR_table4.3"])
def test_barman_gives_the_sensitivities_of_two_links(name):
    c = case(name)
    rows = dh_rows(c, zip(c["theta"], c["d"], c["a"], c["alpha"], strict=True), "com_in_frame_j_from_Oj", "I_com")
    loads = [barman.Load(w["k"] - 1, *(Vec3(*w[x]) for x in ("r", "F", "N"))) for w in c["ext"]]
    found = barman.inverse_dynamics(rows, c["q"], c["qd"], c["qdd"], Vec3(*c["g"]), loads)
    for quantity in ("tau", "dtau_dq", "dtau_dqd", "dtau_dqdd"):
        np.testing.assert_allclose(getattr(found, quantity), c[quantity], rtol=0, atol=1e-14)
    assert relative(found.F_p, c["Fp"]) < EXACT


def khalil_rows(robot):
    keys = ("ant", "sigma", "geo_gamma_b_alpha_d_theta_r", "M", "com", "I_com", "Ia")
    return [
        KhalilRow(a, s, *geometry, mass=m, com=x, inertia=I, armature=Ia)
        for a, s, geometry, m, x, I, Ia in zip(*(robot[key] for key in keys), strict=True)
    ]


def test_khalil_gives_the_elastic_accelerations():
    c = case("003_elastic_inverse")
    x = khalil.State(c["q"], c["qd"], np.zeros((8, 6)), GRAVITY)
    spring = [-K * d for K, d in zip(c["K"], c["Delta_q"], strict=True)]
    given = np.where(c["elastic"], spring, c["qdd_rigid_given"])
    found = khalil.hybrid(khalil_rows(c["robot"]), x, given, c["elastic"])
    assert relative(found.qdd, c["qdd"]) < EXACT
    assert relative(found.Gamma, c["Gamma"]) < EXACT


def test_khalil_gives_the_motion_of_a_free_base():
    c = case("003_moving_base")
    rows, body = khalil_rows(c["robot"]), c["base"]
    base = Row(mass=body["M"], com=np.array(body["MS"]) / body["M"], inertia=body["I_com"])
    x = khalil.State(c["q"], c["qd"], np.zeros((8, 6)), GRAVITY @ c["R"], np.array(c["w0_base_axes"]))
    found, _ = khalil.free_base_inverse(rows, x, c["id"]["qdd"], base)
    assert relative(found.V_dot_0, c["id"]["V0dot_classical_base_axes"]) < EXACT
    assert relative(found.Gamma, c["id"]["Gamma"]) < EXACT
    found = khalil.hybrid(rows, x, c["Gamma"], [True] * 8, base)
    assert relative(found.V_dot_0, c["fd"]["V0dot_classical_base_axes"]) < EXACT
    assert relative(found.qdd, c["fd"]["qdd"]) < EXACT


def test_khalil_gives_the_force_of_a_four_bar():
    c = case("003_fourbar")
    lengths = c["lengths_l0_l1_l2_l3"][1:]
    loop = khalil_loops.Mechanism(khalil_rows(c["robot"]), ((0, 1), (2,)), lengths, [0])
    q, qd, qdd = (np.array(c[k]) for k in ("q", "qd", "qdd"))
    np.testing.assert_allclose(loop.dependent(q, qd[:1], qdd[:1])[:2], [qd, qdd], rtol=0, atol=1e-12)
    Gamma = khalil_loops.loop_inverse(loop, q, qd[:1], qdd[:1], np.array(c["g"]))
    assert relative(Gamma, c["Gamma_c"]) < 1e-12
    assert relative(khalil_loops.loop_direct(loop, q, qd[:1], Gamma, np.array(c["g"])), qdd[:1]) < 1e-12


def test_khalil_gives_the_forces_of_a_gough_stewart_platform():
    c = case("003_gough_stewart")
    R, body = np.array(c["R"]), c["platform"]
    points = np.array(c["platform_points_platform_frame"]) @ R.T
    bases = zip(c["leg_base_rotation_world"], c["leg_q"], points, strict=True)
    legs = [khalil_loops.Leg(khalil_rows(c["leg"]), np.array(turn), np.array(q), P) for turn, q, P in bases]
    platform = khalil_loops.Platform(
        Row(mass=body["M"], com=body["com"], inertia=body["I_com"]), R, np.array([*c["v"], *c["w_world"]]),
        np.array([*c["vd"], *c["wd_world"]]), legs, GRAVITY,
    )  # fmt: skip
    assert relative(khalil_loops.platform_inverse(platform), c["forces"]) < 1e-12


def test_nasser_gives_the_accelerations_of_six_joints():
    c = case("004_serial_RRPRRR")
    rows = dh_rows(c, c["geom_theta_s_a_phi"], "com_frame_i_from_Oi", "I_com", c["Ja"])
    tree = nasser.Tree(rows, range(-1, 5), [(np.eye(3), np.zeros(3))] * 6)
    x = nasser.State(c["q"], c["qd"], c["tau"], np.zeros((6, 3)), np.zeros((6, 3)), GRAVITY)
    assert relative(nasser.forward_dynamics(tree, x), c["qdd"]) < EXACT


def test_hua_gives_the_accelerations_of_the_mixed_arm():
    c = case("000_arm3_table1")
    columns = zip(*(c[k] for k in ("Rfix", "r_oi_oi1", "r_oi_ci", "m", "Ibar")), strict=True)
    bodies = [hua.Body(Mat3.of(R), Vec3(*r), Vec3(*x), m, Mat3.of(I)) for R, r, x, m, I in columns]
    motors = [
        hua.Motor(m["link"] - 1, Vec3(*m["z"]), m["eta"], m["Iz"], K or None)
        for m, K in zip(c["motors"], c["K"], strict=True)
    ]
    arm, x, xd = hua.Arm(bodies, motors), [*c["q"], *c["theta"]], [*c["qd"], *c["thetad"]]
    A, zeta = hua.coefficients(arm, x, xd, hua.World(gravity=Vec3(*GRAVITY)))
    np.testing.assert_allclose(A, c["A"], rtol=0, atol=1e-14)
    assert relative(zeta, c["zeta"]) < EXACT
    loads = tuple(Vec3(*c[k]) for k in ("f_e_on_effector_frameN1", "tau_e_on_effector_frameN1"))
    for load, key in ((hua.World().load, "acc"), (loads, "acc_with_load")):
        found = hua.forward_dynamics(arm, x, xd, c["tau_m"], hua.World(load, Vec3(*GRAVITY)))
        assert relative(found, c[key]) < EXACT


# ---- the printed ones


def worst(error):
    """The range where only the worst case is known."""
    return 0.4 * error, error


# what other random robots gave, by an independent implementation: least and largest error
KNOWN = {
    ("Hua", "(18)-(20), (26), Algorithm 1"): (0.4, 3.1),
    ("Hua", "(21)"): (0.005, 0.03),
    ("Hua", "Algorithm 1"): (0.4, 1.5),
    ("Barman", "3.13"): worst(2.1),
    ("Barman", "3.18"): worst(0.61),
    ("Barman", "3.40"): worst(1.1),
    ("Barman", "3.51"): worst(0.59),
    ("Barman", "3.52"): worst(0.17),
    ("Barman", "3.56"): worst(0.065),
    ("Barman", "3.58"): worst(0.17),
    ("Barman", "3.61"): worst(0.23),
    ("Barman", "3.67, 3.68"): worst(2.3),
    ("Barman", "3.76"): worst(1.1),
    ("Barman", "3.72-3.91, order"): worst(2.9),
    ("Barman", "3.79, 3.87, 3.91"): worst(1.0),
    ("Barman", "3.83"): worst(0.51),
    ("Barman", "3.85"): worst(0.75),
    ("GuarinoLoBianco", "(5), (26), (28)"): (0.9, 2.3),
    ("GuarinoLoBianco", "(8)"): (0.4, 0.5),
    ("GuarinoLoBianco", "line before (8)"): (0.75, 1.2),
    ("GuarinoLoBianco", "(17)"): (1.35, 5.0),
    ("Khalil", "(8)"): (2.0, 2.0),
    ("Khalil", "(15), (101)"): (1.3e-2, 5e-2),
    ("Khalil", "(41), (42), (43), (45), (46), (48), (52)"): (0.96, 1.6),
    ("Khalil", "(57)"): (3.8e-2, 3.8e-2),
    ("Khalil", "(72)"): (0.1, 0.56),
    ("Khalil", "(79), (80), (81)"): (0.84, 1.8),
    ("Khalil", "(90), (97), (102), (109)"): (0.72, 0.90),
    ("Khalil", "(96)"): (1.6, 2.2),
    ("Khalil", "text after (97)"): (2.0, 2.0),
    ("Khalil", "(105), (108)"): (0.11, 0.33),
    ("Nasser", "(2.1.3), (2.2.4)"): (0.14, 1.2),
    ("Nasser", "(2.1.13.2)"): (0.05, 0.16),
    ("Nasser", "gamma, gamma_i+1"): (0.07, 0.37),
}


@pytest.mark.parametrize(("source", "equation"), KNOWN)
def test_printed_forms_err_as_known(entries, source, equation):
    (entry,) = [e for e in entries if (e.source, e.equation) == (source, equation)]
    least, largest = KNOWN[source, equation]
    assert least / 4.0 < entry.error < largest * 4.0


def test_a_printed_spring_of_the_gear_is_absurd(entries):
    (entry,) = [e for e in entries if e.equation == "Algorithm 2, spring"]
    assert entry.error > 1e3


@pytest.mark.parametrize(
    ("forms", "studies"),
    [
        (guarino.FORMS, [guarino_table.study]),
        (barman.FORMS, [barman_table.study]),
        (hua.FORMS, [hua_table.fixed, hua_table.moving]),
        (khalil.FORMS, [trees.fixed, trees.serial, trees.elastic, trees.free]),
        (khalil_loops.FORMS, [loops.five_bars, loops.platforms]),
        (nasser.FORMS, [nasser_table.serial, nasser_table.branched]),
    ],
    ids=["guarino", "barman", "hua", "khalil", "khalil_loops", "nasser"],
)
def test_each_printed_form_changes_something(forms, studies):
    quantities = dict(STUDIES)
    made = [(build().error, quantities[build]) for build in studies]
    for label in forms:
        assert any(_or_inf(error, q, label) > 1e-6 for error, names in made for q in names), label


def _or_inf(error, quantity, label):
    """A printed form may leave nothing to solve."""
    try:
        return error(quantity, label)
    except (np.linalg.LinAlgError, ValueError):
        return float("inf")


# ---- the list


def test_every_entry_is_there(entries):
    sources = [e.source for e in entries]
    assert list(dict.fromkeys(sources)) == ["Hua", "Barman", "GuarinoLoBianco", "Khalil", "Nasser"]
    assert [sources.count(s) for s in dict.fromkeys(sources)] == [18, 25, 13, 39, 19]
    assert len({(e.source, e.equation) for e in entries}) == len(entries)


def test_entries_are_short_and_complete(entries):
    for e in entries:
        assert set(e.kinds) <= KINDS.keys()
        assert all((e.printed, e.right, e.note)), e
        assert max(len(e.printed), len(e.right), len(e.note)) <= 120, e
        assert all(x.isascii() for x in (e.equation, e.printed, e.right, e.note)), e


def test_errors_have_the_size_of_their_kind(entries):
    for e in entries:
        if e.error is None:
            assert e.kind != "OK", e
        elif e.kind == "OK":
            assert e.error < EXACT, e
        else:
            assert 1e-6 < e.error < np.inf, e


def test_errata_are_found_quickly_and_repeatably(entries):
    start = time.process_time()
    again = errata()
    assert time.process_time() - start < 10.0
    assert again == entries


def test_summary_counts(entries):
    lines = summary(entries).splitlines()
    assert len(lines) == 6
    assert lines[2] == "GuarinoLoBianco: 13 entries (7 O, 1 O/M, 2 A, 2 X, 1 OK), 7 evaluated"
    assert lines[5].startswith("M misprint; O damage by OCR")
    assert summary([Erratum("Hua", "(1)", "M", "a", "b", None)]).startswith("Hua: 1 entries (1 M), 0 evaluated")


# ---- the tools


def test_unknown_labels_are_answered():
    with pytest.raises(UnknownNameError, match=r"unknown equation '\(6\)'.*Valid names: '\(5\)'"):
        chosen({"(5)": (same, zero)}, frozenset({"(6)"}))


def test_a_study_takes_the_worst_case():
    study = Study([1.0, 2.0], lambda x, quantity, printed: [x + len(printed), 4.0], lambda x: {"y": [x, 4.0]})
    assert study.error("y") == 0.0
    assert study.error("y", "a") == 0.25


def test_drawn_tensors_are_those_of_rigid_bodies():
    for seed in range(20):
        I = np.linalg.eigvalsh(np.array(Draw(seed).tensor(2.0)))
        assert 0.0 < I[2] < I[0] + I[1]
