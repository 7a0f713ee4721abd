"""The site that `make docs` builds: pages that need no network, have a picture, and fit a telephone."""

import fcntl
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from sphinx.util.inventory import InventoryFile

import linkwise as lw
from support.browser import Opened

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


@pytest.fixture(scope="module")
def site() -> Path:
    """The folder of the built pages: `make docs` has made it, or it is made here."""
    folder = DOCS / "_build" / "html"
    folder.parent.mkdir(exist_ok=True)
    with (folder.parent / "lock").open("w") as lock:  # one worker builds, others wait
        fcntl.flock(lock, fcntl.LOCK_EX)
        built = folder / "index.html"
        sources = [p for p in DOCS.glob("**/*") if p.suffix in (".md", ".py", ".css") and "_build" not in p.parts]
        if not built.exists() or built.stat().st_mtime < max(p.stat().st_mtime for p in sources):
            command = [sys.executable, "-m", "sphinx", "-W", "-q", "-b", "html", str(DOCS), str(folder)]
            subprocess.run(command, check=True, cwd=ROOT)
            os.utime(built)
    return folder


def pages(site: Path) -> list[Path]:
    sources = [p.relative_to(DOCS) for p in sorted(DOCS.glob("**/*.md")) if "_build" not in p.parts]
    return [site / p.with_suffix(".html") for p in sources]


def test_pages_need_no_network_and_fit_a_telephone(site, browser):
    problems: dict[str, list[object]] = {}
    context = browser.contexts[0] if browser.contexts else browser.new_context()
    context.route("**/_views/**", lambda route: route.fulfill(body="", content_type="text/html"))  # tested below
    for path in pages(site):
        with Opened(browser, path, 390, 844) as opened:
            found: list[object] = list(opened.console)
            width = opened.ask("document.documentElement.scrollWidth")
            found += [f"is {width} pixels wide"] if width > 390 else []
            shown = opened.ask("document.querySelectorAll('article svg, article img, article iframe').length")
            found += [] if shown else ["has no picture"]
            text = opened.ask("document.querySelector('article').innerText")
            found += re.findall(r"```\{\w+", text)  # a directive that was not one, by a stray letter
        if found:
            problems[path.relative_to(site).as_posix()] = found
    context.unroute("**/_views/**")
    assert problems == {}
    assert len(pages(site)) > 35


def test_a_live_view_is_drawn_with_the_shared_viewer(site, browser):
    with Opened(browser, site / "_views" / "closed_loops-1.html") as opened:
        opened.page.wait_for_selector("canvas.lw-canvas")
        assert opened.console == []
    text = (site / "closed_loops.html").read_text(encoding="utf-8")
    assert re.search(r'<iframe src="_views/closed_loops-1.html#[^"]*" title="[^"]+" loading="lazy">', text)


def test_formulas_are_drawn_by_the_browser(site, browser):
    with Opened(browser, site / "tutorials" / "first_torques.html") as opened:
        assert opened.ask("document.querySelectorAll('div.formula math').length") == 2
        assert opened.ask("document.querySelector('div.formula math').getBoundingClientRect().height") > 10


def test_every_public_name_is_on_one_api_page(site):
    """On exactly one: a second description of the same name is a warning of Sphinx, and so an error of the build."""
    inventory = InventoryFile.loads((site / "objects.inv").read_bytes(), uri="").data
    names: dict[str, set[str]] = {}
    for kind, entries in inventory.items():
        if kind.startswith("py:"):
            for name, item in entries.items():
                names.setdefault(name, set()).add(item.uri.partition("#")[0])
    for name in lw.__all__:
        full = [f"linkwise.{name}", f"linkwise.algorithms.{name}"]
        found = {page for n in full for page in names.get(n, ())}
        assert len(found) == 1, (name, found)
        assert found.pop().startswith("api/")
    for algorithm in lw.algorithms.__all__:
        value = getattr(lw.algorithms, algorithm)
        if isinstance(value, lw.Algorithm):
            assert f"linkwise.algorithms.{algorithm}" in names, algorithm


def test_notebooks_can_be_downloaded(site):
    notebooks = sorted(p.name for p in (site / "_downloads").glob("**/*.ipynb"))
    sources = sorted(p.with_suffix(".ipynb").name for p in (DOCS / "tutorials").glob("*.md") if p.stem != "index")
    assert notebooks == sources
    text = next((site / "_downloads").glob("**/first_torques.ipynb")).read_text(encoding="utf-8")
    assert ".md)" not in text
    assert '"outputs"' in text


def test_the_site_has_this_version(site):
    """The one of the sources, whatever was installed before."""
    assert f"<title>Linkwise {lw.__version__}</title>" in (site / "index.html").read_text(encoding="utf-8")
