"""One way in for tables that are read block by block."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np

from cellworth.blocks.array_source import array_source
from cellworth.blocks.parquet_source import parquet_source
from cellworth.blocks.source import Source
from cellworth.errors import ParameterError
from cellworth.optional import require


def open_blocks(
    table: Any,
    *,
    target: Any = None,
    row_id: str | None = None,
    columns: Sequence[str] | None = None,
) -> Source:
    """Open a table that is read block by block; only its outline is looked at.

    Parameters
    ----------
    table : path, array or data frame
        A Parquet file or folder (with its sub-folders, files in the order of their names); a Zarr array
        (a path that ends in .zarr); a Dask or NumPy array; a Dask data frame. NaN and null are holes.
    target : str or array, optional
        The labels: the name of a column, or for arrays an array (n,) or the path of a Zarr array.
    row_id : str, optional
        The column that names the rows, in Parquet files. By default rows are numbered from 0.
    columns : sequence of str, optional
        Parquet: the columns to complete, by default all but the target and the row id. Arrays: their names.

    Returns
    -------
    Source

    Examples
    --------
    >>> import numpy as np
    >>> from cellworth.engine import open_blocks
    >>> source = open_blocks(np.array([[1.0, np.nan], [2.0, 4.0]]), columns=["a", "b"])
    >>> source.n_rows, source.columns
    (2, ('a', 'b'))
    """
    if isinstance(table, str | PathLike):
        path = Path(fspath(table)).absolute()  # workers may stand in another folder
        if path.suffix != ".zarr":
            if target is not None and not isinstance(target, str):
                raise ParameterError(
                    f"the target of a Parquet table must be the name of a column; got {type(target).__name__}"
                )
            return parquet_source(path, target, row_id, columns)
        require("zarr")
        table = str(path)
    if row_id is not None:
        raise ParameterError(f"row_id is for Parquet tables; got {row_id!r} with {type(table).__name__}")
    if hasattr(table, "to_dask_array"):
        return _from_dask_frame(table, target, columns)
    if isinstance(target, str | PathLike):
        target = str(Path(fspath(target)).absolute())
        if not target.endswith(".zarr"):
            raise ParameterError(
                f"the target of an array must be an array, or a path that ends in .zarr; got {target!r}"
            )
    if not isinstance(table, str) and not hasattr(table, "dask"):
        table = np.asarray(table)
    if target is not None and not isinstance(target, str) and not hasattr(target, "dask"):
        target = np.asarray(target)
    return array_source(table, target, columns)


def _from_dask_frame(frame: Any, target: str | None, columns: Sequence[str] | None) -> Source:
    """Return the source of a Dask data frame, whose partitions are counted now."""
    names = list(columns or (name for name in frame.columns if name != target))
    X = frame[names].to_dask_array(lengths=True)
    y = None if target is None else frame[target].to_dask_array(lengths=True)
    return array_source(X, y, names)
