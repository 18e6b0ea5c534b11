"""Figures as files and as SVG: the same figure gives the same bytes."""

from __future__ import annotations

import io
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cellworth.optional import require

KNOWN, BOUGHT, FAINT = "#0072B2", "#E69F00", "#7F7F7F"
"""Told apart by most of those who see few colours (Okabe and Ito)."""


def new_figure(width: float, height: float) -> Any:
    """Return an empty figure, sizes in inches; MissingDependencyError without matplotlib."""
    return require("matplotlib.figure").Figure(figsize=(width, height), layout="constrained")


def save(figure: Any, paths: Sequence[Path]) -> None:
    """Save a figure under each path; letters are drawn."""
    for path in paths:
        _write(figure, path, path.suffix.removeprefix("."), text="path")


def to_svg(figure: Any) -> bytes:
    """Return a figure as SVG; letters stay letters, for the reader's fonts have more of them."""
    out = io.BytesIO()
    _write(figure, out, "svg", text="none", transparent=True)
    return out.getvalue()


def _write(figure: Any, target: Any, kind: str, text: str, transparent: bool = False) -> None:
    matplotlib = require("matplotlib")
    undated = {"Date": None} if kind == "svg" else {}
    settings = {"svg.hashsalt": "cellworth", "svg.fonttype": text}
    with matplotlib.rc_context(settings), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from")
        figure.savefig(target, format=kind, dpi=150, metadata=undated, transparent=transparent)
