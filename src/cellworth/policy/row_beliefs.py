"""What is believed of new rows: joint draws of their missing cells, and the model's outputs for them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np

from cellworth.arrays import Float64Array
from cellworth.blocks.thread_engine import one_core
from cellworth.errors import ParameterError
from cellworth.model.completing_models import CompletingClassifier, CompletingRegressor
from cellworth.model.discrete_draws import FEW_VALUES, category_offsets
from cellworth.model.feature_views import can_draw, sample_alike
from cellworth.model.fitted_model import FittedModel
from cellworth.policy.information import DEGREE, Information
from cellworth.table import ColumnLayout

UNCONDITIONAL = 4000
"""Draws of a row without any known cell, which say how often a draw is above a level."""
CHANCE = 1e-3
"""What tells equal draws of a category apart, in units of the draws' range."""
AT_ONCE = 40_000
"""Most drawn rows to predict at once, for bounded memory."""
BASES_AT_ONCE = 20_000_000
"""Most numbers of `Information.bases` at once: one wide category makes those of all cells as wide."""


class CompleteRows(Protocol):
    """A model's outputs for complete rows."""

    def __call__(self, X: Float64Array) -> Float64Array:
        """Return probabilities (m, K), or numbers (m, 1), of complete rows X (m, d)."""


class RowBeliefs:
    """Draws of rows with holes, through a model.

    Parameters
    ----------
    layout : ColumnLayout
        Of the p columns.
    completer : estimator
        Fitted, with a ``sample`` that draws missing cells of new rows from their joint posterior.
    outputs : callable
        See `CompleteRows`.
    X : (m, d) array
        The encoded training table. Columns with few distinct values are drawn from these.
    draws : int
        M, draws per row.
    seed : int
        All rows use the same random numbers, so what is drawn for a row does not depend on the others.
    """

    def __init__(
        self,
        layout: ColumnLayout,
        completer: Any,
        outputs: CompleteRows,
        X: Float64Array,
        *,
        draws: int,
        seed: int,
    ) -> None:
        if not can_draw(completer):
            raise ParameterError(
                f"a policy draws missing cells from their posterior, and {type(completer).__name__} has no "
                "method sample; train the model with the default completer, GaussianCompleter"
            )
        self.layout, self._X = layout, X
        self._completer, self._outputs = completer, outputs
        self._draws, self._seed = draws, seed
        with one_core():
            marginal = np.asarray(sample_alike(completer, UNCONDITIONAL, seed + 1, self._nothing))[:, 0]
        self._settlers = [
            _settler(marginal[:, at], X[:, at]) for at in map(layout.columns_of, range(self._p))
        ]

    @property
    def _p(self) -> int:
        return len(self.layout.columns)

    def drawn(self, X: Float64Array) -> Float64Array:
        """Return draws (M, m, d) of encoded rows X (m, d), with values that their columns have."""
        return self._settled(X, self._draws, self._seed)

    def simulated(self, rows: int) -> Float64Array:
        """Return complete encoded rows (rows, d), as new ones may be: training rows, what they lack drawn.

        Known cells depend on each other as they do, not as the completer has it. Rows are shuffled, and taken
        again if there are too few. All rows use the same random numbers, so each gets a draw of its own, by
        numbers that no other method uses. O(rows^2 d^2).
        """
        order = np.random.default_rng(self._seed + 2).permutation(len(self._X))
        each = np.arange(rows)
        return self._settled(self._X[np.resize(order, rows)], rows, self._seed + 2)[each, each]

    def unconditional(self) -> Information:
        """Return what cells may tell in a row of which nothing is known, by many draws."""
        return self._information(self._nothing, self._settled(self._nothing, UNCONDITIONAL, self._seed))

    @property
    def _widest(self) -> int:
        """The most columns in the basis of a cell."""
        return max(DEGREE, *np.bincount(self.layout.owner).tolist())

    @property
    def _nothing(self) -> Float64Array:
        return np.full((1, self.layout.width), np.nan)

    def _settled(self, X: Float64Array, draws: int, seed: int) -> Float64Array:
        with one_core():
            drawn = np.asarray(sample_alike(self._completer, draws, seed, X), dtype=np.float64)
        for place, settle in enumerate(self._settlers):
            block = self.layout.columns_of(place)
            holes = np.isnan(X[:, block.start])
            if settle is not None and holes.any():
                drawn[:, holes, block] = settle(drawn[:, holes, block])
        return drawn

    def outputs(self, X: Float64Array) -> Float64Array:
        """Return the model's outputs (m, M, K) for the draws of encoded rows X (m, d); memory O(m M d)."""
        return self._outputs_of(self.drawn(X))

    def of(self, X: Float64Array) -> Iterator[Information]:
        """Yield for encoded rows X (m, d), some at a time and in order, what their open cells may tell."""
        step = max(1, min(AT_ONCE // self._draws, BASES_AT_ONCE // (self._draws * self._p * self._widest)))
        for start in range(0, len(X), step):
            drawn = self.drawn(X[start : start + step])
            yield self._information(X[start : start + step], drawn)

    def _information(self, X: Float64Array, drawn: Float64Array) -> Information:
        """Return what the open cells of rows X (m, d) may tell, given their draws (M, m, d)."""
        cells = [drawn[:, :, self.layout.columns_of(place)].swapaxes(0, 1) for place in range(self._p)]
        tied = [settle is not None for settle in self._settlers]
        return Information.made(self._outputs_of(drawn), cells, ~self.layout.known(X), tied)

    def _outputs_of(self, drawn: Float64Array) -> Float64Array:
        with one_core():
            flat = self._outputs(drawn.reshape(-1, drawn.shape[2]))
        return np.ascontiguousarray(flat.reshape(*drawn.shape[:2], -1).swapaxes(0, 1))


def outputs_of(model: Any) -> tuple[CompleteRows, Any]:
    """Return the outputs for complete rows, and the completer, of a model of `cellworth.model`."""
    if isinstance(model, FittedModel):
        return lambda X: _normalised(model.predict_complete(X)), model.completer
    if isinstance(model, CompletingRegressor):
        return lambda X: model.predict(X)[:, np.newaxis], model.completer_
    if isinstance(model, CompletingClassifier):
        return model.predict_proba, model.completer_
    raise ParameterError(
        "a policy needs a fitted CompletingClassifier, CompletingRegressor or FittedModel; got "
        f"{type(model).__name__}"
    )


def _normalised(outputs: Float64Array) -> Float64Array:
    return outputs if outputs.shape[1] == 1 else outputs / outputs.sum(axis=1, keepdims=True)


class _FewValues:
    """Turns draws of a column into its known values, in their proportions."""

    def __init__(self, marginal: Float64Array, known: Float64Array) -> None:
        self._marginal, self._known = np.sort(marginal[:, 0]), np.sort(known)

    def __call__(self, drawn: Float64Array) -> Float64Array:
        left = np.searchsorted(self._marginal, drawn, "left")
        right = np.searchsorted(self._marginal, drawn, "right")
        share = (left + right) / (2 * len(self._marginal))
        place = np.minimum((share * len(self._known)).astype(np.intp), len(self._known) - 1)
        return np.asarray(self._known[place])


class _OneCategory:
    """Turns draws (M, m, K) of a category's columns into one 1 and zeros, in the known proportions.

    Equal draws, as of a completer that draws values of the columns, are told apart by chance.
    """

    def __init__(self, marginal: Float64Array, known: Float64Array) -> None:
        shares = known.mean(axis=0)
        self._unit = CHANCE * (float(np.ptp(marginal)) or 1.0)
        offsets = category_offsets(marginal + self._chance(len(marginal), len(shares)), shares)
        self._offsets = np.where(shares > 0, offsets, -np.inf)

    def __call__(self, drawn: Float64Array) -> Float64Array:
        chance = self._chance(len(drawn), len(self._offsets))[:, np.newaxis]
        best = (drawn + chance + self._offsets).argmax(axis=-1)
        return np.asarray(np.eye(len(self._offsets))[best])

    def _chance(self, draws: int, K: int) -> Float64Array:
        return self._unit * np.random.default_rng(0).random((draws, K))


def _settler(marginal: Float64Array, X: Float64Array) -> _FewValues | _OneCategory | None:
    """Return what turns draws of a cell's columns into values that it may have; None for many values."""
    known = X[~np.isnan(X[:, 0])]
    if not len(known):
        return None
    if X.shape[1] > 1:
        return _OneCategory(marginal, known)
    return _FewValues(marginal, known[:, 0]) if len(np.unique(known)) <= FEW_VALUES else None
