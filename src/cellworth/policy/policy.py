"""The policy for new rows: which cell to measure next, given what is known, and when to stop."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from cellworth.arrays import BoolArray, Float64Array
from cellworth.complete.inputs import check_number
from cellworth.errors import DataError, ParameterError
from cellworth.messages import count, not_there, short_number, shorten
from cellworth.model.completing_models import model_of
from cellworth.model.fitted_model import FittedModel
from cellworth.policy.decision_costs import BeliefLoss, BeliefVariance, ErrorCosts, error_costs, squared_cost
from cellworth.policy.information import RowInformation
from cellworth.policy.next_step import CellGain, NextStep
from cellworth.policy.purchase_plan import Plan, RowPlanner
from cellworth.policy.row_beliefs import RowBeliefs, outputs_of
from cellworth.prices import AnyPrices, PriceList, Prices
from cellworth.prices.money import Money
from cellworth.select import Ratio
from cellworth.setting_names import by_door
from cellworth.strategy.choose_batch import ScoredRound, choose
from cellworth.table import Table
from cellworth.table.column import UserValue

CENTRAL = (0.05, 0.95)
"""Quantiles of the outputs that are shown."""

AnyRow = Mapping[str, object]
"""Values by column name, as the user writes them; columns left out, and None, are missing."""


class Policy:
    """Say for new rows which cell to measure next, given what is known of them, and when to stop.

    What a cell is worth is expected value of information: its possible values are drawn from their joint
    posterior with all other missing cells, and the model says what each would do to the prediction. Cells
    that share a visit or a fee, or that pay only together, are planned together. See the explanation page
    "Which cell next".

    Parameters
    ----------
    table : Table
        The training table, which may have holes; it says what columns and classes there are.
    model : CompletingClassifier, CompletingRegressor or FittedModel, optional
        Trained on this table. By default one is chosen and trained, as by `cellworth.model.model_of`.
    prices : Prices, float, mapping or path, optional
        See `Prices.of`; the prices of single rows do not apply to new rows. By default 1 per cell.
    error_cost : float, mapping or (K, K) array, optional
        What a wrong class costs, in the currency of the prices: one amount; a mapping of true classes to
        the cost of missing them; or of (true class, class acted on) to a cost; or a matrix, one row per true
        class. For a number, what a squared error of 1 costs. A cell is then bought only if it is expected
        to save more than its price.
    confidence : float, optional
        Stop as soon as a class has this probability. Only for classes.
    deviation : float, optional
        Stop as soon as the prediction is expected to move by no more than this (one standard deviation) if
        all cells became known. Only for numbers.
    budget : float, optional
        The most to spend on a row.
    free : sequence of str
        Columns that cost nothing; they are always taken first. They need no price.
    draws : int, default=256
        Draws of the missing cells of a row.
    seed : int, default=0

    Notes
    -----
    Give at least one of ``error_cost``, ``confidence``, ``deviation`` and ``budget``: without, nothing says
    when to stop. Per row, M draws cost O(M d^2), one prediction of M rows, and O(p M k^2) for p open cells
    with k = 3: some milliseconds at 50 columns, plus the model's predictions. All rows use the same random
    numbers: what is said of a row does not depend on the others.

    Examples
    --------
    >>> import numpy as np
    >>> from cellworth import CompletingClassifier, Policy, Table
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 3))
    >>> y = np.where(2 * X[:, 0] + X[:, 1] > 0, "ill", "well")
    >>> X[rng.random(X.shape) < 0.3] = np.nan
    >>> table = Table.from_arrays(X, y, columns=["scan", "blood", "shoe size"])
    >>> model = CompletingClassifier(model="logistic regression").fit(table)
    >>> policy = Policy(table, model, prices={"scan": 9, "blood": 2, "shoe size": 1}, error_cost=100)
    >>> step = policy.next_cell({"shoe size": 0.3})
    >>> step.take, step.price, step.stop
    (('blood',), 2.0, False)
    >>> policy.next_cell({"scan": 3.0}).why
    'no further cell could change the decision'
    """

    def __init__(
        self,
        table: Table,
        model: Any = None,
        *,
        prices: AnyPrices | None = None,
        error_cost: Any = None,
        confidence: float | None = None,
        deviation: float | None = None,
        budget: float | None = None,
        free: Sequence[str] = (),
        draws: int = 256,
        seed: int = 0,
    ) -> None:
        if table.target is None:
            raise DataError(
                "a policy predicts a target, and the table has none; name it when you read the table."
            )
        check_number("draws", draws, minimum=32)
        self.columns, self.target = table.columns, table.target.name
        self._names = table.column_names
        self._free = np.array([name in _named(free, self._names) for name in self._names])
        self._one_row = _one_row(Prices.of(_with_free(prices, free)), table)
        self.model = model_of(table) if model is None else model
        outputs, completer = outputs_of(self.model)
        X = table.encode(prior=True).X
        self._beliefs = RowBeliefs(table.layout, completer, outputs, X, draws=int(draws), seed=seed)
        self.classes = self._classes_of(table)
        self._check_stop(error_cost, confidence, deviation, budget)
        self.loss: BeliefLoss = BeliefVariance()
        if error_cost is not None:
            known = self.classes
            self.loss = squared_cost(error_cost) if known is None else error_costs(error_cost, known)
        self.confidence, self.deviation = confidence, deviation
        self.budget = None if budget is None else float(budget)

    def next_cell(self, row: AnyRow, *, spent: float = 0.0, refused: Iterable[str] = ()) -> NextStep:
        """Return what to do next for one row, given as values by column name.

        Parameters
        ----------
        row : mapping of column name to value
            What is known; None is missing.
        spent : float
            What was spent on the row so far, for the budget.
        refused : iterable of str
            Columns that cannot be measured for this row.
        """
        values = np.array([self._parsed(row)])
        return self._steps(values, ["row"], np.array([float(spent)]), [tuple(refused)])[0]

    def next_cells(
        self,
        rows: Table | Mapping[Any, AnyRow],
        *,
        spent: Mapping[Any, float] | None = None,
        refused: Mapping[Any, Iterable[str]] | None = None,
    ) -> list[NextStep]:
        """Return what to do next for each of many rows; one run of the model serves them all.

        Parameters
        ----------
        rows : Table, or mapping of row id to a mapping of column name to value
            A table has the columns of the training table.
        spent : mapping of row id to float, optional
            What was spent on each row so far, by default nothing.
        refused : mapping of row id to columns, optional
            What cannot be measured.
        """
        if isinstance(rows, Table):
            if rows.columns != self.columns:
                how = by_door(
                    python=": read it with Table.read(path, **trained_table.keywords())", command_line=""
                )
                raise DataError(
                    "the table must have the columns of the training table, with the same kinds and "
                    f"categories{how}."
                )
            values, ids = rows.values, list(rows.row_ids)
        else:
            ids = [str(row) for row in rows]
            values = np.array([self._parsed(row) for row in rows.values()]).reshape(
                len(ids), len(self.columns)
            )
        money = {str(row): float(amount) for row, amount in (spent or {}).items()}
        without = {str(row): tuple(columns) for row, columns in (refused or {}).items()}
        for row in [*money, *without]:
            if row not in ids:
                raise DataError(not_there("row", row, tuple(ids)))
        amounts = np.array([money.get(row, 0.0) for row in ids])
        return self._steps(values, ids, amounts, [without.get(row, ()) for row in ids])

    def _steps(
        self, values: Float64Array, ids: list[str], spent: Float64Array, refused: list[tuple[str, ...]]
    ) -> list[NextStep]:
        known = ~np.isnan(values)
        available = ~known
        for row, columns in enumerate(refused):
            available[row] &= [name not in _named(columns, self._names) for name in self._names]
        found = []
        for row, (information, _) in enumerate(self._beliefs.of(self._beliefs.layout.encode(values))):
            left = math.inf
            if self.budget is not None:
                left = max(0.0, float(Money(self.budget) - Money(float(spent[row]))))
            found.append(self._step(ids[row], information, known[row], available[row], left))
        return found

    def _step(
        self, row: str, information: RowInformation, known: BoolArray, available: BoolArray, left: float
    ) -> NextStep:
        places = np.flatnonzero(~known)
        planner = RowPlanner(
            information,
            places,
            self.loss,
            self._one_row,
            known[np.newaxis],
            allowed=(available & ~self._free)[places],
            budget=left,
        )
        prices = np.where(self._free[places], 0.0, planner.alone)
        cells = [
            CellGain(self._names[place], float(planner.worths[k]), float(prices[k]))
            for k, place in enumerate(places)
            if available[place]
        ]
        cells.sort(key=lambda cell: -cell.per_money)
        free = tuple(self._names[place] for place in places if available[place] and self._free[place])
        plan, why = Plan(), self._enough(information, available[places], planner, left)
        if why is None:
            plan = planner.plan()
            why = self._reason(plan, information, planner)
        price = self._chosen(plan, known, left)
        take = free or tuple(self._names[place] for place in plan.now)
        if free:
            plan, price, why = Plan(ahead=()), 0.0, "free cells are always worth taking"
        return NextStep(
            row=row,
            take=take,
            price=price,
            gain=plan.worth,
            plan=tuple(self._names[place] for place in plan.ahead),
            why=why,
            cells=tuple(cells),
            **self._predicted(information),
        )

    def _chosen(self, plan: Plan, known: BoolArray, left: float) -> float:
        """Return what the chosen cells cost, as the house's one chooser buys them."""
        if not plan.now:
            return 0.0
        scores, offered = np.zeros((1, len(known))), np.zeros((1, len(known)), dtype=bool)
        offered[0, list(plan.now)], scores[0, list(plan.now)] = True, 1.0
        generator = np.random.default_rng(0).bit_generator.state
        bought = choose(
            Ratio(),
            ScoredRound(0, scores, 0, dict(generator)),
            self._one_row,
            available=offered,
            before=known[np.newaxis],
            budget=None if math.isinf(left) else left,
            count=len(plan.now),
        )
        return float(bought.cost)

    def _enough(
        self, information: RowInformation, open_cells: BoolArray, planner: RowPlanner, left: float
    ) -> str | None:
        """Return why to stop before looking at cells; None to go on."""
        if not open_cells.any():
            return "all cells that can be measured are known"
        highest = float(information.belief.max())
        if self.confidence is not None and highest >= self.confidence:
            return f"a probability of {highest:.0%} is enough"
        if self.deviation is not None:
            spread = float(information.outputs.std())
            if spread <= self.deviation:
                return f"further cells would move the prediction by only {short_number(spread)}"
        if planner.alone[open_cells].min() > left:
            return f"no cell costs at most the {left:.2f} that are left of the row's budget"
        return None

    def _reason(self, plan: Plan, information: RowInformation, planner: RowPlanner) -> str:
        if not plan.now:
            if information.perfect(self.loss) <= 1e-12:
                return "no further cell could change the decision"
            if self.loss.in_money:
                return "no cell is expected to save more than it costs"
            return "no cell that can be bought would change the prediction"
        if not self.loss.in_money:
            return "it is expected to move the prediction most for its price"
        saved = f"expected to save {plan.worth:.2f} for {plan.price:.2f}"
        more = len(plan.ahead) - len(plan.now)
        if more:
            return f"with {count(more, 'more cell')} {saved}"
        return saved

    def _predicted(self, information: RowInformation) -> dict[str, Any]:
        belief = information.belief
        low, high = np.quantile(information.outputs, CENTRAL, axis=0)
        if self.classes is None:
            cost = self._number_cost(information)
            return {
                "prediction": float(belief[0]),
                "probabilities": {},
                "low": float(low[0]),
                "high": float(high[0]),
                "expected_cost": cost,
            }
        costs = self.loss if isinstance(self.loss, ErrorCosts) else None
        best = int(belief.argmax()) if costs is None else costs.best(belief)
        return {
            "prediction": self.classes[best],
            "probabilities": dict(zip(self.classes, belief.tolist(), strict=True)),
            "low": dict(zip(self.classes, low.tolist(), strict=True)),
            "high": dict(zip(self.classes, high.tolist(), strict=True)),
            "expected_cost": None if costs is None else costs.expected(belief),
        }

    def _number_cost(self, information: RowInformation) -> float | None:
        """Return what the spread of the prediction costs; errors that no cell can mend do not count."""
        return information.perfect(self.loss) if self.loss.in_money else None

    def _parsed(self, row: AnyRow) -> list[float]:
        if not isinstance(row, Mapping):
            raise DataError(f"a row must be a mapping of column names to values; got {shorten(row)}.")
        for name in row:
            if name == self.target:
                raise DataError(f"column {shorten(name)} is the target, which is predicted; leave it out.")
            if name not in self._names:
                raise DataError(not_there("column", str(name), self._names))
        return [
            math.nan if _is_missing(row.get(column.name)) else column.parse(row[column.name])
            for column in self.columns
        ]

    def _classes_of(self, table: Table) -> tuple[UserValue, ...] | None:
        assert table.target is not None
        classes = table.target.classes
        if classes is None:
            return None
        if isinstance(self.model, FittedModel):
            return classes[: self.model.n_classes]
        return tuple(self.model.classes_.tolist())

    def _check_stop(
        self, error_cost: Any, confidence: float | None, deviation: float | None, budget: float | None
    ) -> None:
        if error_cost is None and confidence is None and deviation is None and budget is None:
            raise ParameterError(
                "nothing says when to stop; give error_cost, budget, or confidence (for a number, deviation)"
            )
        number = self.classes is None
        if confidence is not None:
            if number:
                raise ParameterError("confidence is for classes; for a number, give deviation or error_cost")
            check_number("confidence", confidence, above=0)
            if confidence > 1:
                raise ParameterError(f"confidence must be a probability, at most 1; got {confidence!r}")
        if deviation is not None:
            if not number:
                raise ParameterError("deviation is for numbers; for classes, give confidence or error_cost")
            check_number("deviation", deviation, minimum=0)
        if budget is not None:
            check_number("budget", budget, minimum=0)


def _is_missing(value: object) -> bool:
    return value is None or value == "" or (isinstance(value, float) and math.isnan(value))


def _named(columns: Iterable[str], names: tuple[str, ...]) -> set[str]:
    """Return column names, after checking that they exist."""
    if isinstance(columns, str):
        columns = [columns]
    given = set(columns)
    for name in given:
        if name not in names:
            raise DataError(not_there("column", str(name), names))
    return given


def _with_free(prices: AnyPrices | None, free: Sequence[str]) -> AnyPrices | None:
    """Return prices in which free columns have one; it is not used."""
    if isinstance(prices, Mapping) and not any(isinstance(key, tuple) for key in prices):
        return {**dict.fromkeys([free] if isinstance(free, str) else free, 1.0), **prices}
    return prices


def _one_row(prices: Prices, table: Table) -> PriceList:
    """Return the prices of a new row; DataError if rows have prices of their own."""
    listed = prices.on(table).of_cells()
    if table.shape[0] > 1 and not np.array_equal(
        listed.own, np.broadcast_to(listed.own[0], listed.own.shape)
    ):
        raise DataError(
            "the prices differ from row to row, so they do not say what a cell of a new row costs; give "
            "prices by column."
        )
    return listed.of_rows(np.array([0]))
