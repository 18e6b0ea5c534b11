"""REST routes for cells: preview, ask, take, give back, cancel, tell, refuse and correct."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from functools import partial
from typing import Annotated

from fastapi import File, Query, Request, Response, UploadFile

from cellworth.campaign import Campaign, OpenPage
from cellworth.campaign.answer_file import asks_csv
from cellworth.campaign.leases import parse_lease
from cellworth.errors import (
    ConflictError,
    DataError,
    ParameterError,
    QuestionedError,
    UnknownCampaignError,
)
from cellworth.strategy import Purchase
from cellworth.web.api.json_bodies import (
    AskIn,
    AskOut,
    CellsIn,
    CorrectIn,
    CountsOut,
    FileOut,
    Page,
    PreviewIn,
    ProblemPlace,
    PurchaseOut,
    PurchasesOut,
    Recorded,
    RefuseIn,
    TakeIn,
    TellIn,
)
from cellworth.web.api.routing import After, Key, Limit, make_router, must_manage, problems
from cellworth.web.campaign_pool import CampaignPool
from cellworth.web.dependencies import (
    CampaignName,
    FilesDep,
    IdentityDep,
    JobsDep,
    PoolDep,
    Who,
    read_upload,
    require_role,
)
from cellworth.web.error_responses import SeveralProblemsError
from cellworth.web.file_jobs import while_connected
from cellworth.web.worker_tasks import ask_and_tell

router, answers = make_router("purchases"), make_router("answers")

LONGEST_TAKE = timedelta(days=7)
"""How long somebody who answers may keep cells from others."""
QueryText = Annotated[str | None, Query(max_length=1000)]


@router.get("/campaigns/{name}/purchases", dependencies=[require_role("read")])
async def list_purchases(
    name: CampaignName,
    pool: PoolDep,
    after: After = 0,
    limit: Limit = 100,
    row: QueryText = None,
    column: QueryText = None,
    asked_by: QueryText = None,
    holder: QueryText = None,
    free: Annotated[bool, Query(description="Only cells nobody has taken.")] = False,
) -> Page[PurchaseOut]:
    """List the cells that are out, in the order they were asked for."""

    def read(campaign: Campaign) -> OpenPage:
        campaign.check_names(row, column)
        return campaign.open_page(
            after, limit, row=row, column=column, asked_by=asked_by, holder=holder, free=free
        )

    page = await pool.read(name, read)
    return Page(items=_out(page.purchases), next=page.after)


@router.get("/campaigns/{name}/purchases/counts", dependencies=[require_role("read")])
async def count_purchases(name: CampaignName, pool: PoolDep) -> CountsOut:
    """Return how many cells are out: in all, free, by column, by asker and by holder."""
    return CountsOut.model_validate(await pool.read(name, Campaign.open_counts))


@router.get(
    "/campaigns/{name}/purchases.csv",
    dependencies=[require_role("read")],
    response_class=Response,
    responses={200: {"content": {"text/csv": {"schema": {"type": "string"}}}}},
)
async def download_purchases(name: CampaignName, pool: PoolDep, holder: QueryText = None) -> Response:
    """Return the cells that are out as a CSV file to fill in; text that looks like a formula is escaped."""
    found = await pool.read(name, lambda campaign: campaign.open_purchases())
    chosen = [each for each in found if holder is None or each.holder == holder]
    headers = {"Content-Disposition": 'attachment; filename="asks.csv"'}
    return Response(asks_csv(chosen), media_type="text/csv", headers=headers)


@router.post(
    "/campaigns/{name}/ask", dependencies=[require_role("manage")], responses=problems(404, 409, 503)
)
async def ask(
    name: CampaignName, body: AskIn, pool: PoolDep, jobs: JobsDep, who: Who, key: Key = None
) -> AskOut:
    """Ask for the cells most worth buying now, and reserve their money. May take a while."""
    await pool.number(name)  # fail now if there is no such campaign
    until = None if body.until is None else body.until.rule()
    job = partial(ask_and_tell, who=who, lease=body.lease, key=key, until=until)
    asked = await jobs.run(name, job, body.budget, body.count)
    return AskOut(purchases=_out(asked.batch), stop=asked.stop)


@router.post("/campaigns/{name}/preview", dependencies=[require_role("manage")], responses=problems(404, 503))
async def preview(name: CampaignName, body: PreviewIn, pool: PoolDep, jobs: JobsDep) -> PurchasesOut:
    """Return what an ask would ask for now; records nothing, but costs as much. May take a while."""
    await pool.number(name)
    batch = await jobs.run(name, Campaign.preview, body.budget, body.count)
    return PurchasesOut(purchases=_out(batch))


@router.post("/campaigns/{name}/take", dependencies=[require_role("answer")], responses=problems(404, 409))
async def take(
    name: CampaignName, body: TakeIn, pool: PoolDep, identity: IdentityDep, key: Key = None
) -> PurchasesOut:
    """Take cells that are out, so that nobody else works on them in the meantime; 7 days at most.

    The role manage may take them for longer.
    """
    me = _named(identity.who)
    span = parse_lease(body.lease)
    if span is None or span > LONGEST_TAKE:
        must_manage(identity, f"Taking cells for longer than {LONGEST_TAKE.days} days")
    job = partial(Campaign.take, cells=body.wanted(), who=me, lease=body.lease, key=key)
    return PurchasesOut(purchases=_out(await pool.write(name, job)))


@router.post(
    "/campaigns/{name}/give-back", dependencies=[require_role("answer")], responses=problems(404, 409)
)
async def give_back(name: CampaignName, body: CellsIn, pool: PoolDep, who: Who) -> Recorded:
    """Give back cells you have taken, so that others can take them; they stay out."""
    me = _named(who)
    return Recorded(new=await pool.write(name, lambda c: c.give_back(body.pairs(), who=me)))


@router.post("/campaigns/{name}/cancel", dependencies=[require_role("manage")], responses=problems(404, 409))
async def cancel(name: CampaignName, body: CellsIn, pool: PoolDep, who: Who) -> Recorded:
    """Return asked cells to the pool, and release their money."""
    return Recorded(new=await pool.write(name, lambda c: c.cancel(body.pairs(), who=who)))


@answers.post("/campaigns/{name}/tell", dependencies=[require_role("answer")], responses=problems(404, 409))
async def tell(
    name: CampaignName, body: TellIn, pool: PoolDep, identity: IdentityDep, key: Key = None
) -> Recorded:
    """Record values of cells: all of them or, if one is invalid, none; `errors` lists all that are invalid.

    Repeating a value is not an error.
    """
    if body.unsolicited or body.price is not None:
        must_manage(identity, "Recording values that were not asked for, or at another price,")
    job = partial(
        Campaign.tell,
        answers=body.triples(),
        who=identity.who,
        key=key,
        unsolicited=body.unsolicited,
        price=body.price,
        insist=body.insist,
    )
    try:
        return Recorded(new=await pool.write(name, job))
    except (DataError, ConflictError) as error:
        raise await _all_wrong(name, body, pool, error) from None


@answers.post(
    "/campaigns/{name}/tell-file", dependencies=[require_role("answer")], responses=problems(404, 409, 503)
)
async def tell_by_file(
    request: Request,
    name: CampaignName,
    pool: PoolDep,
    files: FilesDep,
    who: Who,
    file: Annotated[
        UploadFile, File(alias="answers", description="A .csv or .tsv file with row,column,value.")
    ],
    key: Key = None,
    dry_run: Annotated[bool, Query(description="Report what would be recorded, and record nothing.")] = False,
    insist: Annotated[
        bool, Query(description="Also accept values that are far outside what was seen in their columns.")
    ] = False,
) -> FileOut:
    """Record the answers in a file: all or, if a line is invalid, none; `errors` lists invalid lines."""
    sent = await read_upload(file, "answers.csv", request.app.state.largest_upload)
    await pool.number(name)  # fail now if there is no such campaign
    if dry_run:
        checked = await while_connected(request, files.check(name, sent))
        doubts = [ProblemPlace.model_validate(each) for each in checked.questioned]
        return FileOut(new=checked.new, known=checked.known, blank=checked.blank, questioned=doubts)
    return FileOut.model_validate(await files.tell(name, sent, who=who, key=key, insist=insist))


@answers.post("/campaigns/{name}/refuse", dependencies=[require_role("answer")], responses=problems(404, 409))
async def refuse(name: CampaignName, body: RefuseIn, pool: PoolDep, who: Who) -> Recorded:
    """Record that cells cannot be obtained: they are never asked for again."""
    return Recorded(new=await pool.write(name, lambda c: c.refuse(body.pairs(), body.reason, who=who)))


@answers.post(
    "/campaigns/{name}/correct", dependencies=[require_role("answer")], responses=problems(404, 409)
)
async def correct(name: CampaignName, body: CorrectIn, pool: PoolDep, who: Who) -> Recorded:
    """Replace a known value that turned out to be wrong; the old one stays in the log."""
    job = partial(
        Campaign.correct,
        row=body.row,
        column=body.column,
        value=body.value,
        who=who,
        reason=body.reason,
        insist=body.insist,
    )
    return Recorded(new=int(await pool.write(name, job)))


def _out(purchases: Iterable[Purchase]) -> list[PurchaseOut]:
    # They come from the library, so skip validation.
    return [PurchaseOut.model_construct(**vars(each)) for each in purchases]


async def _all_wrong(name: str, body: TellIn, pool: CampaignPool, error: Exception) -> Exception:
    """Return the error of a rejected request, with all of its answers that are wrong or questioned."""
    if isinstance(error, UnknownCampaignError):
        return error
    if isinstance(error, QuestionedError):
        cells = [(each.row, each.column) for each in body.answers]
        found = [(cells.index(cell), words) for cell, words in error.cells.items() if cell in cells]
    else:
        job = partial(Campaign.faults, answers=body.triples(), unsolicited=body.unsolicited)
        found = await pool.read(name, job)
    places = [{"field": f"body.answers.{place}", "message": words} for place, words in found]
    return SeveralProblemsError(error, places) if places else error


def _named(who: str | None) -> str:
    if who is None:
        raise ParameterError("taking cells needs a name: send yours in the Cellworth-Who header.")
    return who
