import json

from support.command import linkwise


def test_stanford_into_a_page(folder):
    result = linkwise("reproduce", "stanford", "-o", "page.html")
    assert result.exit_code == 0
    assert str(folder / "page.html") in result.stdout
    page = (folder / "page.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert "What had to be assumed" in page
    assert 'src="' not in page
    assert "http://" not in page.replace("http://www.w3.org/", "")


def test_json_needs_no_file(folder):
    (found,) = json.loads(linkwise("reproduce", "stanford", "--json").stdout)
    assert found["agrees"]
    assert found["tables"][0]["rows"]
    assert not (folder / "report.html").exists()


def test_the_list_begins_with_the_errata():
    assert linkwise("reproduce", "--list").stdout.split()[0] == "errata"


def test_disagreement_is_exit_code_1(folder, monkeypatch):
    monkeypatch.setattr("linkwise.report.stanford.TOLERANCE", -1.0)
    result = linkwise("reproduce", "stanford")
    assert result.exit_code == 1
    assert "differs" in result.stdout
