"""The JSON that programs send and receive."""

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

from cellworth.campaign.cell_records import StatusWord
from cellworth.campaign.leases import ASK_LEASE, TAKE_LEASE
from cellworth.table.column import Kind

MOST_CELLS = 10_000
"""In one request."""

Item = TypeVar("Item")
Value = StrictBool | StrictInt | StrictFloat | StrictStr
Lease = Annotated[
    str, Field(description='How long: "7d", "12h", "30m".', examples=[TAKE_LEASE], max_length=20)
]
Money = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class ResponseModel(BaseModel):
    """The base of responses; built from objects of the library with the same fields."""

    model_config = ConfigDict(from_attributes=True)


class RequestModel(BaseModel):
    """The base of requests; an unknown field, or one of another type, is refused rather than guessed at."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Page(ResponseModel, Generic[Item]):
    """One page of a list. Pass `next` as `after` for the following page; it is null on the last."""

    items: list[Item]
    next: int | None


class CampaignNameOut(ResponseModel):
    """A campaign of the store."""

    name: str


class NamesPage(ResponseModel):
    """One page of the campaigns, by name. Pass `next` as `after` for the following page; null on the last."""

    items: list[CampaignNameOut]
    next: str | None


class CampaignOut(ResponseModel):
    """A campaign: money in that of the prices, cells, and the number of the last event."""

    name: str
    created: datetime
    strategy: str
    number: int
    rows: int
    columns: int
    budget: float | None
    spent: float
    reserved: float
    left: float | None
    known: int
    bought: int
    refused: int
    open: int
    missing: int


class PurchaseOut(ResponseModel):
    """A cell that is asked for: its price, why it is worth it, who asked for it and who has taken it."""

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


class PurchasesOut(ResponseModel):
    """Cells, the first choice first."""

    purchases: list[PurchaseOut]


class CellIn(RequestModel):
    """A cell by its names."""

    row: str
    column: str


class AnswerIn(CellIn):
    """A value of a cell, as you write it; dates as ISO texts."""

    value: Value


class AskIn(RequestModel):
    """The most money and the most cells to ask for; null for no limit but the budget."""

    budget: Money | None = None
    count: Annotated[int, Field(ge=0, le=MOST_CELLS)] | None = None
    lease: Lease | None = ASK_LEASE


class PreviewIn(RequestModel):
    """The most money and the most cells to choose; null for no limit but the budget."""

    budget: Money | None = None
    count: Annotated[int, Field(ge=0, le=MOST_CELLS)] | None = None


class CellsIn(RequestModel):
    """Cells by their names."""

    cells: Annotated[list[CellIn], Field(max_length=MOST_CELLS)]

    def pairs(self) -> list[tuple[object, str]]:
        """Return them as the library takes them."""
        return [(cell.row, cell.column) for cell in self.cells]


class TakeIn(RequestModel):
    """Cells by their names, or how many to take of those that nobody has; one of the two."""

    cells: Annotated[list[CellIn], Field(max_length=MOST_CELLS)] | None = None
    count: Annotated[int, Field(ge=0, le=MOST_CELLS)] | None = None
    lease: Lease = TAKE_LEASE

    @model_validator(mode="after")
    def _one_of_two(self) -> Self:
        if (self.cells is None) == (self.count is None):
            raise ValueError("give cells or count, one of the two")
        return self

    def wanted(self) -> list[tuple[object, str]] | int:
        """Return it as the library takes it."""
        if self.cells is None:
            return self.count or 0
        return [(cell.row, cell.column) for cell in self.cells]


class RefuseIn(CellsIn):
    """Cells that cannot be had, and why."""

    reason: Annotated[str, Field(min_length=1, max_length=1000)]


class TellIn(RequestModel):
    """Values of cells. Taking those that were never asked for, or at another price, needs the role manage."""

    answers: Annotated[list[AnswerIn], Field(max_length=MOST_CELLS)]
    unsolicited: bool = False
    price: Money | None = None

    def triples(self) -> list[tuple[object, str, object]]:
        """Return the answers as the library takes them."""
        return [(answer.row, answer.column, answer.value) for answer in self.answers]


class CorrectIn(AnswerIn):
    """The right value of a cell, and what was wrong."""

    reason: Annotated[str, Field(min_length=1, max_length=1000)] | None = None


class RowsIn(RequestModel):
    """New rows: for each id, values by column name. Columns that are left out are missing."""

    rows: Annotated[dict[str, dict[str, Value | None]], Field(max_length=MOST_CELLS)]


class Recorded(ResponseModel):
    """How many cells, answers or rows were new; what was known before is no error."""

    new: int


class FileOut(ResponseModel):
    """The result of a file of answers, or of a dry run."""

    new: int
    known: int
    blank: int


class CellOut(ResponseModel):
    """A cell of the table."""

    column: str
    status: StatusWord
    value: bool | int | float | str | None


class RowOut(ResponseModel):
    """A row of the table."""

    row: str
    cells: list[CellOut]


class ColumnOut(ResponseModel):
    """A column: what its cells may hold, and how many are missing."""

    name: str
    kind: Kind
    unit: str | None
    lowest: float | int | str | None
    highest: float | int | str | None
    categories: list[str]
    expected: Annotated[str, Field(description="What a cell may hold, in words.")]
    group: Annotated[str | None, Field(description="The price group, such as one blood draw.")]
    missing: int


class EventOut(ResponseModel):
    """An event of the log; which further fields it has depends on its kind."""

    model_config = ConfigDict(from_attributes=True, extra="allow")

    number: int
    time: datetime
    kind: Literal["asked", "taken", "given back", "told", "refused", "cancelled", "corrected", "extended"]
    who: str | None
    key: str | None


class SummaryOut(ResponseModel):
    """A summary, the event that it is as of, and whether it is being renewed.

    The data are null until the summary is computed for the first time.
    """

    what: str
    as_of: int | None
    newest: int
    renewing: bool
    error: Annotated[str | None, Field(description="Why it could not be renewed, if so.")]
    data: dict[str, Any] | None


class ProblemPlace(ResponseModel):
    """One of several mistakes in a request: the message, and the line and field where they are known."""

    message: str
    line: int | None = None
    field: str | None = None


class ProblemOut(ResponseModel):
    """Problem details, as in RFC 9457."""

    type: str
    title: str
    status: int
    detail: str
    instance: str
    errors: list[ProblemPlace] | None = None
