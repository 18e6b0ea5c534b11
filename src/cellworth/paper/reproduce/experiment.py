"""An experiment is a list of runs, each of which gives rows of figures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from cellworth.paper.reproduce.settings import Settings

Row = dict[str, Any]


class Run(NamedTuple):
    """One method on one table with one share of observed cells and one seed."""

    dataset: str
    observed: float
    method: str
    seed: int


@dataclass(frozen=True)
class Experiment:
    """One experiment; its results are kept in one file.

    Attributes
    ----------
    name : str
        Of its file.
    figures : dict of str to type
        What a row holds beside the fields of its `Run`: int or float.
    runs : callable
        Returns the runs that the settings ask for.
    perform : callable
        Makes the rows of one run. They depend on the run and the settings alone.
    relevant : callable
        Returns those settings on which the rows depend, for the file.
    """

    name: str
    figures: dict[str, type]
    runs: Callable[[Settings], list[Run]]
    perform: Callable[[Run, Settings], list[Row]]
    relevant: Callable[[Settings], dict[str, Any]]


def steady(value: float) -> float:
    """Return a figure to nine digits: BLAS may round the last ones otherwise from process to process."""
    return float(f"{value:.9g}")
