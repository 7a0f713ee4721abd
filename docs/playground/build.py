"""The playground as one page, which needs nothing else."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

from linkwise.view.page import ASSETS
from linkwise.view.payload import digest
from playground import kernels

HERE = Path(__file__).parent
SCRIPTS = ("arm.js", "presets.js", "texts.js", "scene.js", "plot.js", "show.js", "page.js")


def page(home: str = "index.html") -> str:
    """The text of the page; `home` is the address of the documentation."""
    scripts = [ASSETS / "stage.js", *(HERE / name for name in SCRIPTS)]
    inner = "\n".join([kernels.source(), *map(_read, scripts)])
    parts = {
        "STYLE": _read(HERE / "style.css"),
        "THREE": three(),
        "SCRIPT": f'"use strict";\n(() => {{\n{inner}\n}})();',
        "NOTICE": _read(ASSETS / "three.LICENSE").strip(),
        "HOME": home,
    }
    rules = (
        "default-src 'none'",
        f"script-src {digest(parts['THREE'])} {digest(parts['SCRIPT'])}",
        f"style-src {digest(parts['STYLE'])}",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
    )
    parts["POLICY"] = "; ".join(rules)
    return re.sub("|".join(parts), lambda found: parts[found[0]], _read(HERE / "page.html"))


def three() -> str:
    """three.js, as the viewer has it."""
    return gzip.decompress((ASSETS / "three.js.gz").read_bytes()).decode()


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8")
