import os
import sys
from pathlib import Path

from linkwise import __version__

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
os.environ["MATPLOTLIBRC"] = str(HERE / "matplotlibrc")  # of pictures in pages, and of the kernels that run notebooks

project = "Linkwise"
author = "The Linkwise authors"
copyright = "2026, The Linkwise authors"
release = version = __version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "extensions.formulas",
    "extensions.algorithms",
    "extensions.pictures",
    "extensions.live_views",
    "extensions.notebooks",
    "playground",
]
exclude_patterns = ["_build"]

html_theme = "furo"
html_title = f"Linkwise {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_math_renderer = "mathml"
html_copy_source = False

myst_enable_extensions = ["attrs_inline", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
myst_update_mathjax = False
nb_execution_mode = "force"  # the outputs that pages show are those of this library, today
nb_execution_raise_on_error = True
nb_execution_in_temp = True
nb_execution_timeout = 120
nb_merge_streams = True

default_role = "code"  # of docstrings
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
napoleon_google_docstring = True
napoleon_numpy_docstring = False
