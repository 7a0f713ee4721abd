"""Tutorials are notebooks: run when pages are built, with pictures in the page's colours, and for download."""

import json
import logging
import os
import re
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx

from extensions.pictures import inline

LIVE = re.compile(r"```\{view\}.*?\n```\n", flags=re.DOTALL)  # views of the site, which need its files
LINK = re.compile(r"\[([^\]]*)\]\((?!https?:)[^)]*\)")  # to other pages, which a downloaded notebook has not beside it
PROFILE = """
c.InlineBackend.figure_formats = {"svg"}
c.InlineBackend.print_figure_kwargs = {}
c.InlineBackend.rc = {}
c.HistoryManager.enabled = False
c.Application.log_level = 40
"""


def write_profile(app: Sphinx) -> None:
    """Settings of the kernels that run notebooks: figures are drawn as SVG."""
    folder = Path(app.outdir).parent / "ipython"
    profile = folder / "profile_default"
    profile.mkdir(parents=True, exist_ok=True)
    (profile / "ipython_kernel_config.py").write_text(PROFILE)
    os.environ["IPYTHONDIR"] = str(folder)


def inline_pictures(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Put the figures that notebooks drew into the page itself."""
    for image in list(doctree.findall(nodes.image)):
        path = Path(app.srcdir, image["uri"])
        if path.suffix == ".svg" and "jupyter_execute" in path.parts:
            raw = nodes.raw("", inline(path.read_text(encoding="utf-8"), image.get("alt", "")), format="html")
            image.replace_self(nodes.container("", raw, classes=["picture"]))


def clean_downloads(app: Sphinx, *_: object) -> None:
    """Take links to other pages out of the notebooks that readers download."""
    for path in Path(app.outdir).parent.glob("jupyter_execute/**/*.ipynb"):
        notebook = json.loads(path.read_text(encoding="utf-8"))
        for cell in notebook["cells"]:
            if cell["cell_type"] == "markdown":
                cell["source"] = LINK.sub(r"\1", LIVE.sub("", "".join(cell["source"])))
        path.write_text(json.dumps(notebook, indent=1), encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    logging.getLogger("traitlets").setLevel(logging.WARNING)  # one line for each notebook is not news
    app.connect("builder-inited", write_profile)
    app.connect("doctree-resolved", inline_pictures)
    app.connect("env-updated", clean_downloads)
    return {"parallel_read_safe": True}
