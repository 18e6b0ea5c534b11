"""The paper's completer over row blocks: the loop of `cellworth.complete.solver.apg`, the rows elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cellworth.blocks.protocol import Blocks, Engine, add
from cellworth.blocks.source import Part, Source
from cellworth.complete.completer import put_back
from cellworth.complete.labels import Labels
from cellworth.complete.scaling import Scaling
from cellworth.complete.solver.apg import Descent, descend
from cellworth.complete.solver.model import Model, Moments
from cellworth.complete.solver.monitor import Solution
from cellworth.complete.solver.step import StepSums
from cellworth.complete.solver.svt import Shrinkage, shrinkage
from cellworth.complete.supervised import SupervisedCompleter
from cellworth.engine.checkpoint import Checkpoint
from cellworth.engine.descent_file import load_descent, save_descent
from cellworth.engine.labels import LabelCode, label_code
from cellworth.engine.row_state import (
    Outline,
    cell_sums,
    column_means,
    first_pass,
    gram_of_iterate,
    last_pass,
    next_pass,
    prepare,
    settled,
    sums_of,
)
from cellworth.engine.summary import Summary
from cellworth.errors import DataError, ParameterError

Array = NDArray[np.floating]

CHECKPOINT_EVERY = 20  # iterations: what is lost at most, and how far back a lost block is made again


class EnginePasses:
    """Passes over row blocks that lie with an engine; see `cellworth.complete.solver.passes.Passes`.

    Parameters
    ----------
    engine : Engine
    data : Blocks of BlockRows
    states : Blocks of RowState
    n_labelled : int
        Rows that enter the loss.
    """

    def __init__(
        self, engine: Engine, data: Blocks, states: Blocks, n_labelled: int, scale: float, eps: float
    ) -> None:
        self.scale, self.eps = scale, eps
        self.states = states
        self._engine, self._data, self._n_labelled = engine, data, n_labelled

    @property
    def iterate(self) -> Blocks:
        """The states of all blocks."""
        return self.states

    def first(self, lipschitz: float, model: Model) -> StepSums:
        """Form a point from the iterate, without momentum."""
        return self._pass(first_pass, lipschitz, model)

    def next(
        self, operator: Array, momentum: float, lipschitz: float, model: Model, ahead: Model
    ) -> StepSums:
        """Shrink the point to the next iterate, and form the next point."""
        return self._pass(next_pass, operator, momentum, lipschitz, model, ahead)

    def last(self, operator: Array, model: Model) -> StepSums:
        """Shrink the point to the next iterate; there is no next point."""
        return self._pass(last_pass, operator, model)

    def moments(self, sums: StepSums, shrunk: Shrinkage) -> Moments:
        """Return the moments of the iterate to which ``shrunk`` will shrink the point of ``sums``."""
        return sums.moments(self._n_labelled).after(shrunk.operator)

    def _pass(self, function: Any, *shared: Any) -> StepSums:
        self.states = self._engine.map(function, self.states, self._data, shared=shared)
        return StepSums(*self._engine.reduce(sums_of, add, self.states))


@dataclass(frozen=True)
class FillByState:
    """Completes the rows of a block from the iterate that the iterations ended with."""

    scaling: Scaling

    def __call__(self, part: Part, iterate: Array) -> tuple[Array, None]:
        """Return the completed rows (m, d) in the user's units; there are no variances."""
        return put_back(part.X, self.scaling.undo_in_place(iterate.copy())), None


def fit_supervised(
    engine: Engine,
    blocks: Blocks,
    source: Source,
    summary: Summary,
    settings: SupervisedCompleter,
    checkpoint: Checkpoint | None,
) -> tuple[SupervisedCompleter, FillByState, tuple[Blocks, ...]]:
    """Fit to a table of row blocks; see `cellworth.engine.complete`.

    Returns the fitted completer, without what has the table's size, and what fills a block and from what.
    """
    completer = SupervisedCompleter(**settings.get_params())
    completer._check_parameters()
    _refuse(completer, source)
    dtype = source.dtype
    code = label_code(summary.labels, completer.loss, completer.target, source.target)
    scaling = summary.scaling(completer.scale, dtype)
    supervised = completer.label_weight > 0 and code.n_labelled > 0
    outline = Outline(source.n_rows, code.n_labelled, supervised, scaling, code)
    data = engine.map(prepare, blocks, Blocks(summary.starts), shared=(outline,))
    totals, gram, square = engine.reduce(cell_sums, add, data)
    completer.trace_penalty_ = _penalty(completer, gram)
    n_targets = code.n_labelled if supervised else 0
    made_for = n_targets, float(np.sqrt(square)), float(np.finfo(dtype).eps)
    descent = None
    if checkpoint is not None and checkpoint.is_there():
        arrays, states = checkpoint.load_states(engine, len(blocks))
        passes = EnginePasses(engine, data, states, *made_for)
        descent = load_descent(arrays, completer.callback)
    if descent is None:
        states = engine.map(column_means, data, shared=(totals / np.maximum(1, summary.counts),))
        passes = EnginePasses(engine, data, states, *made_for)
        descent = Descent.begin(
            passes,
            _blank_model(completer, code, len(source.columns), n_targets),
            trace_penalty=completer.trace_penalty_,
            trace_norm=shrinkage(engine.reduce(gram_of_iterate, add, states)[0], 0.0).trace_norm,
            tol=completer.tol,
            max_iter=completer.max_iter,
            callback=completer.callback,
        )
    del states  # only the passes hold the present one: the ones before it are freed as soon as may be

    def keep(so_far: Descent) -> None:
        if checkpoint is not None and so_far.monitor.n_iter % CHECKPOINT_EVERY == 0:
            passes.states = checkpoint.save_states(engine, save_descent(so_far), passes.states)

    solution = descend(passes, descent, completer.trace_penalty_, after=keep)
    _finish(completer, solution, code, scaling, source)
    return completer, FillByState(scaling), (engine.map(settled, passes.states, data),)


def _refuse(completer: SupervisedCompleter, source: Source) -> None:
    """Refuse settings and tables that have no row blocks."""
    if completer.line_search:
        raise ParameterError("line_search=True is for tables in memory; an engine uses the known constant")
    if source.n_rows < len(source.columns):
        raise DataError(
            f"the table has {source.n_rows} rows and {len(source.columns)} columns; an engine needs at least "
            "as many rows as columns. Use SupervisedCompleter itself."
        )


def _penalty(completer: SupervisedCompleter, gram: Array) -> float:
    if completer.penalty_unit == "absolute":
        return float(completer.trace_penalty)
    return float(completer.trace_penalty * shrinkage(gram, 0.0).singular_values[:1].sum())


def _blank_model(completer: SupervisedCompleter, code: LabelCode, d: int, n_targets: int) -> Model:
    weight = completer.label_weight / max(1, n_targets)
    return Model(code.loss, weight, completer.ridge, np.zeros((d, code.n_outputs)), np.zeros(code.n_outputs))


def _finish(
    completer: SupervisedCompleter, solution: Solution, code: LabelCode, scaling: Scaling, source: Source
) -> None:
    """Set the fitted attributes that do not have the table's size."""
    none = np.zeros((0, code.n_outputs))
    labels = Labels(code.loss, code.classes, none, np.zeros(0, dtype=bool), code.centre, code.width)
    completer._keep(solution, labels, scaling)
    right = np.ascontiguousarray((solution.basis * np.sqrt(solution.singular_values)).T).astype(source.dtype)
    completer.low_rank_ = np.zeros((0, len(right)), dtype=source.dtype), right
    completer.n_features_in_ = len(source.columns)
    if source.named:
        completer.feature_names_in_ = np.array(source.columns, dtype=object)
