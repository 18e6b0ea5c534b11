"""``cellworth extend``."""

from __future__ import annotations

from cellworth.cli import options
from cellworth.cli.opening import opened
from cellworth.cli.terminal import count, print_json

EXAMPLE = "Example: cellworth extend january.csv --missing '?'"


def extend(
    table: options.TablePath,
    missing: options.Missing = None,
    encoding: options.Encoding = None,
    delimiter: options.Delimiter = None,
    who: options.Who = None,
    store: options.Store = options.DEFAULT_STORE,
    name: options.Name = None,
    as_json: options.Json = False,
) -> None:
    """Add rows at the end of the table. Row ids must be new.

    Columns that a CSV file leaves out, the target among them, are holes.
    """
    with opened(store, name) as campaign:
        from cellworth.campaign.new_rows import read_rows

        rows = read_rows(
            table,
            campaign.table,
            missing=missing or (),
            encoding=encoding or "utf-8",
            delimiter=delimiter,
        )
        new = campaign.extend(rows, who=who)
        if as_json:
            print_json({"added": new, "rows": campaign.table.shape[0]})
        else:
            print(f"{count(new, 'row')} added; the table has {count(campaign.table.shape[0], 'row')} now")
