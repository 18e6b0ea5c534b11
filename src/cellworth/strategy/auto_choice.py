"""What `auto` chooses a strategy for, what it chose, why, and how sure it is."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from cellworth.arrays import BoolArray, Float64Array, IntArray
from cellworth.errors import DataError
from cellworth.prices import PriceList, Prices
from cellworth.shown_numbers import in_english, shown
from cellworth.table import ColumnLayout, Table
from cellworth.table.target import LabelKind, Metric, label_kind_of

CompleterName = Literal["Gaussian", "supervised"]


@dataclass(frozen=True, eq=False)
class BuyingTask:
    """A table at the start of its purchases.

    Attributes
    ----------
    X : (n, d) array
        The encoded table, NaN in its holes.
    y : (n,) array or None
        The labels, NaN where missing.
    layout : ColumnLayout
        The cell that each column of X belongs to.
    target : {"classes", "number"} or None
    prices : PriceList
        Of the n x p cells, known or not; not of labels.
    seed : int
    in_blocks : bool
        Whether these are some rows of a table in row blocks, on which not every part runs.
    """

    X: Float64Array
    y: Float64Array | None
    layout: ColumnLayout
    target: LabelKind | None
    prices: PriceList
    seed: int
    in_blocks: bool = False

    @classmethod
    def of(cls, table: Table, prices: Prices | None, seed: int) -> BuyingTask:
        """Return the task of a table; without prices every cell costs 1."""
        return cls(
            table.encode(prior=True).X,
            table.y,
            table.layout,
            label_kind_of(table.target),
            (prices or Prices.same(1.0)).on(table).of_cells(),
            seed,
        )

    @property
    def is_number(self) -> bool:
        """Whether the target is a number."""
        return self.target == "number"

    @property
    def known(self) -> BoolArray:
        """The known cells, (n, p)."""
        return self.layout.known(self.X)

    @property
    def labelled(self) -> IntArray:
        """The rows with a label."""
        return np.zeros(0, dtype=np.intp) if self.y is None else np.flatnonzero(~np.isnan(self.y))


@dataclass(frozen=True)
class Lead:
    """By how much one alternative was ahead of another.

    Attributes
    ----------
    value : float
        Mean difference of AUC or R2.
    error : float
        Its standard error.
    won, plays : int
        The plays in which it was ahead, and all of them; both 0 if the lead is that of a cross-validation.
    """

    value: float
    error: float
    won: int = 0
    plays: int = 0

    @property
    def errors(self) -> float:
        """The lead in standard errors."""
        if self.error > 0:
            return self.value / self.error
        return math.copysign(math.inf, self.value) if self.value else 0.0

    @property
    def probability(self) -> float:
        """How probable it is that the lead is not by chance, for normal errors: 0.5 means a toss-up."""
        return (1 + math.erf(self.errors / math.sqrt(2))) / 2


@dataclass(frozen=True)
class StrategyChoice:
    """What `auto` chose on a table before the first purchase.

    Attributes
    ----------
    strategy : str
        The name of the chosen strategy.
    fallback : str
        The strategy that is chosen unless another is clearly ahead.
    completer : {"Gaussian", "supervised"}
        What fills the holes that the model is trained on.
    model : str
        The model chosen by cross-validation, which the strategies were compared for; "" if there is none.
    metric : {"AUC", "R2"}
    rival : str
        The strategy that played against the fallback.
    lead : Lead or None
        By how much the rival was ahead of the fallback on known cells that were hidden and bought back; None
        if there was too little to play with.
    needed : float
        The lead that was asked for, in standard errors.
    completer_lead : Lead or None
        By how much the model scored higher on the supervised completion, in cross-validation.
    note : str
        Why nothing was played; "" if something was.

    Examples
    --------
    >>> choice = StrategyChoice(
    ...     strategy="linear-impact", fallback="recommended", completer="Gaussian",
    ...     model="logistic regression", metric="AUC", rival="linear-impact",
    ...     lead=Lead(0.021, 0.008, 7, 8), needed=1.0,
    ... )
    >>> choice.sentence.startswith("auto chose linear-impact for a logistic regression")
    True
    >>> round(choice.sure, 3)
    0.996
    """

    strategy: str
    fallback: str
    completer: CompleterName
    model: str
    metric: Metric
    rival: str
    lead: Lead | None
    needed: float
    completer_lead: Lead | None = None
    note: str = ""

    @property
    def fell_back(self) -> bool:
        """Whether the fallback was chosen."""
        return self.strategy == self.fallback

    @property
    def sure(self) -> float | None:
        """How probable it is, by the plays, that the chosen strategy is the better; None without plays."""
        if self.lead is None:
            return None
        return 1 - self.lead.probability if self.fell_back else self.lead.probability

    @property
    def sentence(self) -> str:
        """What was chosen, why, and how sure that is."""
        parts = [self._of_strategy()]
        if self.completer_lead is not None:
            parts.append(self._of_completer(self.completer_lead))
        return " ".join(parts)

    def __str__(self) -> str:
        return self.sentence

    def to_json(self) -> dict[str, Any]:
        """Return it as plain data, with the sentence."""
        with in_english():
            return {**asdict(self), "sentence": self.sentence}

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> StrategyChoice:
        """Undo `to_json`; raise DataError if the data are damaged."""
        try:
            leads = {
                name: None if stored[name] is None else Lead(**stored[name])
                for name in ("lead", "completer_lead")
            }
            return cls(**{name: each for name, each in stored.items() if name != "sentence"} | leads)
        except (KeyError, TypeError) as error:
            raise DataError(
                f"the recorded choice of a strategy is damaged ({error}); restore the store from a backup."
            ) from None

    def _of_strategy(self) -> str:
        if self.lead is None:
            return f"auto chose {self.strategy}, its fallback: {self.note}."
        lead, sure = self.lead, 100 * (self.sure or 0.0)
        of_model = f"for {_with_article(self.model)}"
        played = (
            f"minus that of {self.fallback} was {_in_words(lead)}, ahead in {lead.won} of {lead.plays} plays"
        )
        if not self.fell_back:
            return (
                f"auto chose {self.strategy} {of_model}: with cells hidden and bought back, its "
                f"{self.metric} {played} ({shown(sure, '.3g')} % sure)."
            )
        return (
            f"auto chose {self.strategy}, its fallback, {of_model}: with cells hidden and bought back, the "
            f"{self.metric} of {self.rival} {played}; a lead of {shown(self.needed, 'g')} standard errors "
            "was needed."
        )

    def _of_completer(self, lead: Lead) -> str:
        chosen = "the joint Gaussian" if self.completer == "Gaussian" else "SupervisedCompleter"
        return (
            f"Holes are filled by {chosen}: in cross-validation, SupervisedCompleter changed the model's "
            f"{self.metric} by {_in_words(lead)}."
        )


def _in_words(lead: Lead) -> str:
    return f"{shown(lead.value, '+.3f')} ± {shown(lead.error, '.3f')}"


def _with_article(model: str) -> str:
    return model if model.endswith("s") else f"a {model}"
