"""The reference pages show what the package exports: all of it, and nothing else."""

import importlib
import re

import pytest

from tests.docs.pages import DOCS

PUBLIC = (
    "cellworth",
    "cellworth.errors",
    "cellworth.score",
    "cellworth.select",
    "cellworth.strategy",
    "cellworth.blocks",
    "cellworth.testing",
    "cellworth.web",
    "cellworth.datasets",
    "cellworth.theory",
)
"""The modules whose ``__all__`` is the public interface."""

MOST = 60  # public names in all
ENTRY = re.compile(r"^::: (cellworth[\w.]*)\n((?:    .*\n|\n)*)", re.MULTILINE)


def exported():
    """Return the public objects by the names under which they can be imported; submodules do not count."""
    found = {}
    for module_name in PUBLIC:
        module = importlib.import_module(module_name)
        for name in module.__all__:
            thing = getattr(module, name)
            if not (name.startswith("__") or type(thing).__name__ == "module"):
                found[f"{module_name}.{name}"] = thing
    return found


def documented():
    """Return what each entry ``::: name`` of the reference pages shows, by name: itself, or its members."""
    found = {}
    for page in sorted((DOCS / "reference").glob("*.md")):
        for entry, options in ENTRY.findall(page.read_text("utf-8") + "\n"):
            module_name, _, name = entry.rpartition(".")
            try:
                module = importlib.import_module(entry)
            except ModuleNotFoundError:
                found[entry] = getattr(importlib.import_module(module_name), name)
                continue
            if "members: []" in options:  # its own text only
                continue
            listed = re.search(r"members: \[(.*)\]", options)  # none: the text of the module alone
            members = re.findall(r"\w+", listed[1]) if listed else module.__all__
            found |= {f"{entry}.{member}": getattr(module, member) for member in members}
    return found


def key(thing):
    """Return what tells an object apart: two names of one thing are one public name."""
    return id(thing)


@pytest.fixture(scope="module")
def public():
    return exported()


def test_there_are_at_most_sixty_names(public):
    assert len({key(thing) for thing in public.values()}) <= MOST, sorted(public)


def test_every_public_name_is_on_a_reference_page(public):
    shown = {key(thing) for thing in documented().values()}
    assert sorted(name for name, thing in public.items() if key(thing) not in shown) == []


def test_nothing_else_is_on_a_reference_page(public):
    known = {key(thing) for thing in public.values()}
    assert sorted(name for name, thing in documented().items() if key(thing) not in known) == []
