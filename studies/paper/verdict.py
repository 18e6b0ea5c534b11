"""Claims, their cases, and the rule that decides them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from studies.paper.samples import Interval


class Outcome(StrEnum):
    """The verdict on a claim."""

    HOLDS = "holds"
    IN_PART = "holds in part"
    FAILS = "does not hold"
    UNTOLD = "cannot be told"


Strength = Literal["always", "mostly"]

RULES: dict[Strength, str] = {
    "always": "holds if no case contradicts it and more than half confirm it",
    "mostly": "holds if more than half of the cases confirm it",
}
BY_RECIPE = ", the others by their authors' recipes"
"""How the second verdict on a claim differs from the first, in which they have what serves them better."""

FAILS_IF = "does not hold if no case confirms it or at least half contradict it; else it holds in part"


@dataclass(frozen=True)
class Case:
    """One comparison that bears on a claim.

    Attributes
    ----------
    name : str
        Which table, share or method.
    margin : Interval
        How far the figures favour the claim, with a 95 % interval of the mean over seeds: entirely above
        zero confirms, entirely below contradicts, otherwise the case is undecided.
    note : str
        The figures in words.
    """

    name: str
    margin: Interval
    note: str

    @property
    def sign(self) -> int:
        """1 if it confirms the claim, -1 if it contradicts it, 0 if it is undecided."""
        return int(self.margin.above_zero) - int(self.margin.below_zero)


@dataclass(frozen=True)
class Claim:
    """A claim with its cases.

    Attributes
    ----------
    part : str
        The table or figure of the paper.
    text : str
        The claim in our words.
    measured : str
        What a case compares.
    cases : tuple of Case
    strength : {"always", "mostly"}
        See `RULES`.
    ours : bool
        Whether the claim is ours and not the paper's.
    """

    part: str
    text: str
    measured: str
    cases: tuple[Case, ...]
    strength: Strength
    ours: bool = False

    def count(self, sign: int) -> int:
        """Return how many cases confirm (1), contradict (-1) or are undecided (0)."""
        return sum(case.sign == sign for case in self.cases)

    @property
    def outcome(self) -> Outcome:
        """The verdict, by the rule of the claim's strength."""
        decided = [case for case in self.cases if case.margin.half == case.margin.half]  # NaN from one seed
        if not decided:
            return Outcome.UNTOLD
        for_it, against, half = self.count(1), self.count(-1), len(self.cases) / 2
        if for_it > half and (against == 0 or self.strength == "mostly"):
            return Outcome.HOLDS
        if for_it == 0 or against >= half:
            return Outcome.FAILS
        return Outcome.IN_PART

    @property
    def counts(self) -> str:
        """The counts in words."""
        if self.outcome == Outcome.UNTOLD:
            return f"{len(self.cases)} cases, and no intervals from a single seed"
        counts = f"{self.count(1)} of {len(self.cases)} confirm, {self.count(-1)} contradict, "
        beyond = "" if self.count(1) or self.count(-1) else ": no difference beyond noise"
        return f"{counts}{self.count(0)} undecided{beyond}"


@dataclass(frozen=True)
class Check:
    """A bound on the distance to the paper's figures, counted over the entries of a table.

    Attributes
    ----------
    text : str
    entries : int
    misses : tuple of str
        The entries beyond the bound, with their figures.
    allowed : int
        Number of misses allowed.
    """

    text: str
    entries: int
    misses: tuple[str, ...]
    allowed: int

    @property
    def passed(self) -> bool:
        """Whether there are entries, and no more misses than allowed."""
        return self.entries > 0 and len(self.misses) <= self.allowed

    @property
    def counts(self) -> str:
        """The counts in words."""
        return f"{self.entries - len(self.misses)} of {self.entries} within, {self.allowed} misses allowed"


def points(value: Interval, digits: int = 2) -> str:
    """Return a difference of shares in percentage points, such as "+0.42 ± 0.10 points"."""
    return f"{100 * value.mean:+.{digits}f} ± {100 * value.half:.{digits}f} points"


def signed(value: Interval, digits: int = 4) -> str:
    """Return a difference in its own unit, such as "+0.0042 ± 0.0010"."""
    return f"{value.mean:+.{digits}f} ± {value.half:.{digits}f}"


def shifted(value: Interval, by: float) -> Interval:
    """Return an interval moved by a constant."""
    return Interval(value.mean + by, value.half)
