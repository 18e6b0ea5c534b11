"""Answers: told one by one or in a file, refused, corrected."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from fastapi import File, Query, Request, UploadFile

from cellworth.campaign import Campaign
from cellworth.web.api.models import CorrectIn, FileOut, Recorded, RefuseIn, TellIn
from cellworth.web.api.parts import Key, make_router, must_manage, problems
from cellworth.web.dependencies import CampaignName, DeskDep, IdentityDep, Who, require_role
from cellworth.web.uploads import content_of

router = make_router("answers")


@router.post("/campaigns/{name}/tell", dependencies=[require_role("answer")], responses=problems(404, 409))
async def tell(
    name: CampaignName, body: TellIn, desk: DeskDep, identity: IdentityDep, key: Key = None
) -> Recorded:
    """Record values of cells: all of them or, if one is wrong, none. The same value once more is no error."""
    if body.unsolicited or body.price is not None:
        must_manage(identity, "To take values that were not asked for, or at another price,")
    job = partial(
        Campaign.tell,
        answers=body.triples(),
        who=identity.who,
        key=key,
        unsolicited=body.unsolicited,
        price=body.price,
    )
    return Recorded(new=await desk.write(name, job))


@router.post(
    "/campaigns/{name}/tell-file", dependencies=[require_role("answer")], responses=problems(404, 409)
)
async def tell_by_file(
    request: Request,
    name: CampaignName,
    desk: DeskDep,
    who: Who,
    answers: Annotated[UploadFile, File(description="A .csv or .tsv file with row,column,value.")],
    key: Key = None,
    dry_run: Annotated[bool, Query(description="Say what would become of it; record nothing.")] = False,
) -> FileOut:
    """Record the answers of a file: all of them or, if one line is wrong, none; `errors` has wrong lines."""
    file = await content_of(answers, "answers.csv", request.app.state.largest_upload)

    if dry_run:
        checked = await desk.read(name, lambda view: view.check_file(file))
        return FileOut(new=len(checked.new), known=checked.known, blank=checked.blank)
    told = await desk.write(name, lambda campaign: campaign.tell_file(file, who=who, key=key))
    return FileOut.model_validate(told)


@router.post("/campaigns/{name}/refuse", dependencies=[require_role("answer")], responses=problems(404, 409))
async def refuse(name: CampaignName, body: RefuseIn, desk: DeskDep, who: Who) -> Recorded:
    """Record that cells cannot be had: they are never asked for again."""
    return Recorded(new=await desk.write(name, lambda c: c.refuse(body.pairs(), body.reason, who=who)))


@router.post("/campaigns/{name}/correct", dependencies=[require_role("answer")], responses=problems(404, 409))
async def correct(name: CampaignName, body: CorrectIn, desk: DeskDep, who: Who) -> Recorded:
    """Replace a known value that turned out wrong; the old one stays in the log."""
    job = partial(
        Campaign.correct, row=body.row, column=body.column, value=body.value, who=who, reason=body.reason
    )
    return Recorded(new=int(await desk.write(name, job)))
