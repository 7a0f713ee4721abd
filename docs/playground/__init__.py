"""The playground, an extension of Sphinx: it writes the page playground/page.html beside those of the documentation."""

from pathlib import Path


def setup(app):
    app.connect("build-finished", write)
    return {"parallel_read_safe": True}


def write(app, error):
    """Write the page, once all others are there."""
    if error or app.builder.format != "html":
        return
    from playground.build import page

    folder = Path(app.outdir) / "playground"
    folder.mkdir(exist_ok=True)
    (folder / "page.html").write_text(page("../index.html"), encoding="utf-8")
