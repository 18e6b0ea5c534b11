"""Settings the paper leaves open: tables, repeats, batches and the committee, with defaults."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

from cellworth.errors import ParameterError
from studies.protocol import DATASETS

DEFAULT_COMMITTEE = ("LMaFit", "NNLS", "Gaussian")
"""The names of `cellworth.complete.committee_completer.default_members`, in the same order."""

MEMBERS = (*DEFAULT_COMMITTEE, "SoftImpute", "OptSpace")
"""All names; the last two use their defaults, search for the rank and take longer."""


@dataclass(frozen=True)
class Schedule:
    """How the missing cells are bought.

    Attributes
    ----------
    rounds : int
        Number of rounds, each buying one batch.
    batch : float
        Batch size, as a share of the cells missing at the start or, if cells have prices, of their total
        price.
    """

    rounds: int
    batch: float

    def __post_init__(self) -> None:
        if self.rounds < 1 or not 0 < self.batch <= 1:
            raise ParameterError(
                "rounds must be at least 1, and batch a share above 0 and at most 1, such as 0.05 for 5 %; "
                f"got {self.rounds} and {self.batch}"
            )


@dataclass(frozen=True)
class Settings:
    """What a reproduction runs.

    Attributes
    ----------
    datasets : names, default=all six
    repeats : int, default=10
        Random splits, as in the paper; their seeds are 0, 1, ...
    curves : Schedule, default=20 rounds of 5 %
        For Figure 1 and Table 2: every cell is bought in the end.
    prices : Schedule, default=20 rounds of 2.5 %
        For Figure 2: half of the money, where the curves differ most.
    windows : Schedule, default=30 rounds of 2 %
        For Figure 3: a window of 16 differs from all completions only from round 17 on.
    committee : names, default=("LMaFit", "NNLS", "Gaussian")
        The committee members of QBC and Stability, from `MEMBERS`.
    with_auto : bool, default=False
        Whether to include `AutoCompleter` in Table 1; it takes longer than all others together.
    rows : int or None, default=None
        Most rows of each table, drawn at random, the same for all seeds; None means all.

    Examples
    --------
    >>> Settings(datasets=("letter",), repeats=3).seeds
    range(0, 3)
    >>> Settings.quick().rows
    300
    """

    datasets: tuple[str, ...] = DATASETS
    repeats: int = 10
    curves: Schedule = Schedule(20, 0.05)
    prices: Schedule = Schedule(20, 0.025)
    windows: Schedule = Schedule(30, 0.02)
    committee: tuple[str, ...] = DEFAULT_COMMITTEE
    with_auto: bool = False
    rows: int | None = None

    def __post_init__(self) -> None:
        _check_names("datasets", self.datasets, DATASETS, least=1)
        _check_names("committee", self.committee, MEMBERS, least=2)
        if self.repeats < 1:
            raise ParameterError(f"repeats must be at least 1; got {self.repeats}")
        if self.rows is not None and self.rows < 100:
            raise ParameterError(f"rows must be None or at least 100; got {self.rows}")

    @classmethod
    def quick(cls) -> Self:
        """Return settings for a quick look: few rows, few rounds, no `AutoCompleter`."""
        return cls(
            repeats=2,
            curves=Schedule(4, 0.25),
            prices=Schedule(3, 0.15),
            windows=Schedule(5, 0.1),
            with_auto=False,
            rows=300,
        )

    def but(
        self,
        *,
        datasets: Sequence[str] | None = None,
        repeats: int | None = None,
        rounds: int | None = None,
        batch: float | None = None,
        committee: Sequence[str] | None = None,
    ) -> Self:
        """Return settings with the given changes; rounds and batch apply to all experiments on buying."""

        def changed(schedule: Schedule) -> Schedule:
            return Schedule(
                schedule.rounds if rounds is None else rounds, schedule.batch if batch is None else batch
            )

        return replace(
            self,
            datasets=self.datasets if datasets is None else tuple(datasets),
            repeats=self.repeats if repeats is None else repeats,
            curves=changed(self.curves),
            prices=changed(self.prices),
            windows=changed(self.windows),
            committee=self.committee if committee is None else tuple(committee),
        )

    @property
    def seeds(self) -> range:
        """The seeds of the repeats."""
        return range(self.repeats)


def _check_names(name: str, given: Sequence[str], known: Sequence[str], least: int) -> None:
    unknown = [each for each in given if each not in known]
    if unknown or len(given) < least or len(set(given)) < len(given):
        raise ParameterError(
            f"{name} must be at least {least} of {', '.join(known)}, each once; got "
            f"{', '.join(map(repr, given)) or 'none'}"
        )
