"""The policy for new rows: which cell to measure next, given what is known, and when to stop."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from cellworth.arrays import BoolArray, Float64Array
from cellworth.blocks.block_table import BlockTable
from cellworth.blocks.row_sample import in_memory
from cellworth.complete.inputs import check_number
from cellworth.errors import DataError, ParameterError
from cellworth.messages import not_there, short_number
from cellworth.model.completing_models import CompletingClassifier, CompletingRegressor, model_of
from cellworth.model.fitted_model import FittedModel
from cellworth.policy.decision_costs import BeliefLoss, BeliefVariance, check_stop, error_costs, squared_cost
from cellworth.policy.information import Information, column_trust
from cellworth.policy.next_step import CellGain, NextStep, PlannedRow
from cellworth.policy.purchase_plan import ROWS, Plan, Planner, SharedMoney, share_money
from cellworth.policy.row_beliefs import RowBeliefs, outputs_of
from cellworth.policy.row_input import (
    AnyRow,
    existing_names,
    one_row_prices,
    parse_row,
    parse_rows,
    warn_of_strange_values,
    with_free_columns,
)
from cellworth.prices import AnyPrices, Prices
from cellworth.prices.money import Money
from cellworth.select import Ratio
from cellworth.shown_numbers import shown
from cellworth.strategy.choose_batch import ScoredRound, choose
from cellworth.table import Table
from cellworth.table.column import UserValue
from cellworth.table.seen_values import seen_by_column


class Policy:
    """Say for new rows which cell to measure next, given what is known of them, and when to stop.

    What a cell is worth is expected value of information: its possible values are drawn from their joint
    posterior with all other missing cells, and the model says what each would do to the prediction. Cells
    that share a visit or a fee, or that pay only together, are planned together. See the explanation page
    "Which cell next".

    Parameters
    ----------
    table : Table or BlockTable
        The training table, which may have holes; it says what columns and classes there are. Of a table in
        row blocks, every k-th row, 4,000 to 8,000 in all.
    model : CompletingClassifier, CompletingRegressor or FittedModel, optional
        Trained on this table. By default one is chosen and trained, as by `cellworth.model.model_of`.
    prices : Prices, float, mapping or path, optional
        See `Prices.of`; the prices of single rows do not apply to new rows. By default 1 per cell.
    error_cost : float, mapping or (K, K) array, optional
        What a wrong class costs, in the currency of the prices: one amount; a mapping of every true class to
        the cost of missing it; or of (true class, class acted on) to a cost; or a matrix, one row per true
        class. For a number, what a squared error of 1 costs. A cell is then bought only if it is expected
        to save more than its price.
    confidence : float, optional
        Stop as soon as a class has this probability. Only for classes.
    deviation : float, optional
        Stop as soon as the prediction is expected to move by no more than this (one standard deviation) if
        all cells became known. Only for numbers.
    budget : float, optional
        The most to spend on a row.
    mean_budget : float, optional
        What to spend on a row on average: rows share the money, so that those of which the model is soon
        sure leave some to the others. A cell is then bought only if it brings enough per unit of money
        (`least_ratio`), as found on training rows, their holes drawn, of which nothing is known at first but
        the free cells; real rows may spend a little more or less. If rows look so alike that they would leave
        half of it, each gets this much as its ``budget`` instead. Not together with ``error_cost``, which
        says the same in money.
    free : sequence of str
        Columns that cost nothing; they are always taken first. They need no price.
    draws : int, default=256
        Draws of the missing cells of a row.
    seed : int, default=0

    Attributes
    ----------
    shares_money : bool
        Whether rows share the ``mean_budget``; False if they are too alike, or there is none.
    least_ratio : float
        What a cell, or cells together, must bring per unit of money, if rows share it; but for the first cell
        of a row of which nothing is known.
    trust : (p,) array
        By what expected gains are multiplied, in each column, because training labels bear them out or do
        not; see `cellworth.policy.information`. 1 if errors have a cost.

    Notes
    -----
    Give at least one of ``error_cost``, ``confidence``, ``deviation``, ``budget`` and ``mean_budget``:
    without, nothing says when to stop. Per row and step, M draws cost O(M d^2), one prediction of M rows, and
    O(p M k) for p open cells with k = 3, once more for each fee that cells share: a few milliseconds at 50
    columns. With ``mean_budget``, 150 simulated rows are followed to their end first. All rows use the
    same random numbers: what is said of a row does not depend on the others. Values far outside what was
    seen in their columns bring a warning.

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
        table: Table | BlockTable,
        model: Any = None,
        *,
        prices: AnyPrices | None = None,
        error_cost: Any = None,
        confidence: float | None = None,
        deviation: float | None = None,
        budget: float | None = None,
        mean_budget: float | None = None,
        free: Sequence[str] = (),
        draws: int = 256,
        seed: int = 0,
    ) -> None:
        table = in_memory(table, "the policy")[0]
        if table.target is None:
            raise DataError(
                "a policy predicts a target, and the table has none; name it when you read the table."
            )
        check_number("draws", draws, minimum=32)
        self.columns, self.target = table.columns, table.target.name
        self._names = table.column_names
        self._seen = seen_by_column(table)
        self._free = np.array([name in existing_names(free, self._names) for name in self._names])
        stated = Prices.of(with_free_columns(prices, free))
        self._currency = stated.currency
        self._one_row = one_row_prices(stated, table)
        self.model = model_of(table) if model is None else model
        outputs, completer = outputs_of(self.model)
        self.classes = self._classes_of(table)
        check_stop(error_cost, confidence, deviation, budget, mean_budget, is_number=self.classes is None)
        X = table.encode(prior=True).X
        self._beliefs = RowBeliefs(table.layout, completer, outputs, X, draws=int(draws), seed=seed)
        self.loss: BeliefLoss = BeliefVariance()
        if error_cost is not None:
            known = self.classes
            self.loss = squared_cost(error_cost) if known is None else error_costs(error_cost, known)
        self.confidence, self.deviation = confidence, deviation
        self.budget = None if budget is None else float(budget)
        self.mean_budget = None if mean_budget is None else float(mean_budget)
        self.trust = np.ones(len(self.columns))
        if not self.loss.in_money:
            self.trust = column_trust(
                self._beliefs.unconditional(),
                table.layout,
                X,
                table.target.values,
                is_number=not self.classes,
            )
        self.least_ratio, self._row_budget = -math.inf, self.budget
        self.shares_money = self.mean_budget is not None
        if self.mean_budget is not None:
            shared = self._share(self.mean_budget)
            self.shares_money = shared.is_used(self.mean_budget)
            if self.shares_money:
                self.least_ratio = shared.least_ratio
            else:
                self._row_budget = min(self.mean_budget, math.inf if budget is None else float(budget))

    def __repr__(self) -> str:
        limits = ("confidence", "deviation", "budget", "mean_budget")
        said = {name: getattr(self, name) for name in limits if getattr(self, name) is not None}
        costs = ["errors cost money"] if self.loss.in_money else []
        stops = ", ".join([*costs, *(f"{name}={value:g}" for name, value in said.items())])
        return f"<policy for {self.target!r}, {len(self.columns)} columns; {stops}>"

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
        values = np.array([parse_row(row, self.columns, self.target)])
        return self._steps(values, ["row"], np.array([float(spent)]), [tuple(refused)])[0]

    def next_cells(
        self,
        rows: Any,
        *,
        spent: Mapping[Any, float] | None = None,
        refused: Mapping[Any, Iterable[str]] | None = None,
    ) -> list[NextStep]:
        """Return what to do next for each of many rows; one run of the model serves them all.

        Parameters
        ----------
        rows : Table, DataFrame, or mapping of row id to a mapping of column name to value
            A table has the columns of the training table; a frame may lack some.
        spent : mapping of row id to float, optional
            What was spent on each row so far, by default nothing.
        refused : mapping of row id to columns, optional
            What cannot be measured.
        """
        values, ids = parse_rows(rows, self.columns, self.target)
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
        warn_of_strange_values(values, ids, self.columns, self._seen)
        known = ~np.isnan(values)
        available = ~known
        for row, columns in enumerate(refused):
            available[row] &= [name not in existing_names(columns, self._names) for name in self._names]
        left = np.full(len(values), np.inf)
        if self._row_budget is not None:
            most = Money(self._row_budget)
            left = np.array([max(0.0, float(most - Money(float(each)))) for each in spent])
        found: list[NextStep] = []
        for information in self._beliefs.of(self._beliefs.layout.encode(values)):
            rows = slice(len(found), len(found) + len(information.outputs))
            planner = self._planner(information, known[rows], available[rows], left[rows])
            for number, plan in enumerate(planner.plans()):
                row = rows.start + number
                of_row = PlannedRow(information, planner, number, plan)
                found.append(self._step(ids[row], of_row, known[row], available[row], float(left[row])))
        return found

    def _planner(
        self, information: Information, known: BoolArray, available: BoolArray, left: Float64Array
    ) -> Planner:
        # Rows of which nothing is known are all alike: what one buys, all buy. It tells them apart, so that
        # money can be shared: a row that knows nothing takes its first cell whatever that brings.
        alike = ~(known & ~self._free).any(axis=1)
        mean = self.mean_budget if self.shares_money and self.mean_budget is not None else math.inf
        return Planner(
            information,
            self.loss,
            self._one_row,
            known,
            allowed=available & ~self._free,
            budgets=left,
            trust=self.trust,
            least_ratio=np.where(known.any(axis=1), self.least_ratio, -math.inf),
            first_most=np.where(alike, mean, math.inf),
            use_up=self._row_budget is not None and not self.shares_money,
        )

    def _share(self, mean: float) -> SharedMoney:
        """Return what a plan must bring per unit of money, so that simulated rows spend the mean."""
        layout = self._beliefs.layout

        def plans_for(known: BoolArray, some: Float64Array) -> list[Plan]:
            found: list[Plan] = []
            for information in self._beliefs.of(np.where(known[:, layout.owner], some, np.nan)):
                part = known[len(found) : len(found) + len(information.outputs)]
                most = np.full(len(part), np.inf if self.budget is None else self.budget)
                plans = self._planner(information, part, ~part, most).plans()
                sure = [self._is_sure(information, row) for row in range(len(part))]
                found += [Plan() if stop else plan for plan, stop in zip(plans, sure, strict=True)]
            return found

        def step_price(plan: Plan, known: BoolArray) -> float:
            return self._chosen(plan, known, math.inf)

        start = np.broadcast_to(self._free, (ROWS, len(self._free)))
        return share_money(mean, self._beliefs.simulated(ROWS), start, plans_for, step_price)

    def _step(
        self, row: str, planned: PlannedRow, known: BoolArray, available: BoolArray, left: float
    ) -> NextStep:
        prices = np.where(self._free, 0.0, planned.alone)
        cells = [
            CellGain(self._names[place], float(planned.worths[place]), float(prices[place]))
            for place in np.flatnonzero(available)
        ]
        cells.sort(key=lambda cell: -cell.per_money)
        free = tuple(self._names[place] for place in np.flatnonzero(available & self._free))
        plan, why = planned.plan, self._enough(planned, available, left)
        if why is None:
            why = planned.reason(self.loss, shares=self.shares_money)
        else:
            plan = Plan()
        price = self._chosen(plan, known, left)
        take = free or tuple(self._names[place] for place in plan.now)
        if free:
            plan, price, why = Plan(), 0.0, "free cells are always worth taking"
        return NextStep(
            row=row,
            take=take,
            price=price,
            gain=plan.worth,
            plan=tuple(self._names[place] for place in plan.ahead),
            why=why,
            cells=tuple(cells),
            currency=self._currency,
            **planned.predicted(self.loss, self.classes),
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

    def _enough(self, planned: PlannedRow, available: BoolArray, left: float) -> str | None:
        """Return why to stop before looking at cells; None to go on."""
        if not available.any():
            return "all cells that can be measured are known"
        if self._is_sure(planned.information, planned.number):
            if self.confidence is not None:
                return f"a probability of {float(planned.belief.max()):.0%} is enough"
            spread = float(planned.outputs.std())
            return f"further cells would move the prediction by only {short_number(spread)}"
        if planned.alone[available].min() > left:
            return f"each of its missing cells costs more than the {shown(left, '.2f')} left of its budget"
        return None

    def _is_sure(self, information: Information, row: int) -> bool:
        """Whether the prediction of a row is sure enough, by the user's own words."""
        if self.confidence is not None:
            return bool(information.belief[row].max() >= self.confidence)
        return self.deviation is not None and bool(information.outputs[row].std() <= self.deviation)

    def _classes_of(self, table: Table) -> tuple[UserValue, ...] | None:
        assert table.target is not None
        classes = table.target.classes
        if isinstance(self.model, CompletingRegressor if classes else CompletingClassifier):
            kind, given = "a class" if classes else "a number", type(self.model).__name__
            raise ParameterError(
                f"the target {table.target.name!r} is {kind}, and the model a {given}. Train it on this "
                "table."
            )
        if classes is None:
            return None
        if isinstance(self.model, FittedModel):
            return classes[: self.model.n_classes]
        return tuple(self.model.classes_.tolist())
