"""The gallery of `make demo`: what a card shows is what ran, and a machine that fails leaves the others alone."""

import html
import importlib
import re
import sys
from pathlib import Path

import pytest

from support.browser import Opened

EXAMPLES = Path(__file__).parents[2] / "examples"
CHEAP = ("fivebar", "mobile", "elastic")
MOST = 4_000_000  # bytes of the page


@pytest.fixture(scope="module")
def modules():
    """The modules `gallery` and `machines` of the folder of examples."""
    before = list(sys.path)
    sys.path.insert(0, str(EXAMPLES))
    try:
        yield importlib.import_module("gallery"), importlib.import_module("machines")
    finally:
        sys.path[:] = before


def broken():
    raise RuntimeError("</p><script>alert(1)</script>\x1b")


def mounted(page, name):
    """The number of a card's view among `linkwise.views`, once it is there."""
    page.page.locator(f"#{name}").scroll_into_view_if_needed()
    page.page.wait_for_selector(f"#{name} .view[data-shown]", timeout=60_000)
    return page.ask(f"Number(document.querySelector('#{name} .view').dataset.shown)")


def moves(page, k):
    """Whether the poses of a view change in time, and the picture with them."""
    first, later = (
        page.ask(f"(v => v.poses(v.samples.start + {s} * v.samples.end))(linkwise.views[{k}])") for s in (0, 0.3)
    )
    return first != later and page.ask(f"linkwise.views[{k}].frames") > 0


def test_a_small_gallery(modules, browser, tmp_path):
    gallery, machines = modules
    cards = [card for card in machines.CARDS if card.name in CHEAP]
    cards.append(gallery.Card(broken, "<b>", "&", str))
    found = [gallery.made(card) for card in cards]
    assert [bool(m.failure) for m in found] == [False, False, False, True]
    path = tmp_path / "gallery.html"
    gallery.write(path, found, table=gallery.table(("a", "b"), [("<i>", "1")], "t", "n"), report="report.html")
    with Opened(browser, path, 390, 844) as page:
        assert page.page.locator("article").count() == 4
        for card in cards:
            assert page.page.locator(f"#{card.name} pre").text_content() == gallery.source(card.make)
        assert page.page.locator("#broken .view").text_content().endswith("alert(1)</script>\\x1b")
        assert page.page.locator("td").first.text_content() == "<i>"
        for m in found[:3]:
            assert m.number in page.page.locator(f"#{m.card.name} .words").text_content()
            assert moves(page, mounted(page, m.card.name))
            assert page.page.locator(f"#{m.card.name} .lw-tabs .lw-on").text_content().startswith("torque")
        assert page.ask("document.documentElement.scrollWidth") == 390
        before = page.ask("scrollY")
        page.page.locator("#elastic .lw-canvas").hover()
        page.page.mouse.wheel(0, -200)
        page.page.wait_for_timeout(200)
        assert page.ask("scrollY") < before
        assert page.page.get_by_role("link").get_attribute("href") == "report.html"
        assert not page.console


def test_colours_change_nothing(modules):
    """Code without its spans is the code."""
    gallery, machines = modules
    for card in machines.CARDS:
        code = gallery.source(card.make)
        shown = gallery.coloured(code)
        assert html.unescape(re.sub(r"</?span[^>]*>", "", shown)) == code
        assert '<span class="word">def</span>' in shown
    text = 'x = f"""<\n{1}"""  # <&\ny = (1,\n     2)'
    assert html.unescape(re.sub(r"</?span[^>]*>", "", gallery.coloured(text))) == text


@pytest.mark.slow
def test_the_whole_gallery(modules, browser, tmp_path):
    gallery, machines = modules
    found = [gallery.made(card) for card in machines.CARDS]
    assert len(found) == 12
    assert not [m.failure for m in found if m.failure]
    path = tmp_path / "gallery.html"
    gallery.write(path, found)
    assert path.stat().st_size < MOST
    with Opened(browser, path, 1280, 800) as page:
        assert all(moves(page, mounted(page, m.card.name)) for m in found)
        assert page.ask("linkwise.views.filter((v) => v.stage.renderer).length") <= 10
        assert not page.console
