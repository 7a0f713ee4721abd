"""Errata of Khalil."""

from __future__ import annotations

from functools import partial

from papers.errata.erratum import Erratum
from papers.errata.tables import khalil_loops as loops
from papers.errata.tables import khalil_trees as trees

E = partial(Erratum, "Khalil")
NAME_ONLY = "a name or an index, no other value"


def table() -> list[Erratum]:
    """The errata, in the order of the paper."""
    return [*_rigid(), *_closed(), *_elastic(), *_free_base()]


def _rigid() -> list[Erratum]:
    """Sections 2 and 3."""
    tree, serial = trees.fixed().error, trees.serial().error
    return [
        E("(1)", "O", "last element 0", "1", serial("position", "(1)"), "position of the last link"),
        E("section 2.2", "M", "i and j < n", "<= n", None, NAME_ONLY),
        E("(8)", "M", "- A^-1 (Gamma - H)", "+, as in section 3.3", tree("qdd by A and H", "(8)"), "qdd"),
        E("(11)", "O", "- MS, MS", "- hat(MS), hat(MS)", None, "a vector is no block of a matrix"),
        E(
            "(15), (101)", "M/O", "omega of link i in frame i, in the lower block", "in frame j, as in (34)",
            tree("qdd", "(15)"), "qdd",
        ),
        E("(16)", "O", "7 entries", "[0 0 sigma 0 0 1-sigma]", None, "does not fit a 6-vector"),
        E("(18)", "M/O", "omega_j in frame j = R omega_i", "omega_i in frame j", None, "evaluated together with (19)"),
        E(
            "(19)", "M/O", "omega_j_dot = omega_j + (1-sigma) qd a", "omega_j = omega_i + (1-sigma) qd a",
            tree("Gamma", "(19)"), "Gamma with (18) and (19): no link gets the rate of its joint",
        ),
        E("(20)-(31)", "OK", "in doubt", "as printed", tree("Gamma"), "Gamma"),
        E(
            "f_e", "OK", "action of the link on the environment", "as printed", tree("Gamma"),
            f"Gamma; with the other sign {tree('Gamma', 'f_e'):.2g}",
        ),
        E(
            "(26)-(30)", "A", "f_ei is overwritten", "an accumulator, from the tips inwards", None,
            "right, but on a copy of the given wrenches",
        ),
        E("(36), (38), (44)", "OK", "in doubt", "as printed", tree("qdd"), "qdd"),
        E("(39), (40)", "O", "{i}T_i", "{j}T_i", tree("qdd", "(39)"), "qdd, with {i}T_i as the identity"),
        E(
            "(41), (42), (43), (45), (46), (48), (52)", "M/O", "T^T V_i_dot; in (41) gamma_i", "T V_i_dot; gamma_j",
            max(tree("qdd", "(41)"), serial("qdd", "(41)")), "qdd, with the transpose only",
        ),
        E("(51)", "M", "+ T^T f_n", "- T^T f_n, as in (32)", None, "only the derivation; (53), (54) are right"),
        E("(52)", "O", "f*_n-1", "f_n-1", None, NAME_ONLY),
        E("(53), (54)", "O", "{n-1}T_n-1", "{n}T_n-1", None, "only the derivation; see (39), (40)"),
        E("end of 3.3.2", "M", "(41) and (43)", "(41) and (42)", None, NAME_ONLY),
    ]  # fmt: skip


def _closed() -> list[Erratum]:
    """Sections 4 and 5."""
    linkage, five_bar, platform = loops.linkages().error, loops.five_bars().error, loops.platforms().error
    uneven = loops.uneven_five_bars().error("Gamma", "(57)")
    return [
        E(
            "(55), (56), (58)", "OK", "in doubt", "as printed", max(linkage("Gamma"), linkage("qdd")),
            "Gamma and qdd of a four-bar and a five-bar linkage",
        ),
        E(
            "(57)", "M", "Gamma_a + (dqd_p/dqd_a) Gamma_p", "the transposed matrix", five_bar("Gamma", "(57)"),
            f"Gamma of symmetric five-bar linkages; of others {uneven:.2g}; does not even fit a four-bar",
        ),
        E(
            "(59)-(66)", "OK", "in doubt", "as printed", platform("Gamma"),
            f"Gamma of a Gough-Stewart platform; with massless legs {platform('Gamma', 'platform alone'):.2g}",
        ),
        E("(62)", "M", "J_r", "J_p", None, NAME_ONLY),
        E(
            "(59), F_p", "A", "total forces on the platform by (9)",
            "(9) with the acceleration less gravity, and the load", platform("Gamma", "(59)"),
            "Gamma of a Gough-Stewart platform without gravity in F_p",
        ),
    ]  # fmt: skip


def _elastic() -> list[Erratum]:
    """Section 6."""
    error = trees.elastic().error
    return [
        E(
            "(72)", "A", "no Ia", "add Ia where the elastic joint carries a rotor", error("qdd", "(72)"),
            "qdd of elastic joints with rotors; right for a spring alone",
        ),
        E(
            "(74)-(78)", "OK", "in doubt", "as printed", max(error("qdd"), error("Gamma")),
            "qdd of elastic, Gamma of rigid joints",
        ),
        E(
            "(79), (80), (81)", "M/O", "T^T V_i_dot", "T V_i_dot", max(error("qdd", "(41)"), error("Gamma", "(41)")),
            "qdd of elastic or Gamma of rigid joints",
        ),
        E(
            "(81)", "A", "only for elastic joints", "for rigid ones too", None,
            "links beyond a rigid joint would have no acceleration",
        ),
        E(
            "(82)", "A", "no friction", "add it as in (31)", error("Gamma", "(82)"),
            "Gamma of rigid joints with friction",
        ),
    ]  # fmt: skip


def _free_base() -> list[Erratum]:
    """Section 7."""
    tree, serial = trees.free().error, trees.free_serial().error
    return [
        E("7.1, second method", "M", "sigma_2 = 2", "sigma_1 = 2", None, NAME_ONLY),
        E(
            "(90), (97), (102), (109)", "A/X", "gravity appears nowhere, nor the base's own beta_0",
            "beta_0 belongs in; V_0_dot is the acceleration less g",
            max(tree("V_dot_0", "(97)"), tree("V_dot_0 of the inverse", "(97)")), "V_0_dot, if g is not added",
        ),
        E("(92)", "O", "s(k) and s(j) mixed", "s(j)", None, NAME_ONLY),
        E(
            "(95), start", "A", "J^c and beta^c set for n only", "for every link", None,
            "the others have no value to start from",
        ),
        E(
            "(96)", "M", "beta - sum T^T beta_k + T^T J_k zeta_k", "beta + sum T^T (beta_k - J_k zeta_k)",
            tree("V_dot_0 of the inverse", "(96)"), f"V_0_dot; Gamma {tree('Gamma', '(96)'):.2g}",
        ),
        E(
            "text after (97)", "M", "(68); beta^c_0 = H_1 + A_12 qdd", "(86); beta^c_0 = -(H_1 + A_12 qdd)",
            tree("H_1 + A_12 qdd", "after (97)"), "H_1 + A_12 qdd read from beta^c_0",
        ),
        E("(98)", "O", "{j}T_j", "{j}T_i", tree("Gamma", "(98)"), "Gamma, with {j}T_j as the identity"),
        E("before (98)", "M", "equations (6) and (22)", "(14) and (94)", None, NAME_ONLY),
        E(
            "(105), (108)", "M", "J*_i = J_i + ..., beta*_i = beta_i - ...",
            "J*_i = J*_i + ..., beta*_i = beta*_i - ...", tree("qdd", "(105)"),
            f"qdd of trees, whose branches are lost; serial {serial('qdd', '(105)'):.0e}",
        ),
        E("(107)", "O", "a_j on the left", "alpha_j", None, NAME_ONLY),
        E(
            "(110), (112)", "M/O", "V_j-1_dot in frame i", "{j}T_i V_i_dot", serial("qdd", "(110)"),
            "qdd of a serial robot, {j}T_i left out",
        ),
    ]  # fmt: skip
