"""REST routes for new rows: which cell to measure next, and which rows are not decided yet."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

from pydantic import Field

from cellworth.report.row_summaries import next_step, undecided_steps
from cellworth.web.api.json_bodies import Money, RequestModel, ResponseModel, Value
from cellworth.web.api.routing import make_router
from cellworth.web.dependencies import CampaignName, JobsDep, PoolDep, require_role

router = make_router("new rows")


class PolicyIn(RequestModel):
    """When it is enough; at least one of the first five."""

    error_cost: Annotated[Money | None, Field(description="What a wrong class costs.")] = None
    confidence: Annotated[float | None, Field(gt=0, le=1, description="Stop at this probability.")] = None
    deviation: Annotated[Money | None, Field(description="Stop if a number would move by no more.")] = None
    budget: Annotated[Money | None, Field(description="The most to spend on a row.")] = None
    mean_budget: Annotated[Money | None, Field(description="What to spend on a row on average.")] = None
    free: list[str] = Field(default_factory=list, description="Columns that cost nothing.", max_length=1000)

    def settings(self) -> dict[str, Any]:
        """Return the settings of a policy."""
        names = ("error_cost", "confidence", "deviation", "budget", "mean_budget")
        return {name: getattr(self, name) for name in names} | {"free": tuple(self.free)}


class RowIn(PolicyIn):
    """A new row, or what is known of a row of the table beyond it."""

    row: Annotated[str | None, Field(description="The id of a row of the table.", max_length=1000)] = None
    values: dict[str, Value | None] = Field(default_factory=dict, max_length=10_000)
    refused: list[str] = Field(
        default_factory=list, description="Columns that cannot be measured.", max_length=1000
    )
    spent: Money = 0.0


class CellGainOut(ResponseModel):
    """A missing cell: what knowing it alone is expected to bring."""

    column: str
    gain: float
    price: float
    per_money: float | None


class NextOut(ResponseModel):
    """What to do next for one row; `take` is empty to stop."""

    row: str | None
    prediction: Value
    probabilities: dict[str, float]
    low: dict[str, float] | float
    high: dict[str, float] | float
    expected_cost: float | None
    stop: bool
    take: list[str]
    price: float
    gain: float
    plan: list[str]
    why: str
    cells: list[CellGainOut]


@router.post("/campaigns/{name}/next", dependencies=[require_role("read")])
async def next_cell(name: CampaignName, body: RowIn, pool: PoolDep, jobs: JobsDep) -> NextOut:
    """Say which cell of a row to measure next. Nothing is recorded.

    Send what was measured to `/tell` with `unsolicited`, or add the new row with `/rows`.
    """
    await pool.number(name)  # 404 if there is no such campaign
    job = partial(next_step, row=body.row, spent=body.spent, refused=tuple(body.refused), **body.settings())
    return NextOut.model_validate(await jobs.run(name, job, body.values))


@router.post("/campaigns/{name}/undecided", dependencies=[require_role("read")])
async def undecided(name: CampaignName, body: PolicyIn, pool: PoolDep, jobs: JobsDep) -> list[NextOut]:
    """List the rows without a label in which a cell is worth its price, with what to measure next."""
    await pool.number(name)
    found = await jobs.run(name, partial(undecided_steps, **body.settings()))
    return [NextOut.model_validate(step) for step in found]
