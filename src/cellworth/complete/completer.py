"""Base classes of completers: keep observed cells, work in scaled units, and complete new rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from copy import copy
from os import PathLike, fspath
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, DTypeLike
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from cellworth.arrays import BoolArray, FloatArray, IntArray
from cellworth.blocks.checkpoints import Checkpoint
from cellworth.blocks.engine_protocol import Blocks
from cellworth.blocks.row_source import Source, open_blocks
from cellworth.blocks.thread_engine import ThreadEngine
from cellworth.complete.completed_blocks import CompletedBlocks
from cellworth.complete.inputs import check_table, names_with_indicators, with_indicators
from cellworth.complete.scaling import Scaling, put_back, scaled_cells
from cellworth.complete.table_summary import summarise
from cellworth.errors import ParameterError

C = TypeVar("C")

NOT_OF_THE_RESULT = (
    "callback",
    "n_jobs",
    "warm_start",
    "dtype",
    "add_indicator",
)  # settings that do not affect the result


class Completer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """Base class of completers: scikit-learn transformers that replace every NaN in a table.

    A subclass's ``fit(X, y=None)`` sets ``completed_`` (n, d), the completed training table in the user's
    units with observed cells untouched, and ``scaling_``. Its `_complete_new` completes new rows, in scaled
    units. A completer that also runs on row blocks is a `BlockCompleter`.

    A column of an array with nothing but holes is left out of every result, with a warning, as by
    scikit-learn's imputers: d counts the others, ``measured_columns_``. A `Table` knows more of such a
    column, and `fill` keeps it.

    `fit` takes no ``sample_weight``: every row is filled, with what its own cells and the rows like it say,
    and that does not depend on how much the row counts for a model. A row that should count twice can stand
    in the table twice. The learner behind a completer takes weights; see `CompletingClassifier`.
    """

    dtype: DTypeLike | None = None  # a subclass with a parameter of this name overrides it
    add_indicator: bool = False  # likewise
    indicator_columns_: IntArray
    measured_columns_: IntArray
    n_features_in_: int
    completed_: Any
    scaling_: Scaling

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    @abstractmethod
    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> Self:
        """Fit to the table X (n, d), NaN in its holes, and complete it."""

    def _complete_new(self, values: FloatArray, observed: BoolArray) -> FloatArray:
        """Return estimates (m, d) of all cells of new rows; scaled in, scaled out; 0 in the holes."""
        raise NotImplementedError

    def fit_transform(self, X: ArrayLike, y: ArrayLike | None = None, **fit_params: Any) -> FloatArray:
        """Fit to the table X (n, d), and the labels y if they are used; return the completed table."""
        completed: FloatArray = self.fit(X, y, **fit_params).completed_
        if not self.add_indicator:
            return completed
        if isinstance(X, Source):
            raise ParameterError("row blocks have no indicator columns; leave add_indicator out")
        X = check_table(self, X, dtype=self.dtype, reset=False)
        return with_indicators(completed, X, self.indicator_columns_)

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return the names of the columns that `transform` returns; see ``add_indicator``."""
        names = super().get_feature_names_out(input_features)
        names = names[getattr(self, "measured_columns_", slice(None))]
        return names_with_indicators(names, self.indicator_columns_) if self.add_indicator else names

    def transform(self, X: ArrayLike) -> FloatArray:
        """Complete new rows X (m, d), without labels, from what `fit` learned.

        Rows are completed independently of each other.
        """
        check_is_fitted(self)
        X = check_table(self, X, dtype=self.dtype, reset=False)
        holes = np.isnan(X)
        incomplete = holes.any(axis=1)
        completed = X.copy()
        if incomplete.any():
            part = X[incomplete]
            values, observed = scaled_cells(part, self.scaling_)
            filled = self._complete_new(values, observed).astype(X.dtype, copy=False)
            completed[incomplete] = put_back(part, self.scaling_.undo_in_place(filled))
        return with_indicators(completed, X, self.indicator_columns_) if self.add_indicator else completed


class BlockCompleter(Completer):
    """Base class of completers that run on arrays and on row blocks, on threads or on a cluster.

    A subclass implements two methods:

    ``fit_blocks(source, summary, checkpoint) -> Blocks or None``
        Fit to a `Source`: call functions on its rows with ``source.map(function)`` and
        ``source.reduce(function, merge)``, and set the fitted attributes that do not grow with the table.
        ``summary`` is a `TableSummary` from a pass already made: column sums and extremes, and the label
        summary. ``checkpoint`` is a `Checkpoint` or None; a completer that ignores it always starts over.
        Return what each block needs besides the fitted completer to be completed: `Blocks` of the source's
        length, or None if the rows are enough.
    ``complete_rows(part, state=None) -> (completed, variance)``
        Complete the rows of a `Part`. Return (m, d) arrays in the user's units: the completed rows, observed
        cells untouched, and the variance of each cell or None. ``state`` is what `fit_blocks` returned for
        this block. It is called on a copy of the fitted completer where the block is, perhaps on another
        machine, so it must not modify the completer or depend on how the rows are split into blocks.

    ``fit(source)`` then sets ``completed_`` to a `CompletedBlocks`. Unless a subclass overrides `fit`, the
    same two methods also complete arrays, treated as a single block. A completer of new rows also implements
    `_complete_new`. Inheritance is optional: `fit_source` takes any object with the two methods and
    ``get_params``.

    Attributes
    ----------
    has_variance : bool
        Whether `complete_rows` returns variances.
    takes_sparse : bool
        Whether the rows of a `Part` may be a sparse matrix.

    Examples
    --------
    Column means, on arrays and on blocks:

    >>> import numpy as np
    >>> from cellworth.blocks import open_blocks
    >>> from cellworth.complete.completer import BlockCompleter
    >>> class ColumnMeans(BlockCompleter):
    ...     def fit_blocks(self, source, summary, checkpoint=None):
    ...         self.means_ = summary.sums.mean
    ...     def complete_rows(self, part, state=None):
    ...         return np.where(np.isnan(part.X), self.means_, part.X), None
    >>> X = np.array([[1.0, np.nan], [3.0, 4.0]])
    >>> ColumnMeans().fit(X).completed_[0]
    array([1., 4.])
    >>> ColumnMeans().fit(open_blocks(X)).completed_.gather()[0][0]
    array([1., 4.])
    """

    has_variance: ClassVar[bool] = False
    takes_sparse: ClassVar[bool] = False
    variance_: FloatArray
    fit_blocks: Callable[..., Blocks | None]
    complete_rows: Callable[..., tuple[FloatArray, FloatArray | None]]

    def fit(
        self, X: Any, y: ArrayLike | None = None, *, checkpoint: str | PathLike[str] | None = None
    ) -> Self:
        """Fit to a table and complete it.

        Parameters
        ----------
        X : array-like (n, d), or Source
            NaN in the holes; or a table of row blocks, from `open_blocks`.
        y : array-like (n,), optional
            Labels; a `Source` brings its own.
        checkpoint : path, optional
            For a `Source`: a folder where the state is saved periodically. A later fit with the same table
            and settings resumes from it. It also limits what must be recomputed when a worker dies.
        """
        if isinstance(X, Source):
            return fit_source(self, X, checkpoint)
        X = check_table(self, X, dtype=self.dtype, reset=True)
        learned = self.n_features_in_, self.measured_columns_
        fit_source(self, open_blocks(X, target=y, engine=ThreadEngine(n_jobs=1, block_rows=len(X))))
        self.n_features_in_, self.measured_columns_ = learned
        self.completed_, variance = self.completed_.gather()
        if variance is not None:
            self.variance_ = variance
        return self


def fit_source(completer: C, source: Source, checkpoint: str | PathLike[str] | None = None) -> C:
    """Fit a completer that has `fit_blocks` and `complete_rows` to a table of row blocks; return it.

    Sets ``completed_`` to a `CompletedBlocks`. See `BlockCompleter` for the two methods.
    """
    fitted: Any = completer
    name, settings = type(completer).__name__, fitted.get_params()
    if not (hasattr(completer, "fit_blocks") and hasattr(completer, "complete_rows")):
        raise ParameterError(
            f"{name} does not run on row blocks: it has no fit_blocks and complete_rows. Use "
            "GaussianCompleter, SupervisedCompleter or SparseCompleter, or give it an array."
        )
    dtype = getattr(completer, "dtype", None)
    if dtype is not None and np.dtype(dtype) != source.dtype:
        raise ParameterError(
            f"row blocks are worked on in the precision of the table, {source.dtype}; got dtype={dtype!r}"
        )
    if getattr(source.table, "is_sparse", False) and not getattr(completer, "takes_sparse", False):
        raise ParameterError(f"{name} needs a dense table, with NaN in its holes; use SparseCompleter")
    saved = None
    if checkpoint is not None:
        of_result = {k: v for k, v in settings.items() if k not in NOT_OF_THE_RESULT}
        about = {"completer": name, "settings": of_result, "blocks": len(source.blocks)}
        saved = Checkpoint(fspath(checkpoint), source.table.identity() | about)
    summary = summarise(source)
    _learn_columns(fitted, source)
    states: Blocks | None = fitted.fit_blocks(source, summary, saved)
    fitted.completed_ = CompletedBlocks(source, _to_send(completer), summary, states)
    return completer


def resume_source(completer: Any, source: Source, parameters: dict[str, Any]) -> CompletedBlocks:
    """Put a completer where a fit to this table of row blocks had left another, and return the table; a pass.

    For completers with two more methods: ``fitted_parameters()`` returns what a fit has found and does not
    grow with the table, as plain data; ``resume_blocks(source, summary, parameters)`` restores it.
    """
    summary = summarise(source)
    _learn_columns(completer, source)
    completer.resume_blocks(source, summary, parameters)
    completed = CompletedBlocks(source, _to_send(completer), summary, None)
    completer.completed_ = completed
    return completed


def _learn_columns(completer: Any, source: Source) -> None:
    completer.n_features_in_ = len(source.columns)
    completer.measured_columns_ = np.arange(len(source.columns))
    if source.table.named:
        completer.feature_names_in_ = np.array(source.columns, dtype=object)


def _to_send(completer: Any) -> Any:
    """Return a copy to send to workers, without the callback and anything of the table's size."""
    sent = copy(completer)
    for name in ("completed_", "variance_"):
        vars(sent).pop(name, None)
    if hasattr(sent, "callback"):
        sent.callback = None
    return sent
