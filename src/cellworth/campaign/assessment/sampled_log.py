"""A campaign on row blocks as it looks in a sample of its rows, by which it is assessed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from cellworth.campaign.assessment.learning_curve import spent_by_event
from cellworth.campaign.campaign_events import Extended, TableMoved
from cellworth.campaign.cell_events import Asked, Cancelled, Corrected, Told
from cellworth.campaign.cells_on_blocks import CellsOnBlocks
from cellworth.campaign.event_codec import Event
from cellworth.campaign.log import Log
from cellworth.campaign.state import State
from cellworth.campaign.table_codec import pack, unpack
from cellworth.prices import Prices
from cellworth.prices.cell_prices import ByCell, ByMatrix
from cellworth.table import Table


class SampledLog:
    """The part of a log that is about every k-th row of its table; what an assessment needs of a `Log`.

    Its events are those of the log, with the cells of the sampled rows alone, so that the sample is a small
    campaign in which the same happened. Money and numbers of cells are those of the whole campaign: what was
    bought, and how many cells are left in each column, is taken from the log; see `CellsLeft`.

    Parameters
    ----------
    log : Log
    sample : Table
        Every ``every``-th row of the founding table.
    n_rows : int
        Of the whole table.
    every : int
    """

    def __init__(self, log: Log, sample: Table, n_rows: int, every: int) -> None:
        self._log = log
        self.original = sample
        self._n_rows, self._every = n_rows, every
        self._rows = frozenset(sample.row_ids)
        self._state = self._first()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._log, name)  # its name, settings, store, ...

    @property
    def sample_words(self) -> str:
        """Say of how many rows this is the log."""
        if self._every == 1:
            return ""
        return f"; on a sample of {len(self._rows):,} of {self._n_rows:,} rows"

    @property
    def state(self) -> State:
        """The state of the sample as of the last event that was read."""
        if self._state.number > self._log.state.number:
            self._state = self._first()
        for event in self._sampled(self._log.events(after=self._state.number)):
            if event.number > self._log.state.number:
                break
            self._state.apply(event)
        cells = self._log.state.cells
        assert isinstance(cells, CellsOnBlocks)
        self._state.stands_for = cells.left()
        return self._state

    def newest(self) -> State:
        """Read new events, and return the state."""
        self._log.newest()
        return self.state

    def events(self, after: int = 0, most: int | None = None) -> Iterator[Event]:
        """Read the events numbered above ``after``, with the cells of the sampled rows."""
        return self._sampled(self._log.events(after, most))

    def tables(self, numbers: list[int]) -> Iterator[Table]:
        """Yield the table as of each event number, in non-decreasing order; O(events)."""
        state, events = self._first(), self.events()
        for number in numbers:
            while state.number < number:
                state.apply(next(events))
            yield state.table()

    def state_at(self, number: int) -> State:
        """Return the state after an event; O(events)."""
        state = self._first()
        for event in self.events(most=number):
            state.apply(event)
        return state

    def prices_of(self, prices: Prices) -> Prices:
        """Return the prices of the sampled rows."""
        rule: Any = prices.cells
        if isinstance(rule, ByCell):
            rule = replace(rule, prices={cell: p for cell, p in rule.prices.items() if cell[0] in self._rows})
        elif isinstance(rule, ByMatrix):
            rule = replace(rule, prices=rule.prices[:: self._every])
        return replace(prices, cells=rule)

    def purchases_by(self) -> dict[int, tuple[float, int]]:
        """Return what was spent on all rows by each event, and the cells told, by its number."""
        events = list(self._log.events())
        return {
            event.number: (spent_by_event(event), isinstance(event.content, Told) * event.content.size)
            for event in events
        }

    def _first(self) -> State:
        return State(self.original)

    def _sampled(self, events: Iterator[Event]) -> Iterator[Event]:
        return map(self._of_rows, events)

    def _of_rows(self, event: Event) -> Event:
        """Return an event with the cells of the sampled rows alone."""
        content: Any = event.content
        if content.whole:
            return replace(event, content=Cancelled(())) if isinstance(content, TableMoved) else event
        if isinstance(content, Extended):
            return self._added(event, content)
        if isinstance(content, Corrected):
            kept = content if content.row in self._rows else Told((), stated=True)
            return replace(event, content=kept, row_numbers={})
        there = np.array([cell.row in self._rows for cell in content.cells], dtype=bool)
        if there.all():
            return replace(event, row_numbers={})
        keep = np.flatnonzero(there).tolist()
        changes: dict[str, Any] = {"cells": tuple(content.cells[k] for k in keep)}
        if isinstance(content, Asked) and content.terms is not None:
            changes["terms"] = tuple(content.terms[k] for k in keep)
        return replace(event, content=replace(content, **changes), row_numbers={})

    def _added(self, event: Event, content: Extended) -> Event:
        """Return an event with every k-th of the rows that it adds."""
        rows = unpack(content.table)
        ids, target = rows.row_ids[:: self._every], rows.target
        target = None if target is None else replace(target, values=target.values[:: self._every])
        some = Table(rows.columns, rows.values[:: self._every], ids, target, rows.row_id)
        self._rows |= frozenset(ids)
        return replace(event, content=Extended(tuple(ids), pack(some)))
