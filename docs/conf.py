"""How Sphinx builds the site: pages in Markdown, the reference from docstrings, the gallery from ``examples/``.

Nothing is fetched while building, and nothing while reading: formulas are MathML, and no script comes from elsewhere.
"""

import sys
import tomllib
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))
PROJECT = tomllib.loads((HERE.parent / "pyproject.toml").read_text())["project"]

project = "hullrank"
author = "The hullrank developers"
project_copyright = author
version = release = PROJECT["version"]

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "mathml",
    "plain_docstrings",
    "reference",
]
exclude_patterns = ["_build", "auto_examples/*.ipynb", "auto_examples/*.py", "api/backreferences"]
templates_path = ["_templates"]
suppress_warnings = ["toc.not_included"] if "singlehtml" in sys.argv else []

myst_enable_extensions = ["dollarmath", "colon_fence", "deflist", "attrs_block"]
myst_heading_anchors = 3
html_math_renderer = "mathml"

autosummary_generate = True
autodoc_typehints = "none"  # the docstrings say it in words
autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "backreferences_dir": "api/backreferences",
    "doc_module": ("hullrank",),
    "reference_url": {"hullrank": None},
    "within_subsection_order": "FileNameSortKey",
    "remove_config_comments": True,
    "show_memory": False,
    "abort_on_example_error": True,
    "parallel": 2,
    "min_reported_time": 1000,
}

html_theme = "pydata_sphinx_theme"
html_title = f"hullrank {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_sidebars = {
    page.stem: ["all-pages.html"] for page in HERE.glob("*.md") if page.stem not in ("index", "reproduction")
}
html_theme_options = {
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "show_toc_level": 2,
    "footer_start": ["copyright"],
    "footer_end": [],
    "navigation_with_keys": False,
    "icon_links": [{"name": "Source", "url": PROJECT["urls"]["Source"], "icon": "fa-brands fa-github"}],
}
