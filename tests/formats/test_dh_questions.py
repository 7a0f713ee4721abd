"""Tables in degrees, in another order, and those that look as if they were."""

from math import pi

import pytest

import linkwise as lw

# Craig's PUMA 560, columns alpha, a, d, theta
CRAIG = [(0, 0, 0, 0), (-90, 0, 0, 0), (0, 0.4318, 0.1501, 0), (-90, 0.0203, 0.4318, 0), (90, 0, 0, 0), (-90, 0, 0, 0)]
OURS = [(theta, d, a, alpha) for alpha, a, d, theta in CRAIG]


def radians(rows, columns=(0, 3)):
    return [tuple(x * pi / 180 if k in columns else x for k, x in enumerate(row)) for row in rows]


def asked(robot):
    return [d.message for d in robot.diagnostics if d.where == "table"]


@pytest.mark.parametrize("make", [lw.standard_dh, lw.modified_dh])
def test_degrees_and_orders_by_name(make):
    expected = make(radians(OURS))
    for order in ("alpha a d theta", "alpha, a, d, theta", ("alpha", "a", "d", "theta")):
        assert make(CRAIG, angles="degrees", order=order) == expected
    assert make(OURS, angles="degrees") == expected
    named = [dict(zip(("alpha", "a", "d", "theta"), row, strict=True)) for row in CRAIG]
    assert make(named, angles="degrees") == expected
    assert make([lw.dh.DHRow(*row) for row in OURS], angles="degrees") == expected
    assert not asked(expected)


def test_kinds_follow_the_four_numbers():
    robot = lw.modified_dh([(0, 0.1, 0.2, 0.3, "prismatic")], order="alpha a d theta")
    assert robot.joints[0].kind == "prismatic"
    assert robot.joints[0].origin == lw.modified_dh([(0.3, 0.2, 0.1, 0, "prismatic")]).joints[0].origin


def test_khalil_in_degrees():
    rows = [(0, 0, 30.0, 0.1, 90.0, 0.2, -45.0, 0.3)]
    turned = [(0, 0, pi / 6, 0.1, pi / 2, 0.2, -pi / 4, 0.3)]
    assert lw.khalil(rows, angles="degrees") == lw.khalil(turned)
    assert "more than a turn" in asked(lw.khalil(rows))[0]


def test_files_in_degrees():
    text = 'name = "r"\nconvention = "modified"\nangles = "degrees"\n[[dh]]\ntheta = 0\nd = 0.67\na = 0\nalpha = 90\n'
    from linkwise.formats.toml import load_toml

    robot = load_toml(text)
    assert robot == lw.modified_dh([(0, 0.67, 0, 90)], angles="degrees", name="r")
    silent = load_toml(text.replace('angles = "degrees"\n', ""))
    assert "alpha = 90 rad in row 1 is more than a turn" in asked(silent)[0]
    with pytest.raises(lw.ModelError, match="angles: expected one of 'radians', 'degrees', got 'grad'"):
        load_toml(text.replace('"degrees"', '"grad"'))


@pytest.mark.parametrize(
    ("rows", "options", "question"),
    [
        ([(0, 0.67, 0, 90)], {}, "alpha = 90 rad in row 1 is more than a turn. If that is degrees, say angles='deg"),
        (OURS, {}, "alpha = -90 rad in row 2, and 3 more, is more than a turn"),
        (radians(CRAIG), {}, "rows look like (alpha, a, d, theta), but are read as (theta, d, a, alpha)"),
        (CRAIG, {"angles": "degrees"}, "say order='alpha a d theta'"),
        ([(0, 1.5708, 0.67, 0), (0.43, 0, 0, 0), (0.02, -1.571, 0.15, 0)], {}, "say order='a alpha d theta'"),
        ([(0, 90, 0.67, 0), (0.43, 0, 0, 0)], {"angles": "degrees"}, "say order='a alpha d theta'"),
        ([(-pi / 2, 0.4, 0, 0.3), (pi / 2, 0, pi / 2, 0.2)], {}, "say order='alpha a theta d'"),
        ([(0, 670, 431.8, 0)], {}, "d = 670 m in row 1 is long. If that is millimetres, divide by 1000."),
        ([(0, 0.67, 0, pi / 2)], {"angles": "degrees"}, "alpha = 1.5708 degrees in row 1 looks like radians"),
    ],
)
def test_questions(rows, options, question):
    robot = lw.modified_dh(rows, **options)
    assert len(asked(robot)) == 1
    assert question in asked(robot)[0]
    assert [d.level for d in robot.diagnostics if d.where == "table"] == ["warning"]


@pytest.mark.parametrize("name", list(lw.list_robots()))
def test_nothing_to_ask_of_bundled_robots(name):
    robot = lw.load(name)
    assert not asked(robot)
    try:
        table = lw.dh.to_modified_dh(robot)
    except lw.LinkwiseError:
        return  # which no table can say
    rows = [(row.theta, row.d, row.a, row.alpha, row.kind) for row in table.rows]
    if any(row.antecedent is not None for row in table.rows):
        return
    assert not asked(lw.modified_dh(rows))


@pytest.mark.parametrize(
    "rows",
    [
        [(0, 0, 0.4, 0), (0, 0, 0.4, 0)],
        [(-pi / 2, 0, 0.4, 0), (0, 0, 0.4, 0), (0, 0, 0.1, 0)],  # a leg
        [
            (0, 0.352, 0.07, -pi / 2),
            (-pi / 2, 0, 0.36, 0),
            (pi, 0, 0, -pi / 2),
            (0, 0.38, 0, pi / 2),
            (0, 0, 0, -pi / 2),
        ],
        [(2 * pi, 0.1, 0, 0), (0.3, 1.57, 1.0, 0.2)],
        [(0, 25.0, 12.0, pi / 2)],  # a crane
    ],
)
def test_nothing_to_ask_of_sound_tables(rows):
    assert not asked(lw.standard_dh(rows))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"angles": "grad"}, "angles: expected one of 'radians', 'degrees', got 'grad'"),
        ({"order": "alpha a d"}, "order: expected 'theta', 'd', 'a', 'alpha', each once, got 'alpha', 'a', 'd'"),
        ({"order": "alpha a d d"}, "each once"),
        ({"order": "alpha a d tetha"}, "unknown column in order 'tetha'.*Did you mean 'theta'"),
    ],
)
def test_wrong_words(options, message):
    with pytest.raises(lw.LinkwiseError, match=message):
        lw.standard_dh([(0, 0, 1, 0)], **options)
