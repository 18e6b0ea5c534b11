"""The list of campaigns, and the form to create one from files."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Depends, File, Request, UploadFile
from starlette.responses import Response

from cellworth import strategy as strategies
from cellworth.errors import CellworthError
from cellworth.prices import Prices
from cellworth.table import Table
from cellworth.web.dependencies import PoolDep, Who, read_upload, require_role
from cellworth.web.pages.forms import OptionalText, amount, page_number
from cellworth.web.pages.page_layout import back, head_of, path_of, show
from cellworth.web.security.sessions import check_csrf

router = APIRouter(include_in_schema=False)

A_PAGE = 50  # campaigns
_FIELDS = ("name", "target", "row_id", "missing", "budget", "strategy")


@router.get("/", dependencies=[require_role("read")], name="campaigns")
async def campaigns(request: Request, pool: PoolDep, page: str = "1") -> Response:
    """List the campaigns of the store, with their money."""
    names = await pool.names()
    first = (page_number(page) - 1) * A_PAGE
    heads = [await pool.read(name, head_of) for name in names[first : first + A_PAGE]]
    more = first + A_PAGE < len(names)
    return show(request, "campaigns.html", heads=heads, page=page_number(page), more=more, total=len(names))


@router.get("/new", dependencies=[require_role("manage")], name="new")
async def form(request: Request) -> Response:
    """Show the form."""
    return _page(request, {"strategy": "recommended"})


@router.post("/new", dependencies=[require_role("manage"), Depends(check_csrf)])
async def create(
    request: Request,
    pool: PoolDep,
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
    """Create a campaign from the uploaded table."""
    typed = dict(zip(_FIELDS, (name, target, row_id, missing, budget, strategy), strict=True))
    try:
        most: int = request.app.state.largest_upload
        file = await read_upload(table, "table.csv", most)
        stated = None if prices is None else await read_upload(prices, "prices.csv", most)
        limit = amount(budget, "Budget")
        of_rows, marks = row_id.strip() or None, list[object](missing.split())
        read = await pool.in_thread(
            partial(Table.read, file, target=target.strip() or None, row_id=of_rows, missing=marks)
        )
        of_cells = None
        if stated is not None and stated.content:  # browsers send an empty file if none was chosen
            of_cells = await pool.in_thread(partial(Prices.read, stated))
        await pool.create(read, name=name.strip(), prices=of_cells, strategy=strategy, budget=limit, who=who)
    except CellworthError as error:
        return _page(request, typed, error=str(error), status=422)
    return back(path_of(name.strip()))


def _page(request: Request, typed: dict[str, str], status: int = 200, **context: Any) -> Response:
    known = [strategies.get(each) for each in strategies.names()]
    return show(request, "new.html", typed=typed, strategies=known, status=status, **context)
