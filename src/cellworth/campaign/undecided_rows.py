"""Rows of a campaign that are not decided yet: what to measure next for each, by the model in use."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from cellworth.arrays import IntArray
from cellworth.cached_property import cached_property
from cellworth.campaign.assessment.assessment_cache import AssessmentCache
from cellworth.campaign.assessment.scoring_model import model_in_use
from cellworth.campaign.cell_values import CellStatus
from cellworth.campaign.log import Log
from cellworth.errors import DataError, SampleWarning
from cellworth.prices import Prices
from cellworth.table import Table

if TYPE_CHECKING:
    from cellworth.policy import NextStep, Policy

NO_VALUE_EVER = (CellStatus.ASKED, CellStatus.REFUSED)
"""Cells that a policy does not ask for: they are on their way, or cannot be had."""
MOST_UNDECIDED = 1_000
"""Rows without a label that are looked at in a table in row blocks, which may have millions."""


class RowPolicies:
    """Policies for the rows of one campaign; the last one is kept until the table or its prices change.

    Parameters
    ----------
    log : Log
    """

    def __init__(self, log: Log) -> None:
        self._log = log
        self._kept: tuple[tuple[Any, ...], Policy] | None = None

    @cached_property
    def _learned_from(self) -> Any:
        """The log of the rows to learn from: all, or a sample if the table is in row blocks."""
        return self._log.founding.assessed(self._log)

    def policy(self, prices: Prices, cache: AssessmentCache, seed: int, settings: dict[str, Any]) -> Policy:
        """Return the policy for the table as it is now; a fit of the model in use unless it is kept."""
        from cellworth.policy import Policy  # slow to import

        rows = self._learned_from
        table = rows.newest().table()
        if table.target is None:
            raise DataError("a policy predicts a target, and the campaign's table has none.")
        name = settings.pop("model", None) or model_in_use(rows, "auto", seed, cache)
        key = (self._log.state.table_number, repr(prices), name, repr(sorted(settings.items())))
        if self._kept is None or self._kept[0] != key:
            warn_of_sample(rows, "the policy")
            listed, fitted = rows.prices_of(prices), fitted_in_use(table, name, seed)
            self._kept = key, Policy(table, fitted, prices=listed, **settings)
        return self._kept[1]

    def steps(self, policy: Policy, rows: IntArray) -> list[NextStep]:
        """Return the next step of some rows, given by index; cells that are out or refused are left out."""
        state = self._log.newest()
        table = state.table()
        columns = len(table.columns)
        if isinstance(table, Table):
            ids = [table.row_ids[row] for row in rows]
            some = Table(table.columns, table.values[rows], ids, None, table.row_id)
        else:
            read = table.rows(rows)
            some = Table(read.columns, read.values, read.row_ids, None, read.row_id)
        every = np.repeat(rows, columns), np.tile(np.arange(columns), len(rows))
        status = state.cells.at(*every)[0].reshape(len(rows), columns)
        names = np.array(table.column_names, dtype=object)
        refused = {
            row: names[out].tolist()
            for row, out in zip(some.row_ids, np.isin(status, NO_VALUE_EVER), strict=True)
            if out.any()
        }
        return policy.next_cells(some, refused=refused)

    def undecided(self, policy: Policy) -> list[NextStep]:
        """Return the steps of all rows without a label for which something is worth measuring.

        Of a table in row blocks, the first `MOST_UNDECIDED` rows without a label are looked at.
        """
        table = self._log.newest().table()
        if isinstance(table, Table):
            assert table.y is not None
            rows = np.flatnonzero(np.isnan(table.y))
        else:
            rows = table.unlabelled_rows(MOST_UNDECIDED)
            if len(rows) == MOST_UNDECIDED < table.n_rows - table.labelled:
                warnings.warn(
                    f"only the first {MOST_UNDECIDED:,} of {table.n_rows - table.labelled:,} rows without a "
                    "label are looked at; ask for others by their ids.",
                    SampleWarning,
                    stacklevel=4,
                )
        return [step for step in self.steps(policy, rows) if not step.stop]


def warn_of_sample(log: Any, what: str) -> None:
    """Warn if something is learned from a sample of the rows, given the log of the rows to learn from."""
    if log.sample_words:
        from cellworth.blocks.row_sample import warn_of

        warn_of(log.sample_words.removeprefix("; on a sample of "), what)


def fitted_in_use(table: Table, name: str, seed: int) -> Any:
    """Return a candidate by its name, fitted to a table with a target; the completer sees no labels."""
    from cellworth.blocks.thread_engine import one_core
    from cellworth.complete import GaussianCompleter
    from cellworth.model.fitted_model import fit_candidate

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
        is_number=target.is_number,
        n_classes=None if target.classes is None else len(target.classes),
        seed=seed,
    )
