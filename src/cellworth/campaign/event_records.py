"""The events of a campaign as plain records, and as a frame with a line for each cell."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Literal, get_args

from cellworth.campaign.events import Corrected, Event, Extended
from cellworth.errors import ParameterError
from cellworth.optional import require

Library = Literal["pandas", "polars", "pyarrow"]
Record = dict[str, Any]

_FRAME = ("number", "time", "kind", "who", "row", "column", "value", "price", "worth", "round", "reason")


def records(events: Iterable[Event]) -> list[Record]:
    """Return each event as a dict: number, time, kind, who, key, and what it holds by name."""
    return [_record(event) for event in events]


def cell_frame(events: Iterable[Event], library: Library) -> Any:
    """Return a frame with a line for each cell of each event; values are texts, as they were written."""
    import narwhals  # only where a frame is wanted

    if library not in get_args(Library):
        raise ParameterError(f"frame must be one of {', '.join(get_args(Library))}; got {library!r}.")
    require(library)
    lines = [line for event in events for line in _lines(event)]
    data = {name: [line.get(name) for line in lines] for name in _FRAME}
    return narwhals.from_dict(data, backend=library).to_native()


def _record(event: Event) -> Record:
    content = event.content
    record: Record = {
        "number": event.number,
        "time": event.time,
        "kind": event.kind,
        "who": event.who,
        "key": event.key,
        **content.to_json(),
    }
    if isinstance(content, Extended):
        del record["table"]
    elif not isinstance(content, Corrected):
        record["cells"] = [cell._asdict() for cell in content.cells]
    return record


def _lines(event: Event) -> Iterator[Record]:
    record = _record(event)
    if isinstance(event.content, Corrected):
        cells = [{"row": record["row"], "column": record["column"], "value": record["new"]}]
    elif isinstance(event.content, Extended):
        cells = [{"row": row} for row in record["rows"]]
    else:
        cells = record.pop("cells")
    for cell in cells:
        line = {**record, **cell}
        if line.get("value") is not None:
            line["value"] = str(line["value"])
        yield line
