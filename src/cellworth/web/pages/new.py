"""A new campaign, from files."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Depends, File, Request, UploadFile
from starlette.responses import Response

from cellworth import strategy as strategies
from cellworth.errors import CellworthError
from cellworth.prices import Prices
from cellworth.table import Table
from cellworth.web.dependencies import DeskDep, Who, check_csrf, require_role
from cellworth.web.pages.forms import OptionalText, amount
from cellworth.web.pages.frame import back, path_of, show
from cellworth.web.uploads import content_of

router = APIRouter(include_in_schema=False)

_FIELDS = ("name", "target", "row_id", "missing", "budget", "strategy")


@router.get("/new", dependencies=[require_role("manage")], name="new")
async def form(request: Request) -> Response:
    """Show the form."""
    return _page(request, {"strategy": "recommended"})


@router.post("/new", dependencies=[require_role("manage"), Depends(check_csrf)])
async def begin(
    request: Request,
    desk: DeskDep,
    who: Who,
    table: Annotated[UploadFile, File()],
    prices: Annotated[UploadFile | None, File()] = None,
    name: OptionalText = "",
    target: OptionalText = "",
    row_id: OptionalText = "",
    missing: OptionalText = "",
    budget: OptionalText = "",
    strategy: OptionalText = "recommended",
) -> Response:
    """Begin a campaign on the table that was sent."""
    typed = dict(zip(_FIELDS, (name, target, row_id, missing, budget, strategy), strict=True))
    try:
        most: int = request.app.state.largest_upload
        file = await content_of(table, "table.csv", most)
        stated = None if prices is None else await content_of(prices, "prices.csv", most)
        limit = amount(budget, "Budget")
        of_rows, marks = row_id.strip() or None, list[object](missing.split())
        read = await desk.aside(
            partial(Table.read, file, target=target.strip() or None, row_id=of_rows, missing=marks)
        )
        of_cells = None
        if stated is not None and stated.content:  # a browser sends an empty file where none was chosen
            of_cells = await desk.aside(partial(Prices.read, stated))
        await desk.begin(read, name=name.strip(), prices=of_cells, strategy=strategy, budget=limit, who=who)
    except CellworthError as error:
        return _page(request, typed, error=str(error), status=422)
    return back(path_of(name.strip()))


def _page(request: Request, typed: dict[str, str], status: int = 200, **context: Any) -> Response:
    known = [strategies.get(each) for each in strategies.names()]
    return show(request, "new.html", typed=typed, strategies=known, status=status, **context)
