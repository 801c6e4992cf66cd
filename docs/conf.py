"""How `make docs` builds the site: pages in Markdown, the API reference from the docstrings.

The build is strict. Besides broken links, a warning, and so a failure, is every public module that no page
documents, every name of `duels.__all__` that is not on the site, and every public class, function, method or
property without a docstring.
"""

import pkgutil
import sys
from importlib import import_module
from pathlib import Path
from types import FunctionType
from typing import Any

from sphinx.application import Sphinx
from sphinx.util import logging

project = "duels"
author = "the duels authors"
copyright = "the duels authors"
extensions = ["myst_parser", "sphinx.ext.autodoc"]
exclude_patterns = ["requirements.txt"]
html_theme = "furo"
html_title = "duels"
html_copy_source = False

myst_heading_anchors = 3  # links to headings work here as they do on GitHub

default_role = "code"  # docstrings are written with single backticks
autodoc_default_options = {"members": True, "undoc-members": True}
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
autodoc_mock_imports = ["jax"]  # too large to be installed for its name alone
add_module_names = False
maximum_signature_line_length = 100
toc_object_entries_show_parents = "hide"

ROOMS = ("core", "games", "players", "play", "analysis")
"""Packages that people may import from: a page under `api/` documents every module in them."""
DOORS = (
    "duels",
    "duels.vector",
    *(
        f"duels.envs{door}"
        for door in ("", ".conformance", ".gymnasium", ".jax", ".openspiel", ".pettingzoo")
    ),
)
"""Modules that people may import from, in packages whose other modules are nobody's business."""

log = logging.getLogger(__name__)


def public_modules() -> set[str]:
    """The modules that must be documented."""
    rooms = [import_module(f"duels.{room}") for room in ROOMS]
    inside = {
        f"{room.__name__}.{module.name}"
        for room in rooms
        for module in pkgutil.iter_modules(room.__path__)
        if not module.ispkg  # a game's own room
    }
    return {room.__name__ for room in rooms} | inside | set(DOORS)


def explain(app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Name the method that an adapter implements; warn of whatever else has no docstring, or inherits none.

    Data may explain itself by its type.
    """
    if framework := implemented(thing):
        lines[:] = [f"Implements `{framework}`.", ""]
    ours = (getattr(thing, "__module__", None) or project).startswith(project)
    if ours and what not in ("attribute", "data") and not any(lines):
        warn("%s has no docstring", name)


def implemented(thing: Any) -> str | None:
    """The method of another library that `thing`, which has no docstring of its own, implements."""
    method = getattr(thing, "fget", thing)
    if not isinstance(method, FunctionType) or method.__doc__:
        return None
    *path, name = method.__qualname__.split(".")
    owner: Any = sys.modules[method.__module__]
    for part in path:
        owner = getattr(owner, part, None)
    for base in getattr(owner, "__mro__", ()):
        if name in vars(base) and base.__module__.split(".")[0] not in (project, "builtins"):
            return f"{base.__module__}.{base.__qualname__}.{name}"
    return None


def readable(
    app: Sphinx, what: str, name: str, thing: Any, options: Any, signature: str | None, result: str | None
) -> tuple[str | None, str | None]:
    """Write a default that a dataclass makes anew as `...`: Sphinx cannot read `<factory>`."""
    return signature and signature.replace("<factory>", "..."), result


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
    app.connect("autodoc-process-docstring", explain)
    app.connect("autodoc-process-signature", readable)
    app.connect("env-check-consistency", unmentioned)
