"""Who bought what, when, for how much: the events of a campaign as tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from cellworth.report import page

Record = dict[str, Any]
Line = tuple[str, ...]

SHOWN = 20
MOST_LINES = 2000
LONGEST = 60
"""Characters of a text of the user that are shown."""
HEADER = ("event", "when (UTC)", "who", "what", "row", "column", "value", "price")
TEXTS = (1, 2, 3, 4, 5, 6)


def ledger(history: Sequence[Record], *, spent: float) -> str:
    """Return the section with all answers, refusals, corrections and new rows, as HTML; the newest first.

    The first lines are shown, the others folded; of very many only the newest are on the page.
    """
    lines = [line for record in reversed(history) for line in _lines(record)]
    answers = sum(len(record["cells"]) for record in history if record["kind"] == "told")
    heading = "Ledger"
    if not lines:
        return page.section(heading, [page.paragraph("Nothing has been bought yet.")])
    kept = lines[:MOST_LINES]
    caption = f"{answers} cells bought for {spent:.2f}; the newest first."
    parts = [page.table(caption, HEADER, kept[:SHOWN], TEXTS)]
    if len(kept) > SHOWN:
        rest = page.table("Earlier entries.", HEADER, kept[SHOWN:], TEXTS)
        parts.append(page.folded(f"{len(kept) - SHOWN} earlier entries", [rest]))
    if len(lines) > MOST_LINES:
        left_out = len(lines) - MOST_LINES
        parts.append(page.paragraph(f"{left_out} still earlier entries are in campaign.history()."))
    return page.section(heading, parts)


def _lines(record: Record) -> Iterator[Line]:
    """Yield the lines of one event, its last cell first; asks and cancellations have none."""
    kind = record["kind"]
    start = (str(record["number"]), f"{record['time']:%Y-%m-%d %H:%M}", _text(record["who"] or ""))
    if kind == "told":
        for cell in reversed(record["cells"]):
            yield (*start, "bought", *_names(cell), _text(cell["value"]), f"{cell['price']:.2f}")
    elif kind == "refused":
        for cell in reversed(record["cells"]):
            yield (*start, _text(f"refused: {record['reason']}"), *_names(cell), "", "")
    elif kind == "corrected":
        value = f"{_text(record['old'])} → {_text(record['new'])}"
        yield (*start, _text(f"corrected{_because(record)}"), *_names(record), value, "")
    elif kind == "extended":
        rows = record["rows"]
        yield (
            *start,
            f"{len(rows)} rows added",
            _text(rows[0]) + (" …" if len(rows) > 1 else ""),
            "",
            "",
            "",
        )


def _names(cell: Record) -> tuple[str, str]:
    return _text(cell["row"]), _text(cell["column"])


def _because(record: Record) -> str:
    return f": {record['reason']}" if record["reason"] else ""


def _text(value: object) -> str:
    text = f"{value:.6g}" if isinstance(value, float) else str(value)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
