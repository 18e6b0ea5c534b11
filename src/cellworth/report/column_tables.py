"""The section of a report about the columns: a line for each."""

from __future__ import annotations

from collections.abc import Sequence

from cellworth.prices.currency import in_currency, money_text
from cellworth.report import markup
from cellworth.report.column_summaries import ColumnSummary
from cellworth.report.fill_errors import LEVEL
from cellworth.report.summaries import short_name

MOST_COLUMNS_LISTED = 500


def column_table(columns: Sequence[ColumnSummary], currency: str | None = None, sample: str = "") -> str:
    """Return the section about the columns, in table order; ``sample`` says of which rows errors are."""
    in_order = sorted(columns, key=lambda column: column.place)
    described = any(each.description for each in in_order[:MOST_COLUMNS_LISTED])
    rows = [
        (
            short_name(each.name, 80),
            *([short_name(each.description or "", 300)] if described else []),
            each.kind + (f", {each.unit}" if each.unit else ""),
            f"{each.holes_before:.0%}",
            f"{each.holes:.0%}",
            str(each.bought),
            str(each.refused),
            _price_range(each),
            *_measured(each),
        )
        for each in in_order[:MOST_COLUMNS_LISTED]
    ]
    header = (
        "column",
        *(["description"] if described else []),
        "kind",
        "holes at the start",
        "holes now",
        "bought",
        "refused",
        in_currency("price", currency),
        "error of the filling",
        "best single guess",
        f"within {100 * LEVEL:.0f} % intervals",
    )
    notes = (
        "The error is measured on known cells that were hidden and filled "
        "again, with its 95 % interval: root mean square in the column's unit, days for dates, or the share "
        "of wrong values for texts and booleans. The best single guess is the error of always guessing the "
        "mean, or the most common value. The last column counts the hidden cells inside their intervals."
    )
    if sample:
        notes += f" The table is in row blocks: errors were measured {sample}; all else is of all rows."
    texts = (1, 2) if described else (1,)
    parts = [markup.paragraph(notes), markup.table(f"The {len(rows)} columns.", header, rows, texts)]
    if len(columns) > MOST_COLUMNS_LISTED:
        parts.append(markup.paragraph(f"{len(columns) - MOST_COLUMNS_LISTED} more columns are not listed."))
    return markup.section("Columns", parts)


def _price_range(column: ColumnSummary) -> str:
    low, high = money_text(column.price_low), money_text(column.price_high)
    return low if low == high else f"{low} to {high}"


def _measured(column: ColumnSummary) -> tuple[str, str, str]:
    error = column.error
    if error is None:
        return "not guessed" if column.is_label else "too few known", "", ""
    covered = "" if error.covered is None else f"{error.covered} of {error.hidden}"
    return error.words, error.guess_words, covered
