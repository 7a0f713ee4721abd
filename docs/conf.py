import sys
from importlib.metadata import version as installed_version
from pathlib import Path

import linkwise as lw

sys.path.insert(0, str(Path(__file__).parent))

project = "Linkwise"
author = "The Linkwise authors"
copyright = "2026, The Linkwise authors"
release = version = installed_version("linkwise")

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "playground"]
exclude_patterns = ["_build"]

html_theme = "furo"
html_title = f"Linkwise {release}"

myst_enable_extensions = ["deflist", "dollarmath"]
myst_heading_anchors = 3
nb_execution_mode = "off"

autodoc_member_order = "bysource"
napoleon_google_docstring = True
napoleon_numpy_docstring = False


def with_algorithms(app, docname, source):
    """Put all algorithms, which are no functions to autodoc, into the page of public names."""
    lines = []
    for name in lw.algorithms.__all__:
        a = getattr(lw.algorithms, name)
        if isinstance(a, lw.Algorithm):
            options = ["*", *a.static] if a.static else []
            call = f"linkwise.algorithms.{name}({', '.join([*a.inputs, *options])})"
            lines.append(f".. autofunction:: {call} -> {', '.join(a.outputs)}")
    source[0] = source[0].replace("ALGORITHMS", "\n\n".join(lines))


def setup(app):
    app.connect("source-read", with_algorithms)
