"""A table with holes: how it is read, what models see, and how it is written."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
import numpy.typing as npt

from cellworth.arrays import BoolArray, Float64Array, IntArray
from cellworth.cached_property import cached_property
from cellworth.errors import DataError
from cellworth.messages import not_there
from cellworth.table.build_table import assemble, checked_cells, own_copy
from cellworth.table.column import Column
from cellworth.table.encoded import ColumnLayout, Encoded, encode, refuse_huge
from cellworth.table.files import AnyFile, check_readable, file_of, format_of, other_files
from cellworth.table.frames import check_columns, index_column, read_frame, read_parquet
from cellworth.table.keywords import Bounds, Keywords, Missing, TableKeywords, table_keywords
from cellworth.table.parse_values import label
from cellworth.table.raw_cells import NumberedRows
from cellworth.table.read_arrays import read_arrays
from cellworth.table.read_csv import read_csv
from cellworth.table.read_options import ReadOptions
from cellworth.table.target import Target
from cellworth.table.text_file import written_as
from cellworth.table.write_table import (
    Library,
    out_columns,
    summary_of,
    table_as_csv,
    table_html,
    to_frame,
    usual_library,
    write_table,
)

if TYPE_CHECKING:
    from cellworth.blocks.block_table import BlockTable


class Table:
    """A table with holes. Create one with `Table.read`, `Table.from_frame` or `Table.from_arrays`.

    Tables are immutable: the arrays are read-only, and `with_values` returns a new table.

    Attributes
    ----------
    columns : tuple of Column, length p
        The features, without the target and the row ids.
    values : ndarray of shape (n, p), read-only
        One float64 per cell, NaN = hole; see `Column` for how each kind is represented.
    holes : ndarray of bool of shape (n, p), read-only
        True where there is no value.
    target : Target or None
        The labels of the rows.
    row_id : str or None
        The column that the row ids came from.
    read_options : ReadOptions or None
        How its file was written, if it came from `read`.

    Examples
    --------
    >>> cells = [[1.5, "red"], [None, "blue"], [2.5, None]]
    >>> table = Table.from_arrays(cells, [0, 1, 1], columns=["size", "hue"])
    >>> table
    Table of 3 rows and 2 columns (1 number, 1 category)
      holes: 2 of 6 cells (33.3 %)
      target: 'target', two classes: 0, 1
    >>> table.columns[1].categories
    ('blue', 'red')
    """

    def __init__(
        self,
        columns: Sequence[Column],
        values: npt.ArrayLike = (),
        row_ids: Sequence[str] = (),
        target: Target | None = None,
        row_id: str | None = None,
    ) -> None:
        check_columns(columns)
        self.columns = tuple(columns)
        self._row_ids = row_ids if isinstance(row_ids, NumberedRows) else tuple(row_ids)
        self.target, self.row_id = target, row_id
        self.values: Float64Array = own_copy(values)
        self.holes: BoolArray = np.isnan(self.values)
        self.values.setflags(write=False)
        self.holes.setflags(write=False)
        self.read_options: ReadOptions | None = None

    @cached_property
    def row_ids(self) -> tuple[str, ...]:
        """The user's n row ids; "0", "1", ... if there are none."""
        return tuple(self._row_ids)

    @property
    def holes_by_column(self) -> IntArray:
        """Number of holes in each column, (p,)."""
        return self.holes.sum(axis=0)

    @classmethod
    def read(
        cls,
        path: AnyFile,
        *,
        target: str | None = None,
        row_id: str | None = None,
        missing: Missing = (),
        kinds: Mapping[str, str] | None = None,
        bounds: Bounds | None = None,
        categories: Mapping[str, Sequence[object]] | None = None,
        units: Mapping[str, str] | None = None,
        descriptions: Mapping[str, str] | None = None,
        target_kind: str | None = None,
        encoding: str | None = None,
        delimiter: str | None = None,
        decimal: str | None = None,
        date_format: str | None = None,
    ) -> Table:
        r"""Read a file that ends in .csv, .tsv, .txt (each also with .gz), .xlsx or .parquet.

        Blank cells and NaN are holes, and so are the marks of ``pandas.read_csv``: NA, N/A, #N/A, NULL, None
        and the like, unless ``categories`` names them. A category that looks like a mark, such as ? or
        unknown, causes a warning. White space around names and texts is stripped. Takes O(n p): about
        a second per million cells of CSV; a tenth for a large file, if pyarrow is there and quotes balance.

        Parameters
        ----------
        path : str, path, FileBytes or TextFile
            The file, its content, or the file with how its text is written.
        target : str, optional
            The column to predict; labels may be missing.
        row_id : str, optional
            The column with the row ids; by default, rows are named "0", "1", ...
        missing : sequence, or mapping of column name to sequence
            Additional marks for holes, such as ["?", "n/a", -9]; -9 also matches -9.0.
        kinds : mapping of column name to kind
            "number", "integer", "boolean", "ordered", "category" or "date" (see `Column`), to override the
            inferred kind. Text is inferred as follows: whole numbers are "integer" (including columns of 0
            and 1), other numbers "number", true/false or yes/no "boolean", ISO dates "date", and everything
            else "category".
        bounds : mapping of column name to (lowest, highest)
            The range of a number, integer or date; None for an open side. Dates as dates or ISO texts.
        categories : mapping of column name to sequence
            All texts of a category column, or those of an ordered column from low to high.
        units : mapping of column name to str
            The units of the values, for display.
        descriptions : mapping of column name to str
            What the columns hold or how they are measured, for those who collect the values.
        target_kind : {"two classes", "several classes", "number"}, optional
            Inferred if not given: two distinct labels are "two classes"; numbers with fractions or with more
            than 20 distinct values are "number", and so is a target whose kind is said to be "number";
            everything else is "several classes".
        encoding : str, optional
            The encoding of a text file; by default UTF-8 or, with a warning, Windows-1252 (Latin-1).
        delimiter : str, optional
            The field separator; by default, a tab in .tsv, a tab or comma in .txt, and a comma otherwise.
        decimal : {".", ","}, optional
            The decimal mark of numbers; with a comma, 1.234,5 is 1234.5.
        date_format : str, optional
            How dates are written, such as "DD.MM.YYYY" or "%d.%m.%Y". ISO dates need no format.

        Raises
        ------
        DataError
            If the file cannot be used as is; the message says where the problem is and how to fix it.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "patients.csv"
        >>> _ = path.write_text("id,age,stage,ill\na,61,II,yes\nb,?,I,no\n")
        >>> table = Table.read(path, target="ill", row_id="id", missing=["?"])
        >>> table.values
        array([[61.,  1.],
               [nan,  0.]])
        """
        said = TableKeywords(
            target, row_id, missing, kinds, bounds, categories, units, descriptions, target_kind
        )
        file = written_as(file_of(path), encoding, delimiter, decimal, date_format)
        file_format = format_of(file, other_files())
        check_readable(file)
        if file_format == "parquet":
            raw, origin = read_parquet(file)
        else:
            raw, origin = read_csv(file, encoding, delimiter, as_is=(row_id,), wishes=said.wishes())
        table = cls(*assemble(raw, said, origin))
        table.read_options = ReadOptions.of(file, missing, delimiter)
        return table

    @classmethod
    def open(
        cls,
        path: Any,
        *,
        target: str | None = None,
        row_id: str | None = None,
        columns: Sequence[str] | None = None,
        labels: Any = None,
        engine: Any = None,
        **keywords: Unpack[Keywords],
    ) -> BlockTable:
        """Open a table that may be larger than memory, to be read in blocks of rows; keywords as for `read`.

        One pass over the files finds kinds, categories, labels and holes; cells stay in the files.

        Parameters
        ----------
        path : path, array or Dask data frame
            A Parquet folder or file, a Zarr array (its name ends in .zarr), or a NumPy or Dask array.
        columns : sequence of str, optional
            The features, by default all other columns; of an array, their names.
        labels : path or array, optional
            For an array, instead of ``target``: the labels (n,), or a Zarr array of them.
        engine : Engine, optional
            Where blocks are processed, by default on threads of this process; see `cellworth.blocks`.
        """
        from cellworth.blocks.open_table import open_table

        said = TableKeywords(target, row_id, **keywords)
        return open_table(path, said, columns=columns, labels=labels, engine=engine)

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        target: str | None = None,
        row_id: str | None = None,
        **keywords: Unpack[Keywords],
    ) -> Table:
        """Create a table from a pandas or polars DataFrame or a pyarrow Table; keywords as for `read`.

        Kinds come from the column types; text is interpreted as in a file. An ordered pandas Categorical, a
        polars Enum and an ordered pyarrow dictionary are "ordered". A pandas index other than 0, 1, ... gives
        the row ids. Columns that pandas numbers 0, 1, ... are named '0', '1', ..., and keywords may name them
        by number.

        Examples
        --------
        >>> import pandas
        >>> Table.from_frame(pandas.DataFrame({"age": [61, None]}, index=["a", "b"])).row_ids
        ('a', 'b')
        """
        raw, origin = read_frame(frame)
        said = TableKeywords(target, row_id, **keywords).of_frame()
        index = index_column(frame, said.row_id)
        if index is not None:
            raw, said = [index, *raw], replace(said, row_id=index.name)
            origin = replace(origin, ids_from="index")
        return cls(*assemble(raw, said, origin))

    @classmethod
    def from_arrays(
        cls,
        X: Any,
        y: Any = None,
        *,
        columns: Sequence[str] | None = None,
        row_ids: Sequence[object] | None = None,
        target: str = "target",
        **keywords: Unpack[Keywords],
    ) -> Table:
        """Create a table from X (n, p), numbers or objects, and labels y (n,); other keywords as for `read`.

        Columns are named x0, x1, ... unless `columns` is given.

        Examples
        --------
        >>> Table.from_arrays([[1.0, np.nan], [2.0, 3.0]]).holes
        array([[False,  True],
               [False, False]])
        """
        raw, origin = read_arrays(X, y, columns, row_ids, target)
        name = None if y is None else label(target)
        said = TableKeywords(name, None if row_ids is None else raw[0].name, **keywords)
        return cls(*assemble(raw, said, origin))

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows n and of columns p."""
        return len(self._row_ids), len(self.columns)

    @property
    def column_names(self) -> tuple[str, ...]:
        """The names of the p columns."""
        return tuple(column.name for column in self.columns)

    @property
    def y(self) -> Float64Array | None:
        """The target's values (n,), NaN = missing label, read-only; None without a target."""
        return None if self.target is None else self.target.values

    @cached_property
    def _row_places(self) -> dict[str, int]:
        return {known: place for place, known in enumerate(self.row_ids)}

    def row_index(self, row_id: object) -> int:
        """Return the index of the row with this id; DataError suggests the closest id."""
        if label(row_id) not in self._row_places:
            raise DataError(not_there("row", label(row_id), self.row_ids))
        return self._row_places[label(row_id)]

    def column_index(self, name: str) -> int:
        """Return the index of the column with this name; DataError suggests the closest name."""
        if name not in self.column_names:
            raise DataError(not_there("column", name, self.column_names))
        return self.column_names.index(name)

    @property
    def layout(self) -> ColumnLayout:
        """Which numeric columns represent which column; it depends only on the columns."""
        return ColumnLayout(self.columns)

    def encode(self, *, prior: bool = False) -> Encoded:
        """Encode the cells as a matrix (n, d) for models, see `Encoded`; ``prior`` for fits, see `encode`."""
        if prior:
            refuse_huge(self.values, self.row_ids, self.columns)
        return encode(self.columns, self.values, prior=prior)

    def with_values(self, values: npt.ArrayLike) -> Table:
        """Return a new table with these cells and the same columns, row ids and target.

        Parameters
        ----------
        values : array-like of shape (n, p)
            Each cell is NaN (a hole) or a value that its column allows; otherwise DataError names the cell.

        Examples
        --------
        >>> table = Table.from_arrays([["red", 1.0], [None, 2.0], ["blue", 3.0]])
        >>> table.with_values([[1, 1.0], [0, 2.0], [0, 3.0]]).to_frame("polars")["x0"].to_list()
        ['red', 'blue', 'blue']
        """
        cells = checked_cells(values, self.columns, self.row_ids)
        return Table(self.columns, cells, self.row_ids, self.target, self.row_id)

    def to_frame(self, library: Library | None = None) -> Any:
        """Return the user's own values as a frame: row ids first, if they have a name, and the target last.

        Categories become categoricals, integers and booleans have nulls for holes, and dates stay dates. The
        library is "pandas", "polars" or "pyarrow"; by default the first of these that is installed.
        """
        return to_frame(library or usual_library(), self.row_id, self.row_ids, out_columns(self))

    def head(self, rows: int = 5) -> Table:
        """Return the first rows, as a table of the same columns; a notebook shows it with its holes."""
        few = max(0, rows)
        target = self.target and replace(self.target, values=self.target.values[:few])
        return Table(self.columns, self.values[:few], self.row_ids[:few], target, self.row_id)

    def write(
        self, path: str | os.PathLike[str], *, delimiter: str | None = None, decimal: str = "."
    ) -> None:
        """Write the user's own values to a file that `read` can read, in the format given by its suffix.

        A Parquet file stores kinds, bounds, units and target, and reads back exactly; so does a CSV file with
        ``Table.read(path, **table.keywords())``. The file is replaced atomically. Text is written with commas
        and decimal points, unless ``delimiter`` and ``decimal`` say otherwise, as in ``table.write(path,
        **table.read_options.written)``, which writes as the table's own file was written.
        """
        columns = out_columns(self)
        write_table(Path(path), self.row_id, self.row_ids, columns, delimiter=delimiter, decimal=decimal)

    def to_csv(self, separator: str = ",", decimal: str = ".") -> str:
        """Return the text that `write` writes to a .csv file."""
        return table_as_csv(self.row_id, self.row_ids, out_columns(self), separator, decimal)

    def keywords(self) -> dict[str, Any]:
        """Return the keywords that make `read` restore this table from the written file."""
        return table_keywords(self.columns, self.target, self.row_id)

    def equals(self, other: Table) -> bool:
        """Return whether the other table has the same columns, row ids, cells and target."""
        same_target = other.target is None if self.target is None else self.target.equals(other.target)
        return (
            (self.columns, self.row_ids, self.row_id) == (other.columns, other.row_ids, other.row_id)
            and np.array_equal(self.values, other.values, equal_nan=True)
            and same_target
        )

    def __repr__(self) -> str:
        unlabelled = 0 if self.target is None else int(np.isnan(self.target.values).sum())
        return summary_of(self.columns, self.shape[0], int(self.holes.sum()), self.target, unlabelled)

    def _repr_html_(self) -> str:
        """Return the summary and the first rows, for notebooks."""
        return table_html(repr(self), self.row_id, self.row_ids, out_columns(self))
