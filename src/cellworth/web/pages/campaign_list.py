"""The campaigns: listed with their money, and compared side by side."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from cellworth.web.campaign_pool import CampaignPool
from cellworth.web.dependencies import JobsDep, PoolDep, require_role
from cellworth.web.pages.language import ReaderNumbers
from cellworth.web.pages.page_layout import Head, head_of, language_of, show, summary_of

router = APIRouter(include_in_schema=False)

A_PAGE = 50  # campaigns
MOST_COMPARED = 6


@router.get("/", dependencies=[require_role("read")], name="campaigns")
async def campaigns(request: Request, pool: PoolDep, after: str = "", archived: str = "") -> Response:
    """List the campaigns of the store, with their money; those that are archived only if asked for."""
    names = await pool.names()
    found = await _some(pool, [name for name in names if name > after], archived=bool(archived))
    more = found[A_PAGE - 1].name if len(found) > A_PAGE else None
    return show(
        request,
        "campaigns.html",
        heads=_with_money(request, found[:A_PAGE]),
        after=after,
        more=more,
        archived=bool(archived),
        total=len(names),
    )


async def _some(pool: CampaignPool, names: list[str], *, archived: bool) -> list[Head]:
    """Return the heads of a page's campaigns, and of one more if there is one."""
    found: list[Head] = []
    for name in names:
        head = await pool.read(name, head_of)
        if (head.stage == "archived") == archived:
            found.append(head)
        if len(found) > A_PAGE:
            break
    return found


def _with_money(request: Request, heads: list[Head]) -> list[tuple[Head, ReaderNumbers]]:
    """Return each head with the way its money is written: campaigns may have different currencies."""
    return [(head, ReaderNumbers(language_of(request), head.currency)) for head in heads]


@router.get("/compare", dependencies=[require_role("read")], name="compare")
async def compare(
    request: Request, pool: PoolDep, jobs: JobsDep, name: Annotated[list[str] | None, Query()] = None
) -> Response:
    """Show some campaigns side by side: money, values, and what they brought."""
    chosen = list(dict.fromkeys(name or ()))[:MOST_COMPARED]
    heads = [await pool.read(each, head_of) for each in chosen]
    summaries = [summary_of(jobs, each, "overview") for each in chosen]
    found = [
        {"head": head, "numbers": numbers, "status": None if each.data is None else each.data["status"]}
        for (head, numbers), each in zip(_with_money(request, heads), summaries, strict=True)
    ]
    waiting = any(each.data is None and each.error is None for each in summaries)
    return show(request, "compare.html", found=found, curves=_curves(found), waiting=waiting)


def _curves(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the learning curves of the campaigns that have one."""
    return [
        {
            "name": each["head"].name,
            "metric": each["status"]["metric"],
            "spent": [point["spent"] for point in each["status"]["history"]],
            "score": [point["score"]["value"] for point in each["status"]["history"]],
        }
        for each in found
        if each["status"] is not None and len(each["status"]["history"]) > 1
    ]
