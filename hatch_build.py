"""The README as a package index shows it: its links and pictures point to the repository."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

HOME = "https://github.com/cellworth/cellworth"
_LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!https?:|#|mailto:)([^)\s]+)\)")


def for_package_index(text: str) -> str:
    """Return Markdown whose relative links are absolute: pages are shown there, pictures are fetched raw."""

    def absolute(link: re.Match[str]) -> str:
        picture, words, path = link.groups()
        view = "raw" if picture else "blob"
        return f"{picture}[{words}]({HOME}/{view}/main/{path})"

    return _LINK.sub(absolute, text)


class CustomMetadataHook(MetadataHookInterface):  # type: ignore[misc]
    """Sets the description of the package."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the readme."""
        text = (Path(self.root) / "README.md").read_text("utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": for_package_index(text)}
