"""A table at a glance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from cellworth.table.column import KINDS, Column
from cellworth.table.source import Bools
from cellworth.table.target import Target
from cellworth.wording import listing, shorten


def summary(columns: Sequence[Column], holes: Bools, target: Target | None) -> str:
    """Say how many rows, columns of each kind and holes there are, and what the target is."""
    counts = Counter(column.kind for column in columns)
    kinds = ", ".join(f"{counts[kind]} {kind}" for kind in KINDS if counts[kind])
    n_holes, n_cells = int(holes.sum()), holes.size
    lines = [
        f"Table of {_count(holes.shape[0], 'row')} and {_count(len(columns), 'column')} ({kinds})",
        f"  holes: {n_holes} of {n_cells} cells ({n_holes / n_cells:.1%})".replace("%)", " %)"),
        "  target: none" if target is None else f"  target: {_describe(target)}",
    ]
    return "\n".join(lines)


def _describe(target: Target) -> str:
    words = f"{shorten(target.name)}, {target.kind}"
    if target.classes is not None:
        words += f": {listing(target.classes, most=5)}"
    missing = int(np.isnan(target.values).sum())
    return words if not missing else f"{words}; {_count(missing, 'label')} missing"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
