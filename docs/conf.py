"""Sphinx: `make docs` builds the site into docs/_build/html."""

import re
from importlib.metadata import version as version_of
from typing import Any

project = "scorecal"
author = "The scorecal developers"
copyright = "the scorecal developers"  # noqa: A001
release = version = version_of("scorecal")

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.mathjax", "sphinx.ext.napoleon"]
exclude_patterns = ["_build"]

myst_enable_extensions = ["amsmath", "dollarmath"]
myst_heading_anchors = 3

default_role = "py:obj"
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # docstrings say it in words
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = False

html_theme = "furo"
html_title = f"scorecal {version}"
html_static_path = ["_static"]
html_css_files = ["site.css"]


def setup(app: Any) -> None:
    app.connect("source-read", _as_pages)


def _as_pages(app: Any, name: str, source: list[str]) -> None:
    """What are files in the repository become pages of the site.

    Results of benchmarks lie outside docs/, tutorials are scripts, and tables of figures have no title. How to report a
    breach of security stays where a code host looks for it.
    """
    source[0] = source[0].replace("](../SECURITY.md)", "](https://github.com/scorecal/scorecal/blob/main/SECURITY.md)")
    source[0] = source[0].replace("](../benchmarks/results/", "](benchmarks/")
    source[0] = re.sub(r"\]\(((tutorials/)?\w+)\.py\)", r"](\1.md)", source[0])
    if name.startswith("reproduction/f"):
        source[0] = f"# Numbers of {name.removeprefix('reproduction/')}\n\n{source[0]}"
