r"""What planning ahead reaches with the whole table at hand: a policy that knows more than any policy can.

It knows the model, and how cells depend on each other in all rows of the table, the test rows included, where
a policy has training rows with holes and a Gaussian. And it does not take the best next step, but plans to
the end: with :math:`f` the outputs for complete rows, c the prices and r what a unit of money must bring,

.. math:: W_S = \min\Big(\mathrm{Var}[f \mid x_S],\ \min_j \mathrm{E}[W_{S \cup j} \mid x_S] + r\,c_j\Big)

for each set S of known columns, from all columns to none. Means given :math:`x_S` are those of extra trees,
each row's by the trees that did not learn from it. Rows share the money: r is the level at which they spend
it. Where rows are alike, they spend more than it below some r, and much less above; then a part of the rows,
drawn, plans with the smaller r, so that the money is spent. With 2^p sets, it is for few columns.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from sklearn.ensemble import ExtraTreesRegressor

from cellworth.arrays import BoolArray, Float64Array, IntArray
from cellworth.policy.row_beliefs import outputs_of
from studies.next_cell.row_policies import NewRows

MOST_COLUMNS = 6
MOST_ROWS = 1500  # beside the test rows
TREES, LEAST_LEAF = 20, 5
HALVINGS = 10  # of the range in which the level is looked for
LEVELS = (1e-4, 20.0)  # that range, in units of the outputs' variance per money of a row

Columns = tuple[int, ...]
"""Known columns, in order."""


@dataclass(frozen=True, eq=False)
class WholeTable:
    """Complete rows, the test rows first.

    Attributes
    ----------
    rows : NewRows
    X : (n, d) array
        Encoded rows; what the table itself lacks is completed.
    outputs : (n, K) array
        Of the model.
    """

    rows: NewRows
    X: Float64Array
    outputs: Float64Array

    @classmethod
    def of(cls, rows: NewRows) -> WholeTable:
        """Take the test rows, and at most `MOST_ROWS` others of their table."""
        some = np.random.default_rng(0).permutation(len(rows.others))[:MOST_ROWS]
        X = rows.beliefs.layout.encode(np.vstack([rows.test.values, rows.others[some]]))
        if np.isnan(X).any():
            X = np.asarray(rows.model.completer_.transform(X), dtype=np.float64)
        return cls(rows, X, outputs_of(rows.model)[0](X))

    def known(self, share: float) -> BoolArray:
        """Return what is known (m, p) of the test rows once a share of their money is spent."""
        prices = self.set_prices()
        low, high = np.log(np.array(LEVELS) * self.outputs.var(axis=0).sum())
        within = np.zeros(self.rows.test.shape, dtype=bool)
        beyond = ~self.rows.test.holes
        for _ in range(HALVINGS):
            level = (low + high) / 2
            found = self._followed(self.steps(float(np.exp(level)), prices)) & ~self.rows.test.holes
            if self.rows.spent_share(found) > share:
                low, beyond = level, found
            else:
                high, within = level, found
        return self._mixed(within, beyond, share)

    def set_prices(self) -> dict[Columns, Float64Array]:
        """Return what each column costs (p,) next to known ones, as a share of a row's money."""
        prices, found = self.rows.prices.of_rows(np.array([0])), {}
        for columns in _sets(self.rows.test.shape[1]):
            known = np.zeros((1, self.rows.test.shape[1]), dtype=bool)
            known[0, list(columns)] = True
            found[columns] = prices.marginal(known)[0] / self.rows.money.mean()
        return found

    def steps(self, level: float, prices: dict[Columns, Float64Array]) -> dict[Columns, IntArray]:
        """Return for each set of known columns which one each row (n,) takes next; -1 to stop."""
        n, K = self.outputs.shape
        losses: dict[Columns, Float64Array] = {}
        steps: dict[Columns, IntArray] = {}
        for columns in _sets(self.rows.test.shape[1]):
            open_columns = [each for each in range(self.rows.test.shape[1]) if each not in columns]
            after = [losses[_with(columns, each)] + level * prices[columns][each] for each in open_columns]
            squares = (self.outputs**2).sum(axis=1)
            means = self.means_given(columns, np.column_stack([self.outputs, squares, *after]))
            stop = np.maximum(means[:, K] - (means[:, :K] ** 2).sum(axis=1), 0.0)
            chosen = np.column_stack([stop, means[:, K + 1 :]]).argmin(axis=1)
            lost = ((self.outputs - means[:, :K]) ** 2).sum(axis=1) if open_columns else np.zeros(n)
            losses[columns] = np.column_stack([lost, *after])[np.arange(n), chosen]
            steps[columns] = np.array([-1, *open_columns])[chosen]
        return steps

    def means_given(self, columns: Columns, targets: Float64Array) -> Float64Array:
        """Return the means of targets (n, t) given the values of known columns, by other rows."""
        overall = np.broadcast_to(targets.mean(axis=0), targets.shape)
        if not columns:
            return np.asarray(overall)
        features = self.X[:, np.isin(self.rows.beliefs.layout.owner, columns)]
        trees = ExtraTreesRegressor(
            TREES,
            min_samples_leaf=LEAST_LEAF,
            bootstrap=True,
            oob_score=lambda true, found: 0.0,  # what is left out of a tree is predicted by it
            random_state=0,
        ).fit(features, targets)
        found = np.asarray(trees.oob_prediction_).reshape(targets.shape)
        return np.where(np.isnan(found), overall, found)

    def _followed(self, steps: dict[Columns, IntArray]) -> BoolArray:
        """Return what is known (m, p) of the test rows once all have stopped."""
        known = np.zeros(self.rows.test.shape, dtype=bool)
        for row in range(len(known)):
            columns: Columns = ()
            while (chosen := int(steps[columns][row])) >= 0:
                columns = _with(columns, chosen)
            known[row, list(columns)] = True
        return known

    def _mixed(self, within: BoolArray, beyond: BoolArray, share: float) -> BoolArray:
        """Return as many rows of the dearer plans, drawn, as there is money for."""
        less, more = (self.rows.costs(known) for known in (within, beyond))
        drawn = np.random.default_rng(0).permutation(len(less))
        spent = less.sum() + np.cumsum((more - less)[drawn])
        fit = np.minimum.accumulate(spent <= share * self.rows.money.sum() + 1e-9)
        known = within.copy()
        known[drawn[fit]] = beyond[drawn[fit]]
        return known


def _sets(p: int) -> Iterator[Columns]:
    """Yield all sets of p columns, larger ones first."""
    for size in range(p, -1, -1):
        yield from combinations(range(p), size)


def _with(columns: Columns, more: int) -> Columns:
    return tuple(sorted((*columns, more)))
