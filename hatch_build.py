"""What the build adds: a description whose links work on a package index, and the compiled kernels."""

from __future__ import annotations

import importlib.util
import re
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

HOME = "https://github.com/cellworth/cellworth"
COMPILED = "src/cellworth/complete/compiled"
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


class CustomBuildHook(BuildHookInterface):  # type: ignore[misc]
    """Compiles the kernels where there is a C compiler; without one, the wheel is for any machine."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the library and put it into the wheel, for any Python 3 on this kind of machine."""
        spec = importlib.util.spec_from_file_location("build", Path(self.root) / COMPILED / "build.py")
        assert spec is not None
        assert spec.loader is not None
        compiled = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(compiled)
        library = compiled.build()
        if library is None:
            self.app.display_warning("no C compiler was found: NumPy will do the work of the kernels")
            return
        build_data["artifacts"].append(f"/{COMPILED}/{library.name}")
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{re.sub(r'[-.]', '_', sysconfig.get_platform())}"
