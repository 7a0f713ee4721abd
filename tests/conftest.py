"""What every test shares: a private cache of kernels, and golden files that `pytest --update` rewrites."""

import os
import signal
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from support.browser import browser as running_browser
from support.browser import found

GOLDEN = Path(__file__).parent / "golden"

settings.register_profile("linkwise", deadline=None, derandomize=True, max_examples=100)
settings.register_profile("explore", deadline=None, max_examples=3000)  # pytest --hypothesis-profile=explore
settings.load_profile("linkwise")
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # in a background job of a shell all processes ignore Ctrl-C
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update", action="store_true", help="rewrite the golden files of tests/golden")


def pytest_configure(config: pytest.Config) -> None:
    """Give this process a cache of its own: the user's is never touched. A worker's stands in its controller's."""
    outer = os.environ["LINKWISE_CACHE"] if hasattr(config, "workerinput") else None
    cache = tempfile.TemporaryDirectory(prefix="linkwise-tests-", dir=outer, ignore_cleanup_errors=True)  # mode 0700
    os.environ["LINKWISE_CACHE"] = cache.name
    config.add_cleanup(cache.cleanup)


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """Compare a text with a file of tests/golden exactly; `pytest --update` writes the file instead."""

    def check(name: str, text: str) -> None:
        path = GOLDEN / name
        if request.config.getoption("--update"):
            path.write_text(text, encoding="utf-8")
        assert path.exists(), f"tests/golden/{name} is missing: run pytest --update"
        assert text == path.read_text(encoding="utf-8")

    return check


def pytest_report_header() -> str:
    """Which browser opens pages; tests that need one fail without it."""
    return f"browser: {found() or 'none: tests of pages will fail'}"


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """A running browser for pages, opened by `support.browser.Opened(browser, path)`."""
    with running_browser() as running:
        yield running
