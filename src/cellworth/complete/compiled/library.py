"""The compiled kernels, if they were built for this machine: found, checked and loaded once.

The library is plain C, called through ctypes, which releases the interpreter's lock. It gets BLAS and LAPACK
from SciPy as function pointers. Without it (no compiler at installation, another platform, or the environment
variable ``CELLWORTH_COMPILED=0``) NumPy does the same work, to rounding.
"""

from __future__ import annotations

import ctypes
import functools
import os
import re
import warnings
from collections.abc import Iterator, Sequence
from ctypes import POINTER, Structure, c_double, c_int, c_int64, c_void_p
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import cython_blas, cython_lapack

from cellworth.arrays import AnyArray
from cellworth.blocks.cell_columns import CellColumns, ColumnChunk
from cellworth.complete.compiled.build import library_name

SWITCH = "CELLWORTH_COMPILED"  # "0" leaves the kernels out
LEVELS = {
    0: "",
    3: "_v3",
    4: "_v4",
}  # kinds of processors, as in kernels.c, and how their functions' names end
GEMM = "char *, char *, int *, int *, int *, {0} *, {0} *, int *, {0} *, int *, {0} *, {0} *, int *"
GEMV = "char *, int *, int *, {0} *, {0} *, int *, {0} *, int *, {0} *, {0} *, int *"
SYRK = "char *, char *, int *, int *, {0} *, {0} *, int *, {0} *, {0} *, int *"
_REAL = re.compile(r"\b(?:\w+_[sd]|double|float)\b")  # as different versions of SciPy name them

CHOLESKY = "char *, int *, {0} *, int *, int *"  # potrf and potri


class Blas(Structure):
    """The products, as function pointers of one precision."""

    _fields_ = (("gemm", c_void_p), ("gemv", c_void_p), ("syrk", c_void_p))


class Lapack(Structure):
    """Cholesky's factor and the inverse from it, as function pointers."""

    _fields_ = (("potrf", c_void_p), ("potri", c_void_p))


class CellPointers(Structure):
    """The cells of rows, as `Cells` in chunk_of_rows.h."""

    _fields_ = (
        ("d", c_int64),
        ("single_precision", c_int64),
        ("rows", c_void_p),
        ("columns", c_void_p),
        ("known", c_void_p),
        ("first_bit", c_void_p),
    )


class KernelCells:
    """The cells of n rows as kernels take them: X (n, d), NaN in the holes, or a chunk of each column.

    Attributes
    ----------
    n_rows : int
    pointers : CellPointers
        Valid as long as this object.
    """

    def __init__(self, cells: AnyArray | Sequence[ColumnChunk]) -> None:
        if isinstance(cells, np.ndarray):
            self._kept: Any = np.ascontiguousarray(cells)
            self.n_rows, d = cells.shape
            about = d, int(cells.dtype == np.float32)
            self.pointers = CellPointers(*about, address(self._kept), None, None, None)
            return
        self.n_rows = len(cells[0].values)
        known = [None if chunk.known is None else address(chunk.known) for chunk in cells]
        arrays = (
            (c_void_p * len(cells))(*(address(chunk.values) for chunk in cells)),
            (c_void_p * len(cells))(*known),
            (c_int64 * len(cells))(*(chunk.first_bit for chunk in cells)),
        )
        self._kept = cells, arrays
        about = len(cells), int(cells[0].values.dtype == np.float32)
        self.pointers = CellPointers(*about, None, *(ctypes.addressof(array) for array in arrays))


def kernel_cells(cells: AnyArray | CellColumns) -> Iterator[KernelCells]:
    """Yield the cells of rows (n, d) as kernels take them, in one piece or several."""
    pieces = cells.runs() if isinstance(cells, CellColumns) else (cells,)
    return map(KernelCells, pieces)


class ModelPointers(Structure):
    """A linear model and its loss; ``coef`` is (q, d), C-ordered, of the table's precision."""

    _fields_ = (
        ("q", c_int64),
        ("loss", c_int64),
        ("weight", c_double),
        ("coef", c_void_p),
        ("intercept", c_void_p),
    )


class NearPointers(Structure):
    """Rows near the solution, as `Near` of proximal_types.h; arrays are of the table's precision."""

    _fields_ = (
        *(("r", c_int64), ("n_changed", c_int64), ("steps", c_int64), ("relaxation", c_double)),
        *(("left", c_void_p), ("right", c_void_p), ("changed", c_void_p), ("updated", c_void_p)),
        *(("operator", c_void_p), ("pull", c_void_p)),
    )


class CellKernels(NamedTuple):
    """The functions of table_cells.h, for one precision."""

    column_ranges: Any
    scale_cells: Any
    changed_rows: Any
    update_cells: Any
    put_back: Any


class Kernels:
    """The functions of a loaded library.

    Parameters
    ----------
    path : Path
        Of the library.
    level : int or None
        Of `LEVELS`, one that the processor has; None: the highest of them.

    Attributes
    ----------
    level : int
    passes : dict from dtype to (function, Blas)
        `proximal_pass` of kernels.c, and the products that it calls.
    products : dict from dtype to function
        `row_product` of near_rows.h.
    cells : dict from dtype to CellKernels
    solve_rows : function of ridge_systems.h
    solve_patterns, pattern_diagonals : functions of pattern_systems.h
    grow_trees, sum_trees : functions of extra_trees.h
    grow_class_trees : function of class_trees.h
    lapack : Lapack
        For the systems.
    streamed_steps : dict from dtype to function of streamed_step.h
        By the precision that it works in.
    labelled_step : function of labelled_step.h
    solve_in_holes : function of hidden_cells.h
    """

    def __init__(self, path: Path, level: int | None = None) -> None:
        library = ctypes.CDLL(str(path))
        self.level: int = library.cellworth_level() if level is None else level

        def function(name: str, result: Any, *arguments: Any) -> Any:
            found = getattr(library, name + LEVELS[self.level])
            found.restype, found.argtypes = result, arguments
            return found

        i, x, p = c_int64, c_double, c_void_p  # a count, a number, where an array begins
        blas, cells, model = POINTER(Blas), POINTER(CellPointers), POINTER(ModelPointers)
        self.passes: dict[Any, tuple[Any, Blas]] = {}
        self.products: dict[Any, Any] = {}
        self.cells: dict[Any, CellKernels] = {}
        self.streamed_steps: dict[Any, Any] = {}
        for dtype, suffix, letter in ((np.dtype("f8"), "f64", "d"), (np.dtype("f4"), "f32", "s")):
            products = Blas(
                pointer(cython_blas, f"{letter}gemm", GEMM, letter),
                pointer(cython_blas, f"{letter}gemv", GEMV, letter),
                pointer(cython_blas, f"{letter}syrk", SYRK, letter),
            )
            table, models = (i, i, i, i, i, p, p, p, p, x, x, p, p, p, i), (model, model, p, p, p, p)
            step = function(
                f"proximal_pass_{suffix}", c_int, blas, c_int, *table, *models, POINTER(NearPointers)
            )
            self.passes[dtype] = step, products
            self.products[dtype] = function(f"row_product_{suffix}", None, blas, i, i, i, p, p, p)
            step = function(f"streamed_step_{suffix}", c_int, blas, i, i, cells, *(p,) * 10)
            self.streamed_steps[dtype] = step
            names = zip(CellKernels._fields, (4, 6, 3, 8, 6), strict=True)
            of_cells = (
                function(f"{name}_{suffix}", None, i, i, *(p,) * n_arrays) for name, n_arrays in names
            )
            self.cells[dtype] = CellKernels(*of_cells)
        self.lapack = Lapack(
            pointer(cython_lapack, "dpotrf", CHOLESKY, "d"), pointer(cython_lapack, "dpotri", CHOLESKY, "d")
        )
        lapack, pattern = POINTER(Lapack), (i, i, p, p)
        self.solve_rows = function("solve_rows_f64", c_int, i, i, i, p, p, p, p, p)
        self.solve_patterns = function(
            "solve_patterns_f64", c_int, lapack, *pattern, p, p, p, p, p, i, i, p, p
        )
        self.pattern_diagonals = function("pattern_diagonals_f64", c_int, *pattern, p, p, c_int, p)
        self.labelled_step = function(
            "labelled_step_f64", c_int, blas, i, i, i, cells, p, p, p, p, p, c_int, x, x, p, p, p, p
        )
        self.solve_in_holes = function("solve_in_holes_f32", c_int, i, i, i, p, p, p)
        self.grow_trees = function("grow_trees_f64", c_int, i, i, p, p, i, i, p, p, i, x, i, p, p, p, p, p)
        self.grow_class_trees = function(
            "grow_class_trees_f64", c_int, i, i, p, p, i, i, i, p, p, i, x, i, p, p, p, p, p, p
        )
        self.sum_trees = function("sum_trees_f64", None, i, i, p, i, i, i, p, p, p, p, p)


@functools.cache
def kernels() -> Kernels | None:
    """Return the compiled kernels, or None if they are not there or switched off."""
    path = Path(__file__).parent / library_name()
    if os.environ.get(SWITCH) == "0":
        return None
    if not path.exists():
        if any(path.parent.glob("kernels-*.so")):  # the sources are newer: somebody wanted it compiled
            warnings.warn(
                "the compiled kernels are of another version, so NumPy does their work, several times "
                "slower; run python -m cellworth.complete.compiled.build",
                stacklevel=2,
            )
        return None
    try:
        return Kernels(path)
    except (OSError, AttributeError, LookupError):  # built elsewhere, or a SciPy with other signatures
        return None


def address(array: AnyArray) -> int:
    """Return where an array's data begin."""
    where: int = array.__array_interface__["data"][0]
    return where


def pointer(module: Any, name: str, arguments: str, letter: str) -> int:
    """Return the address of a SciPy function; LookupError if its C signature is not the expected one."""
    capsule = module.__pyx_capi__[name]
    signature = signature_of(capsule)
    if _REAL.sub(letter, signature.decode()) != f"void ({arguments.format(letter)})":
        raise LookupError(f"SciPy's {name} has the signature {signature.decode()}")
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = c_void_p, [ctypes.py_object, ctypes.c_char_p]
    found: int = get(capsule, signature)
    return found


def signature_of(capsule: Any) -> bytes:
    """Return the C signature of a SciPy function, as its capsule states it."""
    get = ctypes.pythonapi.PyCapsule_GetName
    get.restype, get.argtypes = ctypes.c_char_p, [ctypes.py_object]
    name: bytes = get(capsule)
    return name
