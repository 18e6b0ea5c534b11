"""The rows of a table as needed to fit a Gaussian: in memory, or in row blocks of an engine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import reduce
from typing import Any, Protocol

import numpy as np

from cellworth.arrays import BoolArray, FloatArray, IntArray
from cellworth.blocks.cell_columns import CellColumns
from cellworth.blocks.engine_protocol import Blocks, Sized, add
from cellworth.blocks.row_source import Part, Source
from cellworth.blocks.thread_engine import ThreadEngine
from cellworth.complete.categories import find_categories
from cellworth.complete.gaussian.dense_gaussian import pair_sums
from cellworth.complete.gaussian.interval_calibration import calibration_stride
from cellworth.complete.gaussian.left_out_cells import LeftOut
from cellworth.complete.gaussian.margins import Margins, learn_margins
from cellworth.complete.gaussian.posterior import Cells, FittedGaussian
from cellworth.complete.gaussian.quick_fit import LabelledSample, RowsToChooseOn, ScaledRows, StepInMemory
from cellworth.complete.gaussian.streamed_step import can_stream, streamed_step
from cellworth.complete.labels import LabelCode, code_labels, label_code
from cellworth.complete.row_finders import LabelledRows, RowFinder, RowsAt, rows_found
from cellworth.complete.scaling import Scaling, scaled_cells
from cellworth.complete.table_summary import TableSummary

KEPT_BYTES = 31  # per cell: its value, and the layout of the systems of its row
SAMPLE_ROWS = 2000  # enough to start from the covariance of a dozen columns
SLICE_ROWS = 12_500  # laid out at a time: their cells and systems fit in a core's cache


@dataclass(frozen=True)
class CellForm:
    """How rows become cells of the Gaussian: scaled, as normal scores, with labels as extra columns.

    Attributes
    ----------
    code : LabelCode
    trust : float
        Trust in the labels; if above 0, they become extra columns.
    """

    scaling: Scaling
    margins: Margins
    code: LabelCode
    trust: float

    def cells(self, part: Part) -> Cells:
        """Return the cells of some rows."""
        values, observed = scaled_cells(part.X.astype(np.float64, copy=False), self.scaling)
        return self.with_labels(values, observed, *self.code.targets(part.y, len(values)))

    def with_labels(
        self, values: FloatArray, observed: BoolArray, targets: FloatArray, labelled: BoolArray
    ) -> Cells:
        """Return the cells of scaled values (n, d), 0 in the holes, and coded labels."""
        scores = self.margins.to_scores(values, observed)
        if self.trust == 0:
            return Cells(scores, observed)
        columns = self.code.columns(targets, labelled)
        known = np.repeat(labelled[:, None], columns.shape[1], axis=1)
        return Cells(np.hstack([scores, columns]), np.hstack([observed, known]))


class TableRows(RowsToChooseOn, Protocol):
    """The rows of a table, as a fit needs them.

    Attributes
    ----------
    scaling : Scaling
    """

    scaling: Scaling

    def rank_margins(self) -> Margins:
        """Return the rank margins of the columns."""

    def take(self, form: CellForm) -> tuple[Cells, bool]:
        """Use cells of this form from now on; return every k-th row's, and whether rows are left out."""

    def pair_sums(self) -> tuple[FloatArray, FloatArray]:
        """Return the `pair_sums` of all cells."""

    def expect(self, kind: Any) -> Callable[[Any], Any]:
        """Return the E step over all cells for models of the kind and size of ``kind``."""

    def left_out(self, fitted: FittedGaussian) -> LeftOut:
        """Return the observed cells of some rows, each predicted from the others of its row."""


class ArrayRows:
    """The rows of a table in memory; see `TableRows`.

    Parameters
    ----------
    X : (n, d) array
        NaN in the holes.
    y : the user's labels, or None
    target : {"auto", "classes", "number"}
    engine : ThreadEngine

    Attributes
    ----------
    cells : Cells
        Set by `take`.
    """

    cells: Cells

    def __init__(self, X: FloatArray, y: Any, target: Any, engine: ThreadEngine) -> None:
        self.scaling = Scaling.of(X, "standard")
        self._values, self._observed = scaled_cells(X.astype(np.float64, copy=False), self.scaling)
        self._table = X
        self._y, self._labels = y, code_labels(y, len(X), "squared", target)
        self.code, self.counts = self._labels.code, self._observed.sum(axis=0)
        self.n_rows = len(X)
        self._engine = engine
        self._completed: tuple[FittedGaussian, FloatArray] | None = None

    @property
    def all_rows(self) -> ScaledRows:
        """All rows."""
        return ScaledRows(self._values, self._observed)

    def rows_at(self, numbers: IntArray) -> ScaledRows:
        """Return some rows by their numbers, in this order."""
        categories = find_categories(self._table[numbers])
        return ScaledRows(self._values[numbers], self._observed[numbers], categories)

    def labelled_at(self, numbers: IntArray) -> LabelledSample:
        """Return some labelled rows by their numbers among these, in this order."""
        rows = np.flatnonzero(self._labels.labelled)[numbers]
        for_loss = code_labels(self._y, self.n_rows, *_for_linear_model(self.code))
        columns = self.code.columns(self._labels.targets[rows], np.ones(len(rows), dtype=bool))
        return LabelledSample(self.rows_at(rows), columns, for_loss.targets[rows], for_loss.code)

    def rank_margins(self) -> Margins:
        """Return the rank margins of the columns."""
        return Margins.of(self._values, self._observed, np.ones(self._values.shape[1], dtype=bool))

    def take(self, form: CellForm) -> tuple[Cells, bool]:
        """Form all cells."""
        labels = self._labels
        self.cells = form.with_labels(self._values, self._observed, labels.targets, labels.labelled)
        every = sample_stride(len(self._values))
        return Cells(self.cells.scores[::every], self.cells.observed[::every]), every > 1

    def pair_sums(self) -> tuple[FloatArray, FloatArray]:
        """Return the `pair_sums` of all cells."""
        return pair_sums(self.cells.scores, self.cells.observed)

    def expect(self, kind: Any) -> Callable[[Any], Any]:
        """Return the E step over all cells, which reuses memory; see `completed`."""
        self._step = StepInMemory(kind.layout(self.cells.observed), self.cells.scores, self._engine)
        return self._step

    def left_out(self, fitted: FittedGaussian) -> LeftOut:
        """Return the cells of every k-th row."""
        every = calibration_stride(len(self._values))
        some = Cells(self.cells.scores[::every], self.cells.observed[::every])
        return fitted.left_out(self._table[::every], some, self.completed(fitted)[::every])

    def completed(self, fitted: FittedGaussian) -> FloatArray:
        """Return the posterior means of all cells, including labels, (n, d + q)."""
        if self._completed is None or self._completed[0].model is not fitted.model:
            if fitted.trust == 0:  # the EM model itself completes the table: its last step did
                means = self._step.completed(fitted.model)
            else:
                means = fitted.complete(self.cells, self._step.layout, self._engine)
            self._completed = fitted, means
        return self._completed[1]


class BlockRows:
    """The rows of a table in row blocks; see `TableRows`.

    A fit begins on every k-th row, 2,000 to 4,000 of them, as it does in memory. They are collected in one
    pass with the rows to calibrate on, and those that will be asked for by their numbers, if these are known.
    """

    def __init__(
        self, source: Source, summary: TableSummary, target: Any, first_asked: IntArray | None = None
    ) -> None:
        self.scaling = summary.scaling("standard", source.dtype)
        self.code = label_code(summary.labels, "squared", target, f"the target {source.target!r}")
        self.n_rows, self.counts = source.n_rows, summary.counts
        self._source, self._summary = source, summary
        strides = sample_stride(source.n_rows), calibration_stride(source.n_rows)
        wanted = [np.arange(0, source.n_rows, every) for every in strides]
        if first_asked is not None:
            wanted.append(first_asked)
        self._numbers = reduce(np.union1d, wanted)
        self._at_hand = source.rows_at(self._numbers, kept_as="rows to fit")
        self._sample, self._to_calibrate = (self._some_at_hand(each) for each in wanted[:2])

    def rows_at(self, numbers: IntArray) -> ScaledRows:
        """Return some rows by their numbers, in this order; a pass, unless they are at hand."""
        if np.isin(numbers, self._numbers).all():
            return self._scaled(self._some_at_hand(numbers))
        return self._scaled(self._gathered(numbers, RowsAt))

    def _some_at_hand(self, numbers: IntArray) -> Part:
        return self._at_hand.some(np.searchsorted(self._numbers, numbers))

    def labelled_at(self, numbers: IntArray) -> LabelledSample:
        """Return some labelled rows by their numbers among these, in this order; a pass."""
        part = self._gathered(numbers, lambda wanted: LabelledRows.of(self._summary, wanted))
        loss, kind = _for_linear_model(self.code)
        for_loss = label_code(self._summary.labels, loss, kind)
        columns = self.code.columns(*self.code.targets(part.y, len(part.X)))
        return LabelledSample(self._scaled(part), columns, for_loss.targets(part.y, len(part.X))[0], for_loss)

    def _gathered(self, numbers: IntArray, finder: Callable[[IntArray], RowFinder]) -> Part:
        """Return the rows whose numbers a finder takes, each once, in this order."""
        order = np.argsort(numbers)
        part = rows_found(self._source, finder(numbers[order]))
        return part.some(np.argsort(order))

    def _scaled(self, part: Part) -> ScaledRows:
        X = part.X.astype(np.float64, copy=False)
        return ScaledRows(*scaled_cells(X, self.scaling), find_categories(X))

    def rank_margins(self) -> Margins:
        """Return the rank margins of the columns."""
        return learn_margins(self._source, self.scaling)

    def take(self, form: CellForm) -> tuple[Cells, bool]:
        """Keep the form; the cells of a block are formed where the block is."""
        self._form = form
        return form.cells(self._sample), len(self._sample.X) < self._source.n_rows

    def pair_sums(self) -> tuple[FloatArray, FloatArray]:
        """Return the `pair_sums` of all cells."""
        pairs, products = self._source.reduce(_pair_sums, add, shared=(self._form,))
        return pairs, products

    def expect(self, kind: Any) -> Callable[[Any], Any]:
        """Keep what the E step needs of the blocks, if it fits in memory; return the E step over them.

        Where the E step works on rows as they are read, that is their cells, otherwise the layouts of their
        systems. If it does not fit, each E step reads the blocks again: that takes less time than to write a
        layout, which is four times as long as its rows, and to read it.
        """
        source, room = self._source, self._source.engine.room()
        way: StepOnRows = StreamedStep(self._form) if can_stream(kind) else LaidOutStep(self._form, kind)
        prepared: Blocks | None = None
        if room is None or way.cell_bytes(source.dtype) * source.n_rows * len(kind.mean) <= room:
            prepared = source.map(way.prepare)

        def expect(model: Any) -> Any:
            np.linalg.cholesky(model.covariance)  # detect an invalid model before sending it
            if prepared is None:
                return source.reduce(way.read_and_expect, add, shared=(model,))
            return source.engine.reduce(way.expect, add, prepared, shared=(model,))

        return expect

    def left_out(self, fitted: FittedGaussian) -> LeftOut:
        """Return the cells of every k-th row, about 4,096 of them."""
        some = self._to_calibrate
        cells = self._form.cells(some)
        return fitted.left_out(some.X.astype(np.float64, copy=False), cells, fitted.complete(cells))


def _pair_sums(part: Part, form: CellForm) -> tuple[FloatArray, FloatArray]:
    cells = form.cells(part)
    return pair_sums(cells.scores, cells.observed)


class StepOnRows(Protocol):
    """How the E step is done on a block; sent to where the blocks are."""

    def cell_bytes(self, dtype: Any) -> int:
        """Return how many bytes `prepare` keeps for a cell of a table of this dtype."""

    def prepare(self, part: Part) -> Any:
        """Return what `expect` needs of a block."""

    def expect(self, prepared: Any, model: Any) -> tuple[Any, ...]:
        """Return the sums of a block."""

    def read_and_expect(self, part: Part, model: Any) -> tuple[Any, ...]:
        """Do both, with less memory."""


@dataclass(frozen=True)
class StreamedStep:
    """The E step on the cells of a block; see `cellworth.complete.gaussian.streamed_step`."""

    form: CellForm

    @property
    def _as_they_are(self) -> bool:
        return self.form.trust == 0 and not self.form.margins.ranked.any()

    def cell_bytes(self, dtype: Any) -> int:
        """Return the bytes of a number of the table, or of a normal score."""
        return int(np.dtype(dtype).itemsize) if self._as_they_are else 8

    def prepare(self, part: Part) -> FloatArray:
        """Return the cells, NaN in the holes: as they are in the table if the model sees those, scaled."""
        if self._as_they_are:
            return part.X
        cells = self.form.cells(part)
        return np.where(cells.observed, cells.scores, np.nan)

    def expect(self, prepared: FloatArray | CellColumns, model: Any) -> tuple[Any, ...]:
        """Return the sums of a block."""
        d = prepared.shape[1]
        scaling = self.form.scaling if self._as_they_are else Scaling(np.zeros(d), np.ones(d))
        return streamed_step(model, prepared, scaling)

    def read_and_expect(self, part: Part, model: Any) -> tuple[Any, ...]:
        """Do both, some rows at a time."""
        if self._as_they_are:
            return self.expect(part.cells, model)
        slices = (part.some(rows) for rows in row_slices(len(part.X)))
        return reduce(add, (self.expect(self.prepare(some), model) for some in slices))


@dataclass(frozen=True)
class PreparedRows(Sized):
    """The layouts of the systems of a block's slices, and their values prepared for them."""

    slices: list[tuple[Any, FloatArray]]


@dataclass(frozen=True)
class LaidOutStep:
    """The E step by layouts of the systems of a block's slices, for models of the kind of ``kind``."""

    form: CellForm
    kind: Any

    def cell_bytes(self, dtype: Any) -> int:
        """Return the bytes of a value and of its share in a layout."""
        return KEPT_BYTES

    def prepare(self, part: Part) -> PreparedRows:
        """Lay out a block."""
        return PreparedRows(list(self._prepared(part)))

    def expect(self, prepared: PreparedRows, model: Any) -> tuple[Any, ...]:
        """Return the sums of a block."""
        return self._sums(prepared.slices, model)

    def read_and_expect(self, part: Part, model: Any) -> tuple[Any, ...]:
        """Lay out one slice after another."""
        return self._sums(self._prepared(part), model)

    def _prepared(self, part: Part) -> Iterator[tuple[Any, FloatArray]]:
        for rows in row_slices(len(part.X)):
            cells = self.form.cells(part.some(rows))
            layout = self.kind.layout(cells.observed)
            yield layout, layout.prepared(cells.scores)

    def _sums(self, slices: Iterable[tuple[Any, FloatArray]], model: Any) -> tuple[Any, ...]:
        total: tuple[Any, ...] = reduce(add, (layout.expect(model, values) for layout, values in slices))
        return total


def row_slices(n_rows: int) -> list[slice]:
    """Return slices of rows whose cells and systems fit in a core's cache."""
    return [slice(start, start + SLICE_ROWS) for start in range(0, n_rows, SLICE_ROWS)]


def _for_linear_model(code: LabelCode) -> tuple[str, Any]:
    """Return the loss by which a linear model of labels is fitted, and their kind."""
    return ("squared", "number") if code.classes is None else ("logistic", "classes")


def sample_stride(n_rows: int) -> int:
    """Return k, where every k-th row gives 2,000 to 4,000 rows, or all of a short table."""
    return max(1, n_rows // SAMPLE_ROWS)
