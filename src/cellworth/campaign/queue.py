"""The cells that are out: in pages, by who works on them, taken and given back."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import timedelta

from cellworth.campaign.answers import as_cells
from cellworth.campaign.checks import check_text
from cellworth.campaign.lease import parse_lease
from cellworth.campaign.places import Cell
from cellworth.campaign.taking import check_wanted, given_back, taken
from cellworth.campaign.view import CampaignView
from cellworth.errors import ParameterError
from cellworth.strategy import Purchase

Cells = Iterable[tuple[object, str] | Purchase]


@dataclass(frozen=True)
class OpenPage:
    """Some of the cells that are out.

    Attributes
    ----------
    purchases : list of Purchase
        In the order in which they were asked for.
    after : int or None
        Where the next page begins: to be passed on. None if this is the last one.
    """

    purchases: list[Purchase]
    after: int | None


class CampaignQueue(CampaignView):
    """What people do with the cells that are out before they answer; `Campaign` has all of it."""

    def open_page(
        self,
        after: int = 0,
        most: int = 100,
        *,
        row: str | None = None,
        column: str | None = None,
        asked_by: str | None = None,
        holder: str | None = None,
        free: bool = False,
    ) -> OpenPage:
        """Return some of the cells that are out, in the order in which they were asked for.

        Parameters
        ----------
        after : int
            What the page before said; 0 for the first. Answers that come between two pages move nothing.
        most : int
            Of the page.
        row, column, asked_by, holder : str, optional
            Only the cells of this row, of this column, that this person asked for, or has taken.
        free : bool
            Only cells that nobody has taken.

        Notes
        -----
        O(cells that are out), a tenth of a microsecond each, and O(page).
        """
        wanted = (row, column, asked_by, holder)
        state, time = self._newest(), self._log.now()

        def fits(cell: Cell) -> bool:
            held = state.holder(cell, time)
            has = (*state.places.names(cell), state.asked[cell].who, None if held is None else held.who)
            same = all(want is None or want == have for want, have in zip(wanted, has, strict=True))
            return same and not (free and held is not None)

        def found() -> Iterator[Cell]:
            anything = wanted == (None,) * 4 and not free
            later = (cell for cell in state.out(time) if state.asked[cell].place > after)
            return later if anything else filter(fits, later)

        cells = list(itertools.islice(found(), most + 1))
        purchases = [self._purchase(state, cell, time) for cell in cells[:most]]
        return OpenPage(purchases, state.asked[cells[most - 1]].place if 0 < most < len(cells) else None)

    def take(self, cells: Cells | int, *, who: str, lease: str | timedelta = "8h") -> list[Purchase]:
        """Take cells that are out, so that nobody else works on them meanwhile.

        Parameters
        ----------
        cells : list of (row, column) or Purchase, or int
            All of these or, if one cannot be had, none; or so many that nobody has, those asked for first.
        who : str
            Who takes them.
        lease : str or timedelta
            For how long: "8h", "30m". Afterwards others may take them. Taking cells once more renews it.

        Returns
        -------
        list of Purchase
            With ``holder`` and ``held_until``.

        Raises
        ------
        ConflictError
            If somebody else has a cell, who is named, or it is not out any more.
        DataError
            If a cell was never asked for.

        Notes
        -----
        An answer by somebody else is recorded all the same: no answer is ever lost.
        """
        check_text("who", who)
        span = parse_lease(lease)
        if span is None:
            raise ParameterError("cells are taken for some time, such as lease='8h'; got None.")
        count = check_wanted(cells)
        wanted = as_cells(cells) if count is None else count
        event = self._log.write(
            "taken", lambda time: taken(self._log.state, time, wanted, who, span), who=who
        )
        if event is None:
            return []
        state = self._log.state
        places = (state.places.cell(row, column) for row, column in event.data["cells"])
        return [self._purchase(state, cell, event.time) for cell in places]

    def give_back(self, cells: Cells, *, who: str) -> int:
        """Let others have cells that were taken; they stay out. Return how many were still taken.

        ConflictError if somebody else has one of them.
        """
        check_text("who", who)
        pairs = as_cells(cells)
        event = self._log.write(
            "given back", lambda time: given_back(self._log.state, time, pairs, who), who=who
        )
        return 0 if event is None else len(event.data["cells"])
