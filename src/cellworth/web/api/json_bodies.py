"""What requests and responses of the REST API hold, as pydantic models."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Generic, Literal, Self, TypeVar

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
    model_validator,
)

from cellworth.campaign.campaign_events import Stage
from cellworth.campaign.current_cells import StatusWord
from cellworth.campaign.leases import ASK_LEASE, TAKE_LEASE
from cellworth.forecasting import StopRule
from cellworth.table.column import Kind

MOST_CELLS = 10_000
"""Most cells in one request."""

Item = TypeVar("Item")
Value = StrictBool | StrictInt | StrictFloat | StrictStr
Lease = Annotated[
    str, Field(description='How long: "7d", "12h", "30m".', examples=[TAKE_LEASE], max_length=20)
]
Money = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Insist = Annotated[
    bool, Field(description="Also accept values that are far outside what was seen in their columns.")
]
Reason = Annotated[str, Field(min_length=1, max_length=1000)]


class ResponseModel(BaseModel):
    """Base class of responses; can be built from library objects with the same fields."""

    model_config = ConfigDict(from_attributes=True)


class RequestModel(BaseModel):
    """Base class of requests; rejects unknown fields and wrong types rather than guessing."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Page(ResponseModel, Generic[Item]):
    """One page of a list. Pass `next` as `after` to get the next page; it is null on the last page."""

    items: list[Item]
    next: int | None


class CampaignNameOut(ResponseModel):
    """A campaign in the store."""

    name: str


class NamesPage(ResponseModel):
    """One page of campaigns, by name. Pass `next` as `after` for the next page; null on the last page."""

    items: list[CampaignNameOut]
    next: str | None


class CampaignOut(ResponseModel):
    """A campaign: money in the currency of the prices, cell counts, and the number of the last event."""

    name: str
    created: datetime
    strategy: str
    number: int
    rows: int
    columns: int
    currency: str | None
    budget: float | None
    spent: float
    reserved: float
    left: float | None
    known: int
    bought: int
    refused: int
    open: int
    missing: int
    stage: Stage


class PurchaseOut(ResponseModel):
    """A cell asked for: its price, why it is worth buying, who asked for it and who has taken it."""

    row: str
    column: str
    group: str | None
    price: float
    worth: float
    why: str
    until: datetime | None
    asked_by: str | None
    holder: str | None
    held_until: datetime | None


class CountsOut(ResponseModel):
    """How many cells are out: in all, free, by column, and by who asked for them or has taken them."""

    total: int
    free: int
    columns: dict[str, int]
    askers: dict[str, int]
    holders: dict[str, int]


class PurchasesOut(ResponseModel):
    """Cells, best first."""

    purchases: list[PurchaseOut]


class AskOut(PurchasesOut):
    """Cells, best first; and a sentence if a forecast says that it is not worth spending more."""

    stop: str | None


class CellIn(RequestModel):
    """A cell, by row and column name."""

    row: str
    column: str


class AnswerIn(CellIn):
    """The value of a cell; dates are ISO strings."""

    value: Value


class StopRuleIn(RequestModel):
    """When to stop buying; at most one of `reach` and `point_worth`."""

    least_gain: Annotated[
        float,
        Field(gt=0, allow_inf_nan=False, description="Stop if the next tenth of the cost brings less."),
    ] = StopRule.least_gain
    reach: Annotated[
        float | None,
        Field(gt=0, le=1, allow_inf_nan=False, description="Stop at this share of the reachable score."),
    ] = None
    point_worth: Annotated[
        float | None,
        Field(gt=0, allow_inf_nan=False, description="Stop if 0.01 of the score costs more than this."),
    ] = None

    def rule(self) -> StopRule:
        """Return it as the library expects it."""
        return StopRule(**self.model_dump())


class AskIn(RequestModel):
    """The most money to spend and the most cells to ask for; null means no limit beyond the budget.

    With `until`, nothing is asked for once a forecast says that it is not worth it.
    """

    budget: Money | None = None
    count: Annotated[int, Field(ge=0, le=MOST_CELLS)] | None = None
    lease: Lease | None = ASK_LEASE
    until: StopRuleIn | None = None


class PreviewIn(RequestModel):
    """The most money to spend and the most cells to choose; null means no limit beyond the budget."""

    budget: Money | None = None
    count: Annotated[int, Field(ge=0, le=MOST_CELLS)] | None = None


class CellsIn(RequestModel):
    """Cells, by row and column name."""

    cells: Annotated[list[CellIn], Field(max_length=MOST_CELLS)]

    def pairs(self) -> list[tuple[object, str]]:
        """Return the cells as the library expects them."""
        return [(cell.row, cell.column) for cell in self.cells]


class TakeIn(RequestModel):
    """Either cells, by name, or how many free cells to take."""

    cells: Annotated[list[CellIn], Field(max_length=MOST_CELLS)] | None = None
    count: Annotated[int, Field(ge=0, le=MOST_CELLS)] | None = None
    lease: Lease = TAKE_LEASE

    @model_validator(mode="after")
    def _one_of_two(self) -> Self:
        if (self.cells is None) == (self.count is None):
            raise ValueError("give either cells or count")
        return self

    def wanted(self) -> list[tuple[object, str]] | int:
        """Return the cells or count as the library expects them."""
        if self.cells is None:
            return self.count or 0
        return [(cell.row, cell.column) for cell in self.cells]


class RefuseIn(CellsIn):
    """Cells that cannot be obtained, and why."""

    reason: Reason


class TellIn(RequestModel):
    """Values of cells. Unsolicited values, or ones at another price, need the role manage."""

    answers: Annotated[list[AnswerIn], Field(max_length=MOST_CELLS)]
    unsolicited: bool = False
    price: Money | None = None
    insist: Insist = False

    def triples(self) -> list[tuple[object, str, object]]:
        """Return the answers as the library expects them."""
        return [(answer.row, answer.column, answer.value) for answer in self.answers]


class CorrectIn(AnswerIn):
    """The correct value of a cell, and what was wrong."""

    reason: Reason | None = None
    insist: Insist = False


class RowsIn(RequestModel):
    """New rows: for each id, values by column name. Omitted columns are missing."""

    rows: Annotated[dict[str, dict[str, Value | None]], Field(max_length=MOST_CELLS)]


class Recorded(ResponseModel):
    """How many cells, answers or rows were new; duplicates are not an error."""

    new: int


class ProblemPlace(ResponseModel):
    """One of several errors in a request: the message and, if known, the line and field."""

    message: str
    line: int | None = None
    field: str | None = None


class FileOut(ResponseModel):
    """The result of uploading an answer file, or of a dry run.

    `questioned` are answers of a dry run that are far outside what was seen: to be recorded with `insist`.
    """

    new: int
    known: int
    blank: int
    questioned: list[ProblemPlace] = []


class CellOut(ResponseModel):
    """A cell of the table."""

    column: str
    status: StatusWord
    value: bool | int | float | str | None


class RowOut(ResponseModel):
    """A row of the table."""

    row: str
    cells: list[CellOut]
    label: Annotated[CellOut | None, Field(description="The cell of the target; null without one.")] = None


class ColumnOut(ResponseModel):
    """A column: what its cells may hold, and how many are missing."""

    name: str
    kind: Kind
    unit: str | None
    description: Annotated[str | None, Field(description="For those who collect the values.")]
    lowest: float | int | str | None
    highest: float | int | str | None
    categories: list[str]
    expected: Annotated[str, Field(description="What a cell may hold, in words.")]
    group: Annotated[str | None, Field(description="The price group, such as one blood draw.")]
    missing: int
    labels: Annotated[bool, Field(description="Whether it is the target, whose labels are bought.")] = False


class EventOut(ResponseModel):
    """An event of the log; its other fields depend on its kind."""

    model_config = ConfigDict(from_attributes=True, extra="allow")

    number: int
    time: datetime
    kind: Literal[
        "asked",
        "taken",
        "given back",
        "told",
        "refused",
        "cancelled",
        "corrected",
        "extended",
        "budget changed",
        "prices changed",
        "contradicted",
        "released",
        "clock set",
        "stage changed",
        "category added",
        "table moved",
    ]
    who: str | None
    key: str | None


class SummaryOut(ResponseModel):
    """A summary, the number of the event it describes, and whether it is being updated.

    The data are null until the summary has been computed once.
    """

    what: str
    as_of: int | None
    newest: int
    renewing: bool
    error: Annotated[str | None, Field(description="Why the last update failed, if it did.")]
    data: dict[str, Any] | None


class ProblemOut(ResponseModel):
    """Problem details, as in RFC 9457."""

    type: str
    title: str
    status: int
    detail: str
    instance: str
    errors: list[ProblemPlace] | None = None
