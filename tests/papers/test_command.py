"""`python -m papers`, which `make papers` runs."""

import json

import pytest
from click.testing import CliRunner

from papers.__main__ import papers


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A folder of its own, where the test then is."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def command(*arguments):
    result = CliRunner().invoke(papers, arguments)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def test_stanford_into_a_page(folder):
    result = command("stanford", "-o", "page.html")
    assert result.exit_code == 0
    assert str(folder / "page.html") in result.stdout
    page = (folder / "page.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert "What had to be assumed" in page
    assert 'src="' not in page
    assert "http://" not in page.replace("http://www.w3.org/", "")


def test_json_needs_no_file(folder):
    (found,) = json.loads(command("stanford", "--json").stdout)
    assert found["agrees"]
    assert found["tables"][0]["rows"]
    assert not (folder / "report.html").exists()


def test_the_list_begins_with_the_errata_and_says_what_each_shows():
    lines = command("--list").stdout.splitlines()
    assert lines[2].split()[0] == "errata"
    listed = json.loads(command("--list", "--json").stdout)
    assert len(lines) == len(listed) + 2
    for name, sentence in listed.items():
        assert sentence.endswith("."), name
        assert len(sentence.split()) > 5, name
    assert list(json.loads(command("snake", "--list", "--json").stdout)) == ["snake"]


def test_disagreement_is_exit_code_1(monkeypatch):
    monkeypatch.setattr("papers.stanford.TOLERANCE", -1.0)
    result = command("stanford")
    assert result.exit_code == 1
    assert "differs" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["nothing"], "unknown experiment 'nothing'. Valid names: 'errata', 'stanford'"),
        (["-o", "x.pdf"], "ends in .html"),
    ],
)
def test_wrong_uses(arguments, expected):
    result = command(*arguments)
    assert result.exit_code == 2
    assert expected in result.stderr
