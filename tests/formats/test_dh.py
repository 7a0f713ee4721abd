"""Tables of geometric parameters: the sources' torques come out, and bad tables are answered by row."""

import math

import numpy as np
import pytest

from linkwise.algorithms.inverse_dynamics import inverse_dynamics
from linkwise.algorithms.kinematics import pose
from linkwise.dh import DHRow, KhalilRow, khalil, modified_dh, standard_dh
from linkwise.errors import ModelError
from linkwise.robot import Frame, Friction, Joint, Limits, Link, Robot
from linkwise.rotation import rot_x, rot_z
from linkwise.spatial import Pose
from linkwise.vector import Mat3, Vec3
from support.sources import case, in_order, planar, serial, stanford, tree

RIGHT = math.pi / 2
EIGHT = (0, 0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6)  # a row of Khalil's table


def close(a, b, relative=1e-12):
    """Equal, relative to the largest of b."""
    np.testing.assert_allclose(a, b, rtol=0, atol=relative * np.abs(b).max())


# ---- the sources' numbers


@pytest.mark.parametrize("k", range(3))
def test_modified_dh_gives_the_torques_of_the_stanford_arm(k):
    state = case("002_stanford")["states"][k]
    close(inverse_dynamics.plain(stanford(), state["q"], state["qd"], state["qdd"]), state["tau"])


@pytest.mark.parametrize("name", ["001_RR_table4.1", "001_PR_table4.3"])
def test_standard_dh_gives_the_torques_of_two_links(name):
    c = case(name)
    close(inverse_dynamics.plain(planar(name), c["q"], c["qd"], c["qdd"]), c["tau"])


def test_standard_dh_with_a_payload():
    c = case("001_RR_vertical_payload")
    (load,) = c["ext"]
    robot = planar("001_RR_vertical_payload").add(Frame("grip", f"link{load['k']}", Pose(p=Vec3(*load["r"]))))
    R = np.array(pose.plain(robot, c["q"], frame="grip")).reshape(4, 4)[:3, :3]
    on_robot = -np.concatenate([R.T @ load["F"], R.T @ load["N"]])
    tau = inverse_dynamics.plain(robot, c["q"], c["qd"], c["qdd"], external={"grip": on_robot.tolist()})
    close(tau, c["tau"])


def test_standard_dh_with_rotor_inertia():
    c = case("004_serial_RRPRRR")
    close(inverse_dynamics.plain(serial(), c["q"], c["qd"], c["qdd"]), c["tau"])


def test_khalil_gives_the_torques_of_a_tree():
    c = case("003_elastic_inverse")
    robot = tree(c["robot"])
    assert robot.names == tuple(f"joint{k}" for k in (1, 2, 3, 8, 4, 5, 6, 7))
    q, qd, qdd, tau = (in_order(robot, c[key]) for key in ("q", "qd", "qdd", "Gamma"))
    close(inverse_dynamics.plain(robot, q, qd, qdd), tau)


def test_khalil_gives_the_torques_of_a_cut_four_bar():
    c = case("003_fourbar")
    robot = tree(c["robot"], c["g"])
    close(inverse_dynamics.plain(robot, c["q"], c["qd"], c["qdd"]), c["Gamma_tree"])


# ---- geometry


def dense(*factors):
    """Product of 4 by 4 matrices of ("x" or "z", angle, offset)."""
    T = np.eye(4)
    for axis, angle, offset in factors:
        F = np.eye(4)
        F[:3, :3] = [list(r) for r in (rot_x if axis == "x" else rot_z)(angle)]
        F["xyz".index(axis), 3] = offset
        T = T @ F
    return T


@pytest.mark.parametrize("kind", ["revolute", "prismatic"])
def test_the_variable_is_added_to_the_offset(kind):
    rng = np.random.default_rng(1)
    rows, q = rng.uniform(-1, 1, (4, 4)), rng.uniform(-1, 1, 4)
    standard = modified = np.eye(4)
    for (theta, d, a, alpha), x in zip(rows, q, strict=True):
        turn, slide = (theta + x, d) if kind == "revolute" else (theta, d + x)
        standard = standard @ dense(("z", turn, slide), ("x", alpha, a))
        modified = modified @ dense(("x", alpha, a), ("z", turn, slide))
    table = [(*row, kind) for row in rows]
    np.testing.assert_allclose(
        np.reshape(pose.plain(standard_dh(table), q, frame="link4"), (4, 4)), standard, atol=1e-14
    )
    np.testing.assert_allclose(
        np.reshape(pose.plain(modified_dh(table), q, frame="link4"), (4, 4)), modified, atol=1e-14
    )


def test_khalil_placement_with_every_joint():
    rng = np.random.default_rng(2)
    geometry, q = rng.uniform(-1, 1, (3, 6)), rng.uniform(-1, 1, 2)
    robot = khalil((k, sigma, *g) for k, sigma, g in zip((0, 1, 2), (0, 2, 1), geometry, strict=True))
    added = [(q[0], 0.0), (0.0, 0.0), (0.0, q[1])]
    T = np.eye(4)
    for (gamma, b, alpha, d, theta, r), (turn, slide) in zip(geometry, added, strict=True):
        T = T @ dense(("z", gamma, b), ("x", alpha, d), ("z", theta + turn, r + slide))
    assert robot.names == ("joint1", "joint3")
    np.testing.assert_allclose(np.reshape(pose.plain(robot, q, frame="link3"), (4, 4)), T, atol=1e-14)


def test_serial_khalil_is_modified_dh():
    theta, d, a, alpha = 0.3, 0.2, 0.1, -0.4
    one = modified_dh([DHRow(theta, d, a, alpha, mass=1.0, com=(0.1, 0, 0))])
    other = khalil([KhalilRow(0, 0, 0, 0, alpha, a, theta, d, mass=1.0, com=(0.1, 0, 0))])
    assert one == other


def test_standard_dh_joint_acts_about_the_previous_z():
    (joint,) = standard_dh([(0.3, 0.2, 0.1, 0.7)]).joints
    np.testing.assert_allclose(list(joint.axis), [0, math.sin(0.7), math.cos(0.7)], atol=1e-15)
    np.testing.assert_allclose(list(joint.origin.point(joint.anchor)), [0, 0, 0], atol=1e-15)


@pytest.mark.parametrize("quarter", [-3, -2, -1, 0, 1, 2, 3, 4])
def test_right_angles_are_exact(quarter):
    (joint,) = modified_dh([(quarter * RIGHT, 0, 0, -quarter * RIGHT)]).joints
    assert {abs(x) for row in joint.origin.R for x in row} == {0.0, 1.0}


# ---- rows


def test_rows_may_be_mappings_tuples_or_arrays():
    row = {"theta": 0.1, "d": 0.2, "a": 0.3, "alpha": 0.4}
    robot = standard_dh([row])
    assert robot == standard_dh([DHRow(**row)]) == standard_dh([(0.1, 0.2, 0.3, 0.4)])
    assert robot == standard_dh(np.array([[0.1, 0.2, 0.3, 0.4]]))
    assert khalil([EIGHT]) == khalil(np.array([EIGHT]))


def test_rows_carry_everything_of_joint_and_link():
    robot = standard_dh(
        [
            {
                "theta": 0, "d": 0, "a": 1, "alpha": 0, "kind": "prismatic", "name": "slide", "mass": 2,
                "com": (0, 0, 1), "inertia": (1, 2, 3), "armature": 0.5,
                "friction": {"viscous": 0.1, "coulomb": 0.2}, "limits": {"lower": -1, "upper": 1},
            }
        ],
        name="press", gravity=(0, 0, 0), frames=[Frame("tool", "slide")],
    )  # fmt: skip
    assert (robot.name, tuple(robot.gravity), robot.frame("tool").link) == ("press", (0, 0, 0), "slide")
    link, joint = robot.link("slide"), robot.joint("slide")
    assert (link.mass, tuple(link.com), link.inertia) == (2, (0, 0, 1), (1, 0, 0, 2, 0, 3))
    assert (joint.kind, joint.armature) == ("prismatic", 0.5)
    assert joint.friction == Friction(0.1, 0.2)
    assert joint.limits == Limits(-1, 1)


def test_default_names():
    robot = modified_dh([(0, 0, 0, 0), (0, 0, 0, 0)])
    assert [k.name for k in robot.links] == ["base", "link1", "link2"]
    assert robot.names == ("joint1", "joint2")


def by_links_and_joints(rows, parents, standard):
    """The same tree, each link on its parent's frame, by dense matrices."""
    links, joints = [Link("base")], []
    for row, parent in zip(rows, parents, strict=True):
        turn, tilt = dense(("z", row.theta, row.d)), dense(("x", row.alpha, row.a))
        X = turn @ tilt if standard else tilt @ turn
        axis, anchor = (0.0, 0.0, 1.0), (0.0, 0.0, 0.0)
        if standard:  # z and origin of the parent's frame, in the link's own
            axis, anchor = X[2, :3], -X[:3, :3].T @ X[:3, 3]
        links.append(Link(row.name, row.mass, row.com, row.inertia))
        origin = Pose(Mat3.of(X[:3, :3].tolist()), Vec3(*X[:3, 3].tolist()))
        joints.append(Joint(row.name, parent, row.name, row.kind, origin, axis, anchor))
    return Robot(links, joints)


@pytest.mark.parametrize("standard", [True, False])
def test_rows_with_antecedents_make_a_tree(standard):
    """A branch starts from the frame of the link that it hangs on, wherever the row stands."""
    rng = np.random.default_rng(5)
    ways = (None, None, "b", 2, "base", None, 0)
    parents = ("base", "a", "b", "b", "base", "e", "base")
    kinds = ("revolute", "prismatic") * 3 + ("revolute",)
    rows = [
        DHRow(*rng.uniform(-1, 1, 4), kind, name=name, antecedent=way, mass=rng.uniform(1, 2),
              com=rng.uniform(-1, 1, 3), inertia=rng.uniform(1, 1.5, 3))
        for kind, name, way in zip(kinds, "abcdefg", ways, strict=True)
    ]  # fmt: skip
    robot = (standard_dh if standard else modified_dh)(rows)
    other = by_links_and_joints(rows, parents, standard)
    assert robot.names == other.names
    assert [j.parent for j in robot.joints] == [j.parent for j in other.joints]
    q, qd, qdd = rng.uniform(-1, 1, (3, 7)).tolist()
    close(inverse_dynamics.plain(robot, q, qd, qdd), inverse_dynamics.plain(other, q, qd, qdd))
    for name in "abcdefg":
        close(pose.plain(robot, q, frame=name), pose.plain(other, q, frame=name))


def test_dh_rows_hang_on_the_row_before_unless_they_say():
    rows = [{"theta": 0.1 * k, "d": 0.2, "a": 0.3, "alpha": 0.4} for k in range(3)]
    said = [{**row, "antecedent": k} for k, row in enumerate(rows)]
    for build in (standard_dh, modified_dh):
        assert build(said) == build(rows)
        later = build([{**rows[0], "antecedent": 3}, {**rows[1], "antecedent": 0}, rows[2]])
        assert [(j.name, j.parent) for j in later.joints] == [
            ("joint2", "base"), ("joint3", "link2"), ("joint1", "link3"),
        ]  # fmt: skip


def test_antecedents_by_name_and_in_any_order():
    rows = [{**dict(zip(("gamma", "b", "alpha", "d", "theta", "r"), EIGHT[2:], strict=True)), "sigma": 0}] * 3
    by_name = khalil({**r, "name": n, "antecedent": a} for r, n, a in zip(rows, "abc", ("b", 0, "b"), strict=True))
    assert by_name.names == ("b", "a", "c")
    assert {j.name: j.parent for j in by_name.joints} == {"b": "base", "a": "b", "c": "b"}
    default = khalil([EIGHT, ("link1", *EIGHT[1:]), ("base", *EIGHT[1:])])
    assert [j.parent for j in default.joints] == ["base", "link1", "base"]


# ---- bad tables

GOOD = (0.0, 0.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ((0, 0, 0, 0, "spherical"), "row 2: kind: expected 'revolute' or 'prismatic', got 'spherical'"),
        ((0, math.nan, 0, 0), "row 2: d: expected a finite number, got nan"),
        ((0, "1", 0, 0), "row 2: d: expected a number, got '1'"),
        ((0, 0, 0), "row 2: expected a value for 'alpha', got none"),
        ((0,) * 6, "row 2: expected at most 5 values"),
        ({"theta": 0, "d": 0}, "row 2: expected a value for 'a', 'alpha', got none"),
        ({"theta": 0, "d": 0, "a": 0, "alfa": 0}, "row 2: unknown key 'alfa'. Did you mean 'alpha'?"),
        (
            {"theta": 0, "d": 0, "a": 0, "alpha": 0, "mass": -1},
            "row 2: mass: expected a number of at least 0",
        ),
        ({"theta": 0, "d": 0, "a": 0, "alpha": 0, "com": (1, 2)}, "row 2: com: expected 3 numbers, got 2"),
        ({"theta": 0, "d": 0, "a": 0, "alpha": 0, "inertia": 1}, "row 2: inertia: expected 3, 6 or 3 by 3"),
        ({"theta": 0, "d": 0, "a": 0, "alpha": 0, "friction": 1}, "row 2: friction: expected a Friction"),
        ({"theta": 0, "d": 0, "a": 0, "alpha": 0, "limits": {"low": 1}}, "row 2: unknown limits key 'low'"),
        (
            {"theta": 0, "d": 0, "a": 0, "alpha": 0, "limits": (1, 0)},
            "row 2: limits: expected lower <= upper",
        ),
        ({"theta": 0, "d": 0, "a": 0, "alpha": 0, "name": ""}, "row 2: name: expected a name"),
        (
            {"theta": 0, "d": 0, "a": 0, "alpha": 0, "name": "link1"},
            "row 2: name: expected a name of its own",
        ),
        (
            {"theta": 0, "d": 0, "a": 0, "alpha": 0, "name": "joint1"},
            "row 2: name: expected a name of its own",
        ),
        ({"theta": 0, "d": 0, "a": 0, "alpha": 0, "name": "base"}, "'base', that of the base"),
        (None, "row 2: expected a DHRow or a mapping, got None"),
        ("abcd", "row 2: expected a DHRow or a mapping, got 'abcd'"),
        (KhalilRow(*EIGHT), "row 2: expected a DHRow"),
    ],
)
def test_bad_rows_are_named(row, message):
    for build in (standard_dh, modified_dh):
        with pytest.raises(ModelError) as error:
            build([GOOD, row])
        assert message in str(error.value)


@pytest.mark.parametrize("rows", [None, 3, "rows", {"theta": 0}, []])
def test_rows_must_be_a_list(rows):
    for build in (standard_dh, modified_dh, khalil):
        with pytest.raises(ModelError, match=r"^rows: expected"):
            build(rows)


@pytest.mark.parametrize(
    ("ways", "message"),
    [
        ((0, 4, 0), "row 2: antecedent: expected 0 (the base) to 3, got 4"),
        ((0, -1, 0), "row 2: antecedent: expected 0 (the base) to 3, got -1"),
        ((0, 2, 0), "row 2: antecedent: expected a way to the base, got a cycle of rows 2."),
        ((2, 3, 2), "row 2: antecedent: expected a way to the base, got a cycle of rows 2, 3."),
        ((0, 1.5, 0), "row 2: antecedent: expected a row's number or name, got 1.5"),
        ((0, None, 0), "row 2: antecedent: expected a number, got None"),
        ((0, "link9", 0), "row 2: antecedent: unknown row 'link9'. Did you mean"),
    ],
)
def test_bad_antecedents_are_named(ways, message):
    with pytest.raises(ModelError) as error:
        khalil((a, *EIGHT[1:]) for a in ways)
    assert message in str(error.value)
    if None in ways:
        return
    for build in (standard_dh, modified_dh):
        with pytest.raises(ModelError) as error:
            build({"theta": 0, "d": 0, "a": 0, "alpha": 0, "antecedent": a} for a in ways)
        assert message in str(error.value)


def test_bad_sigma_is_named():
    for sigma in (3, True, "0", math.nan):
        with pytest.raises(ModelError, match=r"^row 1: sigma: expected"):
            khalil([(0, sigma, *EIGHT[2:])])


def test_a_fixed_row_has_no_armature():
    with pytest.raises(ModelError, match=r"^row 1: joint 'joint1': a fixed joint cannot have an armature"):
        khalil([KhalilRow(0, 2, *EIGHT[2:], armature=1.0)])


def test_long_tables_do_not_recurse():
    assert khalil((k, *EIGHT[1:]) for k in range(3000)).nv == 3000
    backwards = khalil((k + 1 if k < 3000 else 0, *EIGHT[1:]) for k in range(1, 3001))
    assert backwards.names[0] == "joint3000"
