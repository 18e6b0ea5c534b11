"""Commands that show a campaign: status, log, export, report."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cellworth.cli import options
from cellworth.cli.build_command import Option, WrongUsage
from cellworth.cli.output import Force, count, make_way, print_json, print_table, working
from cellworth.prices.currency import money_text
from cellworth.shown_numbers import reworded

if TYPE_CHECKING:
    from cellworth.campaign import Campaign
    from cellworth.table import Table

MOST_CELLS = 3  # shown for each event


def status(
    *,
    on: options.CampaignOptions,
    as_json: options.Json = False,
) -> None:
    """Show how a campaign is doing: money, cells, model quality, and what more money may bring.

    Example: cellworth status
    """
    with on.campaign(reading=True) as campaign:
        with working("Completing the table and evaluating a model") as progress:
            found = campaign.status(progress=progress)
        if as_json:
            print_json(found.to_json())
        else:
            print(found.describe())


def log(
    *,
    since: Annotated[int, Option(metavar="NUMBER", min=0, help="Only list events after this number.")] = 0,
    on: options.CampaignOptions,
    as_json: options.Json = False,
) -> None:
    """List everything that happened in a campaign, oldest first.

    Example: cellworth log --since 12
    """
    with on.campaign(reading=True) as campaign:
        records = campaign.history(after=since)
        if as_json:
            print_json({"name": campaign.name, "events": records})
        elif not records:
            print("There are no events" + (f" after {since}" if since else " yet"))
        else:
            rows = [
                (r["number"], f"{r['time']:%Y-%m-%d %H:%M:%S}", r["kind"], r["who"] or "", _what(r, campaign))
                for r in records
            ]
            print_table(("number", "time (UTC)", "kind", "who", "what"), rows, right=("number",))


def _what(record: dict[str, Any], campaign: Campaign) -> str:
    """Summarize the content of an event."""
    if record["kind"] == "corrected":
        old, new = (_written(campaign, record["column"], record[each]) for each in ("old", "new"))
        return f"{record['row']}:{record['column']} from {old} to {new}{_because(record)}"
    if record["kind"] == "budget changed":
        both = (record["old"], record["new"])
        old, new = (
            "no limit" if each is None else money_text(each, campaign.prices.currency) for each in both
        )
        return f"from {old} to {new}" + _because(record)
    if record["kind"] == "category added":
        before = "" if record["before"] is None else f", before {record['before']}"
        return f"{record['column']}: {record['new']}{before}{_because(record)}"
    if record["kind"] in ("stage changed", "table moved"):
        return f"from {record['old']} to {record['new']}" + _because(record)
    if record["kind"] == "prices changed":
        return "for cells asked for from now on" + _because(record)
    if record["kind"] == "clock set":
        return f"back by {record['back']:.0f} s" + _because(record)
    if record["kind"] == "extended":
        return _listed(record["rows"], "row")
    cells = []
    for place, cell in enumerate(record["cells"]):
        told = {each: cell[each] for each in ("value", "known") if each in cell and place < MOST_CELLS}
        said = {each: _written(campaign, cell["column"], value) for each, value in told.items()}
        known = f", known: {said['known']}" if "known" in said else ""
        cells.append(f"{cell['row']}:{cell['column']}" + (f"={said['value']}" if said else "") + known)
    return _listed(cells, "cell") + _because(record)


def _written(campaign: Campaign, column: str, value: object) -> str:
    """Return a value as the user writes it; a label that is no number as it is."""
    found = next((each for each in campaign.columns if each.name == column), None)
    if found is not None:
        return found.text_of(value)
    return reworded(str(value)) if isinstance(value, float) else str(value)


def _because(record: dict[str, Any]) -> str:
    return f": {record['reason']}" if record.get("reason") else ""


def _listed(names: list[str], noun: str) -> str:
    more = ", ..." if len(names) > MOST_CELLS else ""
    return f"{count(len(names), noun)} ({', '.join(names[:MOST_CELLS])}{more})"


def export(
    *,
    out: Annotated[
        Path | None,
        Option(
            metavar="FILE",
            help="A .csv, .tsv, .xlsx or .parquet file; of a table in row blocks also a new Parquet folder, "
            "without an ending. By default, print CSV.",
        ),
    ] = None,
    force: Force = False,
    spreadsheet: options.Spreadsheet = False,
    on: options.CampaignOptions,
    as_json: options.Json = False,
) -> None:
    """Write the current table: the original with all answers, corrections and added rows.

    Text has the separator and the decimal mark of the original.

    Example: cellworth export --out table.csv
    """
    from cellworth.table import Table
    from cellworth.table.write_table import guard_table, write_for_spreadsheet

    with on.campaign(reading=True) as campaign:
        make_way(out, force=force)
        table, as_read = campaign.table, campaign.read_options.written
        if not isinstance(table, Table):
            _export_blocks(table, out, spreadsheet=spreadsheet, as_json=as_json)
            return
        if out is None:
            table = guard_table(table) if spreadsheet else table
            print_json({"rows": _rows(table)}) if as_json else sys.stdout.write(
                table.to_csv(as_read["delimiter"] or ",", as_read["decimal"])
            )
            return
        write_for_spreadsheet(table, out, **as_read) if spreadsheet else table.write(out, **as_read)
        holes = int(table.holes.sum())
        if as_json:
            print_json({"out": str(out), "rows": table.shape[0], "holes": holes})
        else:
            print(f"{count(table.shape[0], 'row')} with {count(holes, 'hole')} written to {out}")


def _export_blocks(table: Any, out: Path | None, *, spreadsheet: bool, as_json: bool) -> None:
    """Write a table in row blocks: to one file if its name has the ending of one, else to a folder."""
    from cellworth.blocks.writing import csv_parts, write_whole

    if out is None:
        if as_json:
            raise WrongUsage("the campaign's table is in row blocks: give a file or folder, with --out.")
        sys.stdout.writelines(csv_parts(table, guarded=spreadsheet))
        return
    if out.suffix.lower() in (".csv", ".tsv", ".txt", ".gz", ".xlsx", ".parquet"):
        write_whole(table, out, guarded=spreadsheet)
    else:
        table.write(out)
    if as_json:
        print_json({"out": str(out), "rows": table.n_rows, "holes": table.n_holes})
    else:
        print(f"{count(table.n_rows, 'row')} with {count(table.n_holes, 'hole')} written to {out}")


def _rows(table: Table) -> list[dict[str, Any]]:
    """Return the rows with values as the user writes them; None for a hole."""
    columns = [(column, table.values[:, place]) for place, column in enumerate(table.columns)]
    if table.target is not None:
        columns.append((table.target.column, table.target.cells))
    return [
        {table.row_id or "row": row}
        | {column.name: column.format(float(values[place])) for column, values in columns}
        for place, row in enumerate(table.row_ids)
    ]


def report(
    *,
    out: Annotated[Path, Option(metavar="FILE", help="Write the report to this HTML file.")] = Path(
        "report.html"
    ),
    force: Force = False,
    on: options.CampaignOptions,
    as_json: options.Json = False,
) -> None:
    """Write an HTML report on a campaign: money, cells, curves, and what is still out.

    Example: cellworth report --out report.html
    """
    with on.campaign(reading=True) as campaign:
        make_way(out, force=force)
        with working("Writing the report") as progress:
            campaign.write_report(out, progress=progress)
        if as_json:
            print_json({"out": str(out)})
        else:
            print(f"The report is in {out}")
