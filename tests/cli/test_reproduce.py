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


def test_the_list_begins_with_the_errata_and_says_what_each_shows():
    lines = linkwise("reproduce", "--list").stdout.splitlines()
    assert lines[2].split()[0] == "errata"
    listed = json.loads(linkwise("reproduce", "--list", "--json").stdout)
    assert len(lines) == len(listed) + 2
    for name, sentence in listed.items():
        assert sentence.endswith("."), name
        assert len(sentence.split()) > 5, name
    assert list(json.loads(linkwise("reproduce", "snake", "--list", "--json").stdout)) == ["snake"]


def test_disagreement_is_exit_code_1(folder, monkeypatch):
    monkeypatch.setattr("linkwise.report.stanford.TOLERANCE", -1.0)
    result = linkwise("reproduce", "stanford")
    assert result.exit_code == 1
    assert "differs" in result.stdout
