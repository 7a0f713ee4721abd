"""The page on an identified model: all its parts are there, and nothing that a name could bring in."""

from dataclasses import replace

import pytest

import linkwise as lw


@pytest.fixture(scope="module")
def log():
    return lw.identification.simulated_log(lw.load("rr"), 10.0)


def test_a_page_has_all_parts_and_needs_no_network(log, tmp_path):
    fit = lw.identify(log.robot, log, progress=False)
    page = fit.report(tmp_path / "fit.html", log, log).read_text(encoding="utf-8")
    for part in (
        "Torque errors",
        "Measured and predicted",
        "Base parameters",
        "do not determine",
        "Residuals",
        "Notes",
    ):
        assert part in page
    for drive in fit.drives:
        assert f"<td>{drive}</td>" in page
    assert "default-src 'none'" in page
    assert "other log" in page


def test_names_are_text(log, tmp_path):
    robot = log.robot.replace(name="<script>alert(1)</script>")
    fit = lw.identify(robot, replace(log, robot=robot), progress=False)
    page = fit.report(tmp_path / "fit.html", replace(log, robot=robot)).read_text(encoding="utf-8")
    assert "<script>alert(1)" not in page


def test_the_name_of_a_page_ends_in_html(log, tmp_path):
    fit = lw.identify(log.robot, log, progress=False)
    with pytest.raises(lw.InputError, match=r"\.html"):
        fit.report(tmp_path / "fit.pdf", log)
