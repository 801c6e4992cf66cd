"""Sphinx configuration: pages in Markdown, the API reference from docstrings.

The build fails on broken links, on public modules without a page, on names of `duels.__all__` that are
missing from the site, and on public classes, functions, methods and properties without a docstring.
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

myst_heading_anchors = 3  # links to headings work as on GitHub

default_role = "code"  # docstrings are written with single backticks
autodoc_default_options = {"members": True, "undoc-members": True}
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
autodoc_mock_imports = ["jax"]  # too large to install for its name alone
add_module_names = False
maximum_signature_line_length = 100
toc_object_entries_show_parents = "hide"

DOCUMENTED_PACKAGES = ("core", "games", "players", "play", "analysis")
"""Public packages: a page under `api/` documents every module in them."""
PUBLIC_MODULES = (
    "duels",
    "duels.vector",
    *("duels.arena.text_seat", "duels.integrations.seat", "duels.integrations.tasks"),
    *(
        f"duels.envs{suffix}"
        for suffix in ("", ".conformance", ".gymnasium", ".jax", ".openspiel", ".pettingzoo")
    ),
)
"""Public modules of packages whose other modules are private."""

log = logging.getLogger(__name__)


def public_modules() -> set[str]:
    """Return the modules that must be documented."""
    packages = [import_module(f"duels.{name}") for name in DOCUMENTED_PACKAGES]
    modules = {
        f"{package.__name__}.{module.name}"
        for package in packages
        for module in pkgutil.iter_modules(package.__path__)
        if not module.ispkg  # a game's own package
    }
    return {package.__name__ for package in packages} | modules | set(PUBLIC_MODULES)


def complete_docstring(app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Name the framework method that an adapter implements; warn of other missing docstrings.

    Data and attributes need no docstring.
    """
    if framework := implemented_method(thing):
        lines[:] = [f"Implements `{framework}`.", ""]
    ours = (getattr(thing, "__module__", None) or project).startswith(project)
    if ours and what not in ("attribute", "data") and not any(lines):
        warn("%s has no docstring", name)


def implemented_method(thing: Any) -> str | None:
    """Return the name of the library method that `thing` implements without a docstring of its own."""
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


def simplify_signature(
    app: Sphinx, what: str, name: str, thing: Any, options: Any, signature: str | None, result: str | None
) -> tuple[str | None, str | None]:
    """Replace `<factory>`, which Sphinx cannot parse, by `...`."""
    return signature and signature.replace("<factory>", "..."), result


def check_completeness(app: Sphinx, env: Any) -> None:
    """Warn of public modules and names without documentation."""
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
    app.connect("autodoc-process-docstring", complete_docstring)
    app.connect("autodoc-process-signature", simplify_signature)
    app.connect("env-check-consistency", check_completeness)
