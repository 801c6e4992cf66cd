"""How `make docs` builds the site: pages in Markdown, the API reference from the docstrings.

The build is strict. Besides broken links, a warning, and so a failure, is every public module that no page
documents, every name of `duels.__all__` that is not on the site, and every public class, function, method or
property without a docstring.
"""

import pkgutil
from importlib import import_module
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.util import logging

project = "duels"
author = "the duels authors"
copyright = "the duels authors"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.autosummary"]
exclude_patterns = ["requirements.txt"]
html_theme = "furo"
html_title = "duels"
html_copy_source = False

myst_heading_anchors = 3  # links to headings work here as they do on GitHub

default_role = "code"  # docstrings are written with single backticks
autodoc_default_options = {"members": True, "undoc-members": True}
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
add_module_names = False
toc_object_entries_show_parents = "hide"

PUBLIC = ("core", "games", "players", "play", "analysis", "vector", "envs")
"""What people may import from: every module of these packages is on a page under `api/`."""
INSIDE = ("duels.games.", "duels.envs.kernels", "duels.envs.gymnasium.", "duels.envs.pettingzoo.")
"""How the public packages are built: a game's own room, and parts that a package shows under its own name."""
INTERNAL = {f"duels.envs.{name}" for name in ("batch", "compiled", "dice", "engine", "tabled", "vector")}

log = logging.getLogger(__name__)


def public_modules() -> set[str]:
    """The modules that must be documented."""
    found = {"duels"}
    for name in PUBLIC:
        module = import_module(f"duels.{name}")
        path = getattr(module, "__path__", None)
        inside = pkgutil.walk_packages(path, f"{module.__name__}.") if path else ()
        found |= {module.__name__, *(each.name for each in inside)}
    return {name for name in found if not name.startswith(INSIDE)} - INTERNAL


def undocumented(app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Warn of whatever has no docstring, its own or inherited; data may explain itself by its type."""
    ours = (getattr(thing, "__module__", None) or project).startswith(project)
    if ours and what not in ("attribute", "data") and not any(lines):
        warn("%s has no docstring", name)


def unmentioned(app: Sphinx, env: Any) -> None:
    """Warn of public modules and names that no page documents."""
    import duels

    domain = env.domains.python_domain
    for name in sorted(public_modules() - set(domain.modules)):
        warn("no page documents the module %s", name)
    index = Path(app.srcdir, "api", "index.md").read_text(encoding="utf-8")
    for name in duels.__all__:
        if f"[`{name}`]" not in index:
            warn("api/index.md does not list duels.%s", name)


def warn(message: str, name: str) -> None:
    log.warning(message, name, type=project, subtype="undocumented")


def setup(app: Sphinx) -> None:
    app.connect("autodoc-process-docstring", undocumented)
    app.connect("env-check-consistency", unmentioned)
