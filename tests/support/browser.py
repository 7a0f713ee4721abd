"""A browser in which tests open pages: Chromium where it is found, else the Chromium inside of Qt."""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
QUIET = (
    "--no-sandbox",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
WEBGL = ("--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist")
QT = """
import sys
from PyQt6.QtWebEngineWidgets import QWebEngineView
from PyQt6.QtWidgets import QApplication
app = QApplication(sys.argv)
view = QWebEngineView()
view.resize(800, 600)
view.setHtml("<title>empty</title>")
view.show()
app.exec()
"""


def found() -> str | None:
    """Which browser tests can have: the path of a Chromium, "Qt", or None."""
    path = next((p for p in map(shutil.which, NAMES) if p), None)
    if path:
        return path
    try:
        import PyQt6.QtWebEngineWidgets  # noqa: F401
    except ImportError:
        return None
    return "Qt"


class Console(list[str]):
    """What a page said: errors and warnings of its console, and exceptions that nothing caught."""

    def watch(self, page: Any) -> None:
        page.on("console", lambda m: self.append(m.text) if m.type in ("error", "warning") else None)
        page.on("pageerror", lambda e: self.append(str(e)))
        page.on("request", lambda r: self.append(f"asked for {r.url}") if r.url.startswith("http") else None)


@contextmanager
def browser() -> Iterator[Any]:
    """A running browser as Playwright knows it, with WebGL drawn by software."""
    from playwright.sync_api import sync_playwright

    which = found()
    if which is None:
        raise RuntimeError("no browser: install chromium (apt-get install chromium) or PyQt6-WebEngine (pip)")
    with sync_playwright() as playwright:
        if which == "Qt":
            with _qt() as address:
                yield playwright.chromium.connect_over_cdp(address)
            return
        chromium = playwright.chromium.launch(executable_path=which, args=[*QUIET, *WEBGL])
        try:
            yield chromium
        finally:
            chromium.close()


@contextmanager
def _qt() -> Iterator[str]:
    """The address at which a window of Qt can be driven."""
    with tempfile.TemporaryDirectory() as folder:
        port = 9300 + os.getpid() % 600
        flags = " ".join([*QUIET, *WEBGL])
        told = {"QTWEBENGINE_REMOTE_DEBUGGING": str(port), "QTWEBENGINE_CHROMIUM_FLAGS": flags}
        surroundings = {**os.environ, **told, "QT_QPA_PLATFORM": "offscreen", "HOME": folder}
        with subprocess.Popen([sys.executable, "-c", QT], env=surroundings, stderr=subprocess.DEVNULL) as process:
            try:
                _wait_for(port)
                yield f"http://127.0.0.1:{port}"
            finally:
                process.kill()


def _wait_for(port: int, seconds: float = 30.0) -> None:
    import socket

    end = time.monotonic() + seconds
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1.0).close()
            return
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.1)


class Opened:
    """A page of one HTML file, and what its console said."""

    def __init__(self, browser: Any, path: Path, width: int = 800, height: int = 600, options: str = "") -> None:
        self.context = browser.contexts[0] if browser.contexts else browser.new_context()
        self.page = self.context.new_page()
        self.page.set_viewport_size({"width": width, "height": height})
        self.console = Console()
        self.console.watch(self.page)
        self.page.goto(f"{path.resolve().as_uri()}#{options}")

    def __enter__(self) -> "Opened":
        return self

    def __exit__(self, *_: object) -> None:
        self.page.close()

    def ask(self, expression: str) -> Any:
        """The value of a JavaScript expression, or of the promise that it is."""
        return self.page.evaluate(expression)

    def colours(self) -> int:
        """How many colours a picture of the page has: a blank page has one."""
        import io

        import numpy as np
        from matplotlib.image import imread

        picture = imread(io.BytesIO(self.page.screenshot()), format="png")
        return len(np.unique((picture.reshape(-1, picture.shape[-1])[:, :3] * 31).astype(int), axis=0))
