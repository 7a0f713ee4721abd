"""`linkwise formulas`, and tables and motions in degrees on the command line."""

import json
import math

from support.command import error, linkwise


def test_formulas_in_each_form():
    text = linkwise("formulas", "rr", "mass_matrix").stdout
    assert "M[2, 2] = I_2 + m_2*(c_2 + l_2)**2" in text
    assert "joint1.xyz.x" in text
    assert (
        r"M_{22} &= I_{2} + m_{2} \left(c_{2} + l_{2}\right)^{2}"
        in linkwise("formulas", "rr", "mass_matrix", "--latex").stdout
    )
    assert "# m_2 = 0.5, link2.mass" in linkwise("formulas", "rr", "mass_matrix", "--listing").stdout
    facts = json.loads(linkwise("formulas", "rr", "mass_matrix", "--json", "--latex", "--symbols", "mass").stdout)
    assert facts["symbols"] == {f"m_{k}": {"meaning": f"link{k}.mass", "value": 0.5} for k in (1, 2)}
    assert facts["latex"].startswith(r"M(q) = \begin{bmatrix}")


def test_formulas_of_frames_and_names(folder):
    text = linkwise("formulas", "arm.urdf", "jacobian", "--frame", "tool", "--symbols", "none").stdout
    assert "J[3, 3] = 0.3*cos(q_2 + q_3)\n" in text
    assert "m_upper_arm" in linkwise("formulas", "arm.urdf", "gravity_forces", "--names").stdout
    assert "--frame: expected the frame or link of pose" in error("formulas", "rr", "pose")
    assert "--frame: expected none for mass_matrix" in error("formulas", "rr", "mass_matrix", "--frame", "link1")
    assert "unknown quantity in symbols 'masses'" in error("formulas", "rr", "mass_matrix", "--symbols", "masses")


def test_tables_in_degrees(folder):
    text = linkwise("convert", "arm.urdf", "--dh", "--degrees", "--plot", "frames.svg").stdout
    assert "alpha (deg)" in text
    assert (folder / "frames.svg").stat().st_size > 10_000
    rows = [json.loads(linkwise("convert", "arm.urdf", "--dh", "--json", *x).stdout) for x in ([], ["--degrees"])]
    assert [r["angles"] for r in rows] == ["radians", "degrees"]
    assert math.isclose(math.degrees(rows[0]["rows"][2]["theta"]), rows[1]["rows"][2]["theta"])
    assert "expected --dh or --khalil with --degrees" in error("convert", "arm.urdf", "a.toml", "--degrees")
    assert "expected --dh with --plot" in error("convert", "arm.urdf", "--khalil", "--plot", "a.svg")


def test_motions_in_degrees(folder):
    head, *rows = (folder / "swing.csv").read_text().splitlines()
    cells = [row.split(",") for row in rows]
    turned = [",".join([row[0], *(str(math.degrees(float(x))) for x in row[1:])]) for row in cells]
    (folder / "deg.csv").write_text("\n".join([head, *turned]))
    expected = json.loads(linkwise("torque", "arm.urdf", "swing.csv", "--json").stdout)
    found = json.loads(linkwise("torque", "arm.urdf", "deg.csv", "--degrees", "--json").stdout)
    for a, b in zip(found["peaks"], expected["peaks"], strict=True):
        assert math.isclose(a["highest"], b["highest"], rel_tol=1e-9)
    silent = linkwise("torque", "arm.urdf", "deg.csv")
    assert silent.exit_code == 1
    assert "note: positions look like degrees: elbow is at" in silent.stdout


def test_checks_ask(folder):
    (folder / "a.toml").write_text(
        'convention = "standard"\n[[dh]]\ntheta = 0\nd = 0.67\na = 0\nalpha = 90\nmass = 1\n'
    )
    assert "alpha = 90 rad in row 1 is more than a turn" in linkwise("check", "a.toml").stdout
    assert linkwise("check", "a.toml", "--strict").exit_code == 1
