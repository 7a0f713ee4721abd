from contextlib import contextmanager

import pytest

from linkwise.view.page import view
from support.browser import Opened


@pytest.fixture
def shown(browser, tmp_path):
    """A function that writes a page as `view` does and opens it; nothing may be wrong with the page's console."""

    @contextmanager
    def opened(robot, motion=None, *, size=(800, 600), address="", **options):
        path = view(robot, motion, tmp_path / "page.html", **options)
        with Opened(browser, path, *size) as page:
            if address:
                page.page.goto(f"{path.as_uri()}#{address}")
                page.page.reload()
            page.ask("linkwise.ready.then(() => true)")
            yield page
            assert not page.console

    return opened
