from importlib.metadata import version as installed_version

project = "Linkwise"
author = "The Linkwise authors"
copyright = "2026, The Linkwise authors"
release = version = installed_version("linkwise")

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build"]

html_theme = "furo"
html_title = f"Linkwise {release}"

myst_enable_extensions = ["deflist", "dollarmath"]
myst_heading_anchors = 3
nb_execution_mode = "off"

autodoc_member_order = "bysource"
napoleon_google_docstring = True
napoleon_numpy_docstring = False
