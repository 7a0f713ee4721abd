"""Experiments, the page they make, and pictures inside it."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

import linkwise as lw
from linkwise.figures import save_figure
from papers.experiments import EXPERIMENTS, Experiment, Picture, Table, check_names, run
from papers.html import number, page, write
from papers.pictures import inline_svg, panels
from papers.sources import SOURCES

GOLDEN = Path(__file__).parents[1] / "golden" / "sources.json"
NOTATION = Path(__file__).parents[2] / "docs" / "notation.md"
VOID = {"meta", "br", "img"}


class Balanced(HTMLParser):
    """Checks that every element is closed in order, and collects ids."""

    def __init__(self):
        super().__init__()
        self.open, self.ids = [], []

    def handle_starttag(self, tag, attrs):
        self.ids += [v for k, v in attrs if k == "id"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.ids += [v for k, v in attrs if k == "id"]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def checked(text):
    parser = Balanced()
    parser.feed(text)
    assert parser.open == []
    assert len(parser.ids) == len(set(parser.ids))
    return text


@pytest.fixture
def figure():
    t = np.linspace(0, 1, 5)
    return panels(t, {"one": t, "two": t**2}, {"one": (t, t)}, "time, s", "reference")


def test_what_numpy_compared_is_plain_data():
    found = Experiment("name", "title", "source", "finding", agrees=np.float64(1.0) < 2.0)
    assert json.loads(json.dumps(found.as_data()))["agrees"] is True


def test_stanford_agrees_with_the_golden_numbers():
    found = run("stanford")
    assert found.agrees
    given = json.loads(GOLDEN.read_text())["002_stanford"]["trajectory"]
    table = found.tables[1]
    ours = np.array([row[2:8] for row in table.rows[1::2]])
    golden = np.array([s["tau"] for s in given["samples"]])
    np.testing.assert_allclose(ours, golden, rtol=0, atol=1e-12 * np.abs(golden).max())
    reference = np.array([row[2:8] for row in table.rows[0::2]])
    np.testing.assert_array_equal(reference, golden)


def test_the_printed_sampling_error():
    """2.462e-2 is printed; ours are regression values, without and with the rotor of joint 1."""
    rows = run("stanford").tables[0].rows
    assert rows[0][2:] == pytest.approx((2.40222e-2, 2.46201e-2), rel=1e-5)
    assert rows[1][2:] == pytest.approx((2.40222e-1, 2.46201e-1), rel=1e-5)


def test_errata_are_computed_and_named():
    found = run("errata")
    assert [table.title for table in found.tables] == list(SOURCES.values())
    errors = [row[4] for table in found.tables for row in table.rows if row[4] is not None]
    assert len(errors) > 50
    checked(page([found]))


def test_sources_are_those_of_the_documentation():
    text = " ".join(NOTATION.read_text(encoding="utf-8").replace("*", "").split())
    for key, citation in SOURCES.items():
        assert f"[{key}] : {citation}" in text


def test_a_page_is_whole_and_escapes(figure):
    odd = '<script>alert("&")</script>'
    table = Table(odd, ("a", "b"), ((odd, 1.0), ("x", None)), odd)
    pictures = (Picture(odd, inline_svg(figure, "p1", odd)), Picture(odd, inline_svg(figure, "p2", odd)))
    text = checked(page([Experiment("odd", odd, odd, odd, (odd,), (table,), pictures, (odd,))]))
    assert "<script>" not in text
    assert text.count("<svg") == 2


def test_pictures_take_the_colour_of_the_page(figure):
    svg = inline_svg(figure, "p", "title")
    assert "currentColor" in svg
    assert 'aria-label="title"' in svg
    used = set(re.findall(r'(?:href="#|url\(#)([^")]+)', svg))
    assert used <= set(re.findall(r'\bid="([^"]+)"', svg))


def test_numbers_for_reading():
    assert [number(x) for x in (0.0, 1.0, 123456.789, 1e-7, -2.5e9)] == ["0", "1", "123457", "1.00e-07", "-2.50e+09"]
    assert [number(x, 2) for x in (0.964428, 118031.0, 5.07e-16)] == ["0.96", "1.2e+05", "5.1e-16"]


def test_a_report_replaces_the_old_one(tmp_path):
    path = tmp_path / "report.html"
    path.write_text("old")
    write([Experiment("a", "A", "s", "f")], path)
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]


def test_names_of_experiments():
    assert check_names([]) == list(EXPERIMENTS)
    assert check_names(["stanford", "stanford"]) == ["stanford"]
    with pytest.raises(lw.UnknownNameError, match="Valid names: 'errata'"):
        check_names(["stanfrd"])


@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf"])
def test_pictures_into_files(figure, tmp_path, suffix):
    save_figure(figure, tmp_path / f"a{suffix}")
    assert (tmp_path / f"a{suffix}").stat().st_size > 1000


def test_pictures_into_nothing(figure, tmp_path):
    with pytest.raises(lw.InputError, match=r"got \.gif"):
        save_figure(figure, tmp_path / "a.gif")
    with pytest.raises(lw.InputError, match="can be written"):
        save_figure(figure, tmp_path / "no" / "a.png")
