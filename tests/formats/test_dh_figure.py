"""Pictures of the frames of tables."""

import numpy as np
import pytest

import linkwise as lw
from linkwise.formats.dh_figure import _row, angle_text

ROWS = [(0.3, 0.2, 0.4, -np.pi / 2), (0.0, 0.0, 0.3, np.pi / 2, "prismatic"), (np.pi / 4, 0.1, 0.0, 0.7)]


@pytest.mark.parametrize(("make", "convention"), [(lw.standard_dh, "standard"), (lw.modified_dh, "modified")])
def test_rows_come_back(make, convention):
    for joint, row in zip(make(ROWS).joints, ROWS, strict=True):
        assert np.allclose(_row(joint, convention), row[:4], atol=1e-15)
    other = "modified" if convention == "standard" else "standard"
    assert not all(_row(joint, other) for joint in make(ROWS).joints)


def texts(figure):
    return [t.get_text() for axes in figure.axes for t in axes.texts]


def test_frames_have_labels_and_rows_their_numbers(tmp_path):
    figure = lw.dh.draw(lw.standard_dh(ROWS, name="three"), tmp_path / "three.svg")
    assert {"$z_{0}$", "$z_{1}$", "$x_{3}$"} <= set(texts(figure))
    (table,) = figure.axes[1].tables
    cells = {key: cell.get_text().get_text().strip() for key, cell in table.get_celld().items()}
    assert [cells[1, k] for k in range(5)] == ["1", "$q_{1}$ + 0.3", "0.2", "0.4", "-π/2"]
    assert [cells[2, k] for k in range(5)] == ["2", "0", "$q_{2}$", "0.3", "π/2"]
    assert [cells[3, k] for k in range(5)] == ["3", "$q_{3}$ + π/4", "0.1", "0", "0.7"]
    svg = (tmp_path / "three.svg").read_text()
    assert "three: standard DH parameters" in svg


def test_ends_of_arrows_are_where_kernels_say():
    """Origins and axes, from the kernel of poses."""
    robot, q = lw.load("stanford"), [0.3, -0.4, 0.5, 0.6, -0.7, 0.8]
    T = lw.compile(robot).poses(q)
    scene = lw.dh.draw(robot, q=q).axes[0]
    labels = {t.get_text(): np.array(t.get_position_3d()) for t in scene.texts}
    (size,) = {round(np.linalg.norm(labels["$z_{6}$"] - T[5, :3, 3]) / (0.32 * 1.06), 9)}
    for k in (1, 2, 6):
        assert np.allclose(labels[f"$z_{{{k}}}$"], T[k - 1, :3, 3] + 0.32 * 1.06 * size * T[k - 1, :3, 2])
        assert np.allclose(labels[f"$x_{{{k}}}$"], T[k - 1, :3, 3] + 0.2 * 1.06 * size * T[k - 1, :3, 0])
    lengths = [b - a for a, b in (scene.get_xlim(), scene.get_ylim(), scene.get_zlim())]
    assert np.ptp(lengths) < 1e-12


@pytest.mark.parametrize("name", ["pr", "scara", "puma560", "industrial6", "arm7"])
def test_bundled_robots_can_be_drawn(name):
    assert "DH parameters" in lw.dh.draw(lw.load(name)).texts[0].get_text()


def test_branches_say_what_they_hang_on():
    rows = [{"theta": 0, "d": 0.2, "a": 0.4, "alpha": 0, "antecedent": k} for k in (0, 1, 1)]
    (table,) = lw.dh.draw(lw.modified_dh(rows)).axes[1].tables
    assert table[3, 1].get_text().get_text().strip() == "1"
    assert table[0, 2].get_text().get_text().strip() == r"$\alpha_{i-1}$"  # as Craig writes rows
    assert [table[2, k].get_text().get_text().strip() for k in range(2, 6)] == ["0", "0.4", "0.2", "$q_{2}$"]


def test_angles_are_parts_of_pi():
    given = (0.0, np.pi, -np.pi / 2, 2 * np.pi / 3, 5 * np.pi / 12, 1.0)
    assert [angle_text(x) for x in given] == ["0", "π", "-π/2", "2π/3", "5π/12", "1"]


def test_names_are_text_alone(tmp_path):
    robot = lw.standard_dh(ROWS, name="<b>$x^{\x07</b>")
    lw.dh.draw(robot, tmp_path / "a.svg")
    assert "&lt;b&gt;$x^{\\x07" in (tmp_path / "a.svg").read_text()


def test_what_cannot_be_drawn_is_refused(tmp_path):
    with pytest.raises(lw.InputError, match="draw: expected a Robot first, got 3"):
        lw.dh.draw(3)
    with pytest.raises(lw.InputError, match="a table has no loops, but 'fivebar' has"):
        lw.dh.draw(lw.load("fivebar"))
    with pytest.raises(lw.LinkwiseError, match="floating"):
        lw.dh.draw(lw.load("rr", base="floating"))
    with pytest.raises(lw.InputError, match=r"expected one of .png, .svg, .pdf"):
        lw.dh.draw(lw.load("rr"), tmp_path / "a.txt")
