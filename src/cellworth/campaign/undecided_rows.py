"""Rows of a campaign that are not decided yet: what to measure next for each, by the model in use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from cellworth.arrays import IntArray
from cellworth.campaign.assessment.assessment_cache import AssessmentCache
from cellworth.campaign.assessment.scoring_model import model_in_use
from cellworth.campaign.cell_values import CellStatus
from cellworth.campaign.log import Log
from cellworth.errors import DataError
from cellworth.prices import Prices
from cellworth.table import Table, as_table

if TYPE_CHECKING:
    from cellworth.policy import NextStep, Policy

NO_VALUE_EVER = (CellStatus.ASKED, CellStatus.REFUSED)
"""Cells that a policy does not ask for: they are on their way, or cannot be had."""


class RowPolicies:
    """Policies for the rows of one campaign; the last one is kept until the table or its prices change.

    Parameters
    ----------
    log : Log
    """

    def __init__(self, log: Log) -> None:
        self._log = log
        self._kept: tuple[tuple[Any, ...], Policy] | None = None

    def policy(self, prices: Prices, cache: AssessmentCache, seed: int, settings: dict[str, Any]) -> Policy:
        """Return the policy for the table as it is now; a fit of the model in use unless it is kept."""
        from cellworth.policy import Policy  # slow to import

        table = as_table(self._log.newest().table())
        if table.target is None:
            raise DataError("a policy predicts a target, and the campaign's table has none.")
        name = settings.pop("model", None) or model_in_use(self._log, "auto", seed, cache)
        key = (self._log.state.table_number, repr(prices), name, repr(sorted(settings.items())))
        if self._kept is None or self._kept[0] != key:
            self._kept = key, Policy(table, fitted_in_use(table, name, seed), prices=prices, **settings)
        return self._kept[1]

    def steps(self, policy: Policy, rows: IntArray) -> list[NextStep]:
        """Return the next step of some rows, given by index; cells that are out or refused are left out."""
        state = self._log.newest()
        table = state.table()
        names = np.array(table.column_names, dtype=object)
        status = state.status[rows, : len(names)]
        not_to_be_had = np.isin(status, NO_VALUE_EVER)
        ids = [table.row_ids[row] for row in rows]
        some = Table(table.columns, table.values[rows], ids, None, table.row_id)
        refused = {row: names[out].tolist() for row, out in zip(ids, not_to_be_had, strict=True) if out.any()}
        return policy.next_cells(some, refused=refused)

    def undecided(self, policy: Policy) -> list[NextStep]:
        """Return the steps of all rows without a label for which something is worth measuring."""
        y = self._log.newest().table().y
        assert y is not None
        return [step for step in self.steps(policy, np.flatnonzero(np.isnan(y))) if not step.stop]


def fitted_in_use(table: Table, name: str, seed: int) -> Any:
    """Return a candidate by its name, fitted to a table with a target; the completer sees no labels."""
    from cellworth.complete import GaussianCompleter
    from cellworth.model.fitted_model import fit_candidate, one_core

    target = table.target
    assert target is not None
    X = table.encode(prior=True).X
    with one_core():
        completer = GaussianCompleter(label_trust=0.0).fit(X)
    return fit_candidate(
        name,
        completer,
        X,
        target.values,
        is_number=target.label_kind == "number",
        n_classes=None if target.classes is None else len(target.classes),
        seed=seed,
    )
