"""How candidates did, as arrays, as a frame and as a plot."""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np

from cellworth.arrays import AnyArray
from cellworth.errors import ParameterError
from cellworth.model import average_names
from cellworth.model.cross_validation import Score
from cellworth.model.model_search import ChosenModel, DecidingRows
from cellworth.optional_packages import require

FrameLibrary = Literal["pandas", "polars", "pyarrow"]

SHOWN = {"complete_rows": "on complete rows", "at_hand": "on rows as they are"}


def results_arrays(chosen: ChosenModel, rows: DecidingRows) -> dict[str, AnyArray]:
    """Return one entry per candidate, in the order tried: name, both scores, rank, seconds and a note.

    Scores that are missing, of candidates that failed or were left out, are NaN; the note says why.
    """
    tried = chosen.tried
    waiting = len(chosen.left_out)
    found: dict[str, AnyArray] = {
        "name": np.array([*(each.candidate.name for each in tried), *chosen.left_out], dtype=object)
    }
    for kind in SHOWN:
        ends = np.full((len(tried) + waiting, 3), np.nan)
        for place, each in enumerate(tried):
            score: Score | None = getattr(each, kind)
            if score is not None:
                estimate = score.estimate()
                ends[place] = estimate.value, estimate.low, estimate.high
        found |= {kind: ends[:, 0], f"{kind}_low": ends[:, 1], f"{kind}_high": ends[:, 2]}
    ranks = np.array([*(each.rank(rows) for each in tried), *([np.nan] * waiting)])
    ranks[tried.index(chosen.best)] = np.inf
    order = np.argsort(np.where(np.isnan(ranks), np.inf, -ranks), kind="stable")
    found["rank"] = np.empty(len(ranks), dtype=np.intp)
    found["rank"][order] = np.arange(1, len(ranks) + 1)
    found["seconds"] = np.array([*(each.seconds for each in tried), *([np.nan] * waiting)])
    notes = [each.reason for each in tried] + ["left out: no time"] * waiting
    found["note"] = np.array(notes, dtype=object)
    return found


def best_first(results: dict[str, AnyArray]) -> dict[str, AnyArray]:
    """Return the results by rank: the chosen one first, those without a score last."""
    order = np.argsort(results["rank"], kind="stable")
    return {name: values[order] for name, values in results.items()}


def to_results_frame(results: dict[str, AnyArray], library: FrameLibrary) -> Any:
    """Return the results as a frame, best first."""
    if library not in get_args(FrameLibrary):
        raise ParameterError(f"frame must be one of {', '.join(get_args(FrameLibrary))}; got {library!r}")
    columns = {name: values.tolist() for name, values in best_first(results).items()}
    import narwhals  # only when a frame is wanted

    return narwhals.from_dict(columns, backend=require(library)).to_native()


def plot_results(results: dict[str, AnyArray], best: str, metric: str, ax: Any) -> Any:
    """Draw both scores of each candidate as dots with 95 % intervals, the best at the top."""
    pyplot = require("matplotlib.pyplot")
    if ax is None:
        _, ax = pyplot.subplots(figsize=(7, 1 + 0.4 * len(results["name"])), layout="constrained")
    scored = np.flatnonzero(~np.isnan(results["complete_rows"]))
    order = scored[np.argsort(-results["rank"][scored], kind="stable")]
    for shift, (kind, words) in zip((0.12, -0.12), SHOWN.items(), strict=True):
        value, low, high = (results[f"{kind}{end}"][order] for end in ("", "_low", "_high"))
        ax.errorbar(
            value,
            np.arange(len(order)) + shift,
            xerr=np.maximum([value - low, high - value], 0),
            fmt="o" if kind == "complete_rows" else "s",
            markersize=5,
            capsize=2,
            label=words,
        )
    names = [str(results["name"][k]) for k in order]
    ax.set_yticks(np.arange(len(order)), [average_names.shown(name) for name in names])
    for label, name in zip(ax.get_yticklabels(), names, strict=True):
        label.set_fontweight("bold" if name == best else "normal")
    ax.set_xlabel(f"{metric}, with 95 % intervals")
    ax.grid(axis="x", alpha=0.3)
    ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, frameon=False)  # beside the intervals
    return ax
