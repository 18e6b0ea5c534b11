"""The page for one row: type in what is known, see the prediction and what to measure next."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from typing import Any
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Request
from starlette.responses import Response

from cellworth.campaign import Campaign
from cellworth.errors import CellworthError, DataError, ParameterError
from cellworth.report.row_summaries import known_values, next_step
from cellworth.table import Column
from cellworth.web.campaign_pool import CampaignPool
from cellworth.web.dependencies import CampaignName, IdentityDep, JobsDep, PoolDep, Who, require_role
from cellworth.web.pages.flash_messages import Note, back, redirect_with, rejected, typed_in
from cellworth.web.pages.forms import amount, plain_number, value_field
from cellworth.web.pages.page_layout import head_of, language_of, path_of, show
from cellworth.web.security.sessions import check_csrf
from cellworth.web.security.tokens import Role

router = APIRouter(include_in_schema=False)

SETTINGS = ("error_cost", "confidence", "budget", "mean_budget", "spent", "row")
_VALUE = re.compile(r"v\d{1,6}")  # the value of a column, by its number
ADVICE = "advice"
"""What an advice is kept under, beside what was typed."""
CONFIDENCE = "90"
"""In per cent: enough for classes, unless an error has a cost."""


@router.get("/campaigns/{name}/next", dependencies=[require_role("read")], name="next cell")
async def new_row(request: Request, name: CampaignName, pool: PoolDep, row: str = "") -> Response:
    """Show the form for a new row, or for a row of the table with what is known of it, and an advice."""
    typed = typed_in(request) or {"row": row}
    return await _page(request, name, pool, typed)


@router.post(
    "/campaigns/{name}/next", dependencies=[require_role("read"), Depends(check_csrf)], name="advise row"
)
async def advise_row(request: Request, name: CampaignName, pool: PoolDep, jobs: JobsDep) -> Response:
    """Work out the prediction and what to measure next, for the page to show; nothing is recorded.

    The page is got, not the answer to a form: browsers go back to it without asking.
    """
    form = await _form(request)
    try:
        columns, number = await pool.read(name, _columns)
        values = _typed(form, columns, language_of(request))
        settings = _settings(form, number)
        step = await jobs.run(
            name, partial(next_step, **settings), values, spent=_money(form, "spent") or 0.0
        )
    except CellworthError as error:
        return rejected(request, path_of(name, "next"), str(error), **form)
    return redirect_with(request, path_of(name, "next"), "", Note("", typed={**form, ADVICE: step}))


@router.post(
    "/campaigns/{name}/next/keep",
    dependencies=[require_role("answer"), Depends(check_csrf)],
    name="keep row",
)
async def keep_row(
    request: Request, name: CampaignName, pool: PoolDep, who: Who, identity: IdentityDep
) -> Response:
    """Record what was typed in: as answers for a row of the table, or as a new row."""
    form = await _form(request)
    row = form.get("row", "").strip()
    may_add = identity.role >= Role.MANAGE
    try:
        columns, _ = await pool.read(name, _columns)
        values = _typed(form, columns, language_of(request))
        new = await pool.write(name, lambda campaign: _keep(campaign, row, values, who, may_add=may_add))
    except CellworthError as error:
        return rejected(request, path_of(name, "next"), str(error), **form)
    return back(request, path_of(name, "next"), "uploaded", urlencode({"row": row}), count=new)


def _keep(campaign: Campaign, row: str, values: Mapping[str, str], who: str | None, *, may_add: bool) -> int:
    """Record values of a row, and return how many are new."""
    if not row:
        raise ParameterError("Row: give the row an id to keep it under.")
    known = _known(campaign, row)
    if known is not None:
        answers: dict[tuple[object, str], object] = {
            (row, column): value for column, value in values.items() if column not in known
        }
        return campaign.tell(answers, who=who, unsolicited=True) if answers else 0
    if not may_add:
        raise DataError(f"There is no row {row!r}, and adding one needs the role 'manage'.")
    campaign.extend({row: dict(values)}, who=who)
    return len(values)


def _known(campaign: Campaign, row: str) -> dict[str, Any] | None:
    """Return what is known of a row; None if there is no such row."""
    try:
        return dict(known_values(campaign, row))
    except DataError:
        return None


async def _form(request: Request) -> dict[str, str]:
    """Return the fields of the page's form, and no others."""
    sent = (await request.form()).items()
    return {name: str(value) for name, value in sent if name in SETTINGS or _VALUE.fullmatch(name)}


def _columns(campaign: Campaign) -> tuple[tuple[Column, ...], bool]:
    """Return the columns, and whether the target is a number."""
    target = campaign.table.target
    return campaign.table.columns, target is not None and target.is_number


def _typed(form: Mapping[str, str], columns: tuple[Column, ...], language: str) -> dict[str, str]:
    """Return what was typed into the fields of the columns, named by number; with decimal points."""
    typed = ((column, form.get(f"v{place}", "").strip()) for place, column in enumerate(columns))
    return {column.name: plain_number(text, column, language) for column, text in typed if text}


def _settings(form: Mapping[str, str], number: bool) -> dict[str, Any]:
    """Return the settings of the policy; ParameterError for what is not a number."""
    cost, budget = _money(form, "error_cost", "An error costs"), _money(form, "budget", "Budget")
    mean = None if cost is not None else _money(form, "mean_budget", "Budget")
    settings: dict[str, Any] = {"error_cost": cost, "budget": budget, "mean_budget": mean}
    if number:
        return settings | {"deviation": _money(form, "confidence", "Enough")}
    share = _per_cent(form.get("confidence", "").strip())
    return settings | {"confidence": None if share is None or cost is not None else share / 100}


def _per_cent(text: str) -> float | None:
    """Return the probability, in per cent, at which it is enough; None if blank."""
    try:
        share = amount(text, "Enough")
    except ParameterError:  # it speaks of money
        share = 0.0
    if share is not None and not 0 < share <= 100:
        raise ParameterError(f"Enough: expected per cent, above 0 and at most 100; got {text[:40]!r}.")
    return share


def _money(form: Mapping[str, str], name: str, what: str = "Spent") -> float | None:
    return amount(form.get(name, ""), what)


async def _page(
    request: Request,
    name: str,
    pool: CampaignPool,
    form: Mapping[str, Any],
) -> Response:
    def read(campaign: Campaign) -> dict[str, Any]:
        table, row = campaign.table, form.get("row", "").strip()
        known = (_known(campaign, row) if row else None) or {}
        fields = [
            {
                "name": column.name,
                "field": value_field(column),
                "value": form.get(f"v{place}") or _written(known.get(column.name)),
            }
            for place, column in enumerate(table.columns)
        ]
        number = table.target is not None and table.target.is_number
        return {"fields": fields, "number": number, "target": table.target and table.target.name}

    head = await pool.read(name, head_of)
    found = await pool.read(name, read)
    usual = {} if found["number"] else {"confidence": CONFIDENCE}  # nobody knows how exact a number must be
    return show(
        request, "next_value.html", head, tab="next", form={**usual, **form}, step=form.get(ADVICE), **found
    )


def _written(value: Any) -> str:
    """Return a known value as an input control takes it."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return {"yes": "true", "no": "false"}.get(str(value), str(value))
