"""What a report says of the columns of a table in row blocks, without reading it."""

from __future__ import annotations

from cellworth.blocks.block_table import BlockTable
from cellworth.report import markup
from cellworth.report.summaries import short_name

MOST_COLUMNS_LISTED = 500


def columns_on_blocks(before: BlockTable, now: BlockTable, *, labels: bool = False) -> str:
    """Return the section about the columns of a table at the start and now; with labels, if they count."""
    rows = [
        (
            short_name(column.name, 80),
            column.kind + (f", {column.unit}" if column.unit else ""),
            f"{then / now.n_rows:.1%}",
            f"{left / now.n_rows:.1%}",
            f"{then - left:,}",
        )
        for column, then, left in zip(
            now.columns[:MOST_COLUMNS_LISTED],
            before.holes_by_column.tolist(),
            now.holes_by_column.tolist(),
            strict=False,
        )
    ]
    if labels and now.target is not None:
        then, left = before.n_unlabelled, now.n_unlabelled
        shares = f"{then / now.n_rows:.1%}", f"{left / now.n_rows:.1%}"
        rows.append((short_name(now.target.name, 80), "labels", *shares, f"{then - left:,}"))
    caption = f"Missing cells of all {now.n_rows:,} rows, in table order."
    header = ("column", "kind", "missing at the start", "missing now", "bought")
    words = (
        "The table is in row blocks, which are not read whole: there is no map of its cells, and no worth "
        "and fill error of its columns. Scores are those of the sample of rows that they name."
    )
    return markup.section("Columns", [markup.table(caption, header, rows, (0, 1)), markup.paragraph(words)])
