"""Views in pages that move and turn: a directive that runs Python and shows the page that its value writes of itself.

All views of the site share one file with the viewer and three.js; the file of a view holds what it shows alone.
"""

import json
import re
from html import escape
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx

from extensions.pictures import Run
from linkwise.view import page

FOLDER = "_views"
POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy"[^>]*>\n')  # it allows no file beside the page
HASH = "panel=0&autoplay=1"


def shared() -> str:
    """The viewer as a script that views load from beside them."""
    library = re.search(r'id="linkwise-three">(.*?)</script>', page.viewer(), flags=re.DOTALL)
    style, three = json.dumps(page.style()), json.dumps(library[1] if library else "")
    return f"""
const sheet = document.createElement('style');
sheet.textContent = {style};
document.head.append(sheet);
const three = document.createElement('script');
three.type = 'text/plain';
three.id = 'linkwise-three';
three.textContent = {three};
document.head.append(three);
{page.script()}"""


class View(Run):
    """What has a method `view(path)`, or a function of a path that writes a page."""

    option_spec: ClassVar = {"hash": directives.unchanged}

    def html(self, value: Any, label: str) -> str:
        folder = Path(self.env.app.outdir, FOLDER)
        folder.mkdir(exist_ok=True)
        number = self.env.temp_data["linkwise views"] = self.env.temp_data.get("linkwise views", 0) + 1
        name = f"{self.env.docname.replace('/', '-')}-{number}.html"
        if hasattr(value, "view"):
            value.view(folder / name, compact=True)
        else:
            value(folder / name)
        text = POLICY.sub("", (folder / name).read_text(encoding="utf-8"))
        (folder / name).write_text(text.replace(page.viewer(), '<script src="viewer.js"></script>'), encoding="utf-8")
        up = "../" * self.env.docname.count("/")
        address = escape(f"{up}{FOLDER}/{name}#{self.options.get('hash', HASH)}")
        return f'<iframe src="{address}" title="{escape(label)}" loading="lazy"></iframe>'

    def run(self) -> list[nodes.Node]:
        found = super().run()
        found[0]["classes"] = ["view"]
        return found


def write_viewer(app: Sphinx, error: Exception | None) -> None:
    folder = Path(app.outdir, FOLDER)
    if error is None and folder.exists():
        (folder / "viewer.js").write_text(shared(), encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("view", View)
    app.connect("build-finished", write_viewer)
    return {"parallel_read_safe": True}
