"""Files of new rows for the table of a campaign."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from cellworth.campaign.extension import Rows
from cellworth.errors import DataError
from cellworth.table import Table
from cellworth.table.build import check_names, check_row_ids
from cellworth.table.files import AnyFile, check_readable, file_of, format_of
from cellworth.table.missing_marks import missing_marks, open_holes
from cellworth.table.raw_cells import as_texts
from cellworth.table.read_csv import read_csv
from cellworth.wording import not_there


def read_rows(
    path: AnyFile,
    like: Table,
    *,
    missing: Iterable[object] = (),
    encoding: str = "utf-8",
    delimiter: str | None = None,
) -> Rows:
    r"""Read rows that `Campaign.extend` can add to a table; O(cells of the file).

    Unlike `Table.read` it finds no kinds, for the table has them: columns may be left out or all unknown, the
    target too. A Parquet file must have all columns.

    Parameters
    ----------
    path : str or path
        As in `Table.read`. A file without a column of row ids is numbered on, if the table's rows are
        numbered.
    like : Table
    missing, encoding, delimiter
        As in `Table.read`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> table = Table.from_arrays([[61, 1.5]], columns=["age", "dose"], row_ids=["a"])
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "rows.csv"
    >>> _ = path.write_text("row_id,age\nb,47\nc,?\n")
    >>> read_rows(path, table, missing=["?"])
    {'b': {'age': '47'}, 'c': {}}
    """
    file = file_of(path)
    if format_of(file, "For other files load a DataFrame and use Table.from_frame.") == "parquet":
        return Table.read(file, missing=list(missing), **like.keywords())
    check_readable(file)
    columns, source = read_csv(file, encoding, delimiter)
    check_names([column.name for column in columns], source)
    marks = missing_marks(missing)
    texts = {column.name: as_texts(open_holes(column.cells, marks)).texts for column in columns}
    if like.row_id is None:
        row_ids = [str(len(like.row_ids) + place) for place in range(len(source.row_ids))]
    elif like.row_id in texts:
        row_ids = list(texts.pop(like.row_id))
    else:
        raise DataError(f"{file}: {not_there('column', like.row_id, list(texts))} It names the rows.")
    check_row_ids(row_ids, like.row_id, replace(source, row_ids=row_ids))
    names = (*like.column_names, *(() if like.target is None else (like.target.name,)))
    for name in texts:
        if name not in names:
            raise DataError(f"{file}: {not_there('column', name, names)}")
    return {
        row: {name: cells[place] for name, cells in texts.items() if cells[place]}
        for place, row in enumerate(row_ids)
    }
