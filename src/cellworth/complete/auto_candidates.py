"""The completers that `AutoCompleter` tries by default, and the check of user-supplied ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from cellworth.arrays import BoolArray, FloatArray
from cellworth.complete.completer import Completer, put_back
from cellworth.complete.fitted_state import restore, state_of
from cellworth.complete.gaussian import GaussianCompleter
from cellworth.complete.inputs import check_table
from cellworth.complete.lmafit import LMaFitCompleter
from cellworth.complete.nnls import NNLSCompleter
from cellworth.complete.optspace import OptSpaceCompleter
from cellworth.complete.scaling import Scaling
from cellworth.complete.soft_impute import SoftImputeCompleter
from cellworth.complete.supervised import SupervisedCompleter
from cellworth.errors import ParameterError

Candidates = Sequence[tuple[str, Any]]

NEEDED = ("get_params", "fit_transform", "transform")


class ColumnMeanCompleter(Completer):
    """Fill each hole with the mean of its column: the baseline that other completers should beat.

    Attributes
    ----------
    completed_ : (n, d) array
        The table passed to `fit` with its holes filled; observed cells are unchanged.
    scaling_ : Scaling
        ``scaling_.offset`` holds the means.

    Examples
    --------
    >>> import numpy as np
    >>> from cellworth.complete.auto_candidates import ColumnMeanCompleter
    >>> ColumnMeanCompleter().fit_transform([[1.0, 5.0], [3.0, np.nan]])
    array([[1., 5.],
           [3., 5.]])
    """

    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> Self:
        """Learn the means of the table X (n, d), NaN in its holes. ``y`` is accepted and ignored."""
        X = check_table(self, X, reset=True)
        self.scaling_ = Scaling.of(X, "standard")
        self.completed_ = put_back(X, self.scaling_.undo_in_place(np.zeros_like(X)))
        return self

    def fitted_state(self) -> dict[str, Any]:
        """Return the fitted state as plain data; see `cellworth.complete.fitted_state`."""
        return state_of(self, ())

    def restore_fitted(self, state: dict[str, Any]) -> None:
        """Restore what `fitted_state` returned."""
        restore(self, state, ())

    def _complete_new(self, values: FloatArray, observed: BoolArray) -> FloatArray:
        return np.zeros_like(values)


def default_candidates(*, labels: bool) -> list[tuple[str, Any]]:
    """Return the (name, completer) pairs that `AutoCompleter` tries by default, simplest first.

    Parameters
    ----------
    labels : bool
        Whether there are labels. If not, candidates that differ only in how they use labels are left out.

    Notes
    -----
    * "gaussian": a joint Gaussian. "ranks" fits it to ranks, for skewed columns; "factors" to a few factors,
      for wide tables; "labels" (the defaults of `GaussianCompleter`) uses labels as far as held-out rows and
      cells show that they help.
    * "column means": the baseline.
    * "trace norm": `SupervisedCompleter` without labels, with one of three relative penalties on standardised
      columns, or the paper's penalty of 1 on columns scaled to [0, 1]. "supervised": the same with labels.
    * "nnls", "soft-impute", "lmafit" and "optspace" choose their own penalty or rank.
    """
    relative = {"penalty_unit": "relative", "scale": "standard"}
    plain = [
        ("gaussian", GaussianCompleter(margins="normal", label_trust=0.0)),
        ("gaussian, ranks", GaussianCompleter(margins="rank", label_trust=0.0)),
        ("gaussian, 5 factors", GaussianCompleter(factors=5, margins="normal", label_trust=0.0)),
        ("column means", ColumnMeanCompleter()),
        *(
            (
                f"trace norm, {penalty:.0%}",
                SupervisedCompleter(trace_penalty=penalty, label_weight=0.0, **relative),  # type: ignore[arg-type]
            )
            for penalty in (0.1, 0.03, 0.01)
        ),
        ("trace norm, paper", SupervisedCompleter(label_weight=0.0)),
        ("nnls", NNLSCompleter()),
        ("soft-impute", SoftImputeCompleter()),
        ("lmafit", LMaFitCompleter()),
        ("optspace", OptSpaceCompleter()),
    ]
    if not labels:
        return plain
    return [
        *plain,
        ("gaussian, labels", GaussianCompleter()),
        ("supervised, 3%", SupervisedCompleter(trace_penalty=0.03, **relative)),  # type: ignore[arg-type]
        ("supervised, paper", SupervisedCompleter()),
    ]


def check_candidates(candidates: Any) -> list[tuple[str, Any]]:
    """Return the user's candidates as a list; raise ParameterError if they are invalid."""
    expected = "candidates must be a list of (name, completer) pairs with distinct names"
    try:
        pairs = [(name, completer) for name, completer in candidates]
    except (TypeError, ValueError):
        raise ParameterError(f"{expected}; got {candidates!r}") from None
    names = [name for name, _ in pairs]
    if not pairs or not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
        raise ParameterError(f"{expected}, at least one; got the names {names!r}")
    for name, completer in pairs:
        lacking = [method for method in NEEDED if not hasattr(completer, method)]
        if lacking or isinstance(completer, type):
            raise ParameterError(
                f"candidate {name!r} must be a completer with the methods {', '.join(NEEDED)}, such as "
                f"GaussianCompleter(); got {completer!r}"
            )
    return pairs


def gives_variances(completer: Any) -> bool:
    """Return whether a completer reports how certain each cell is."""
    return hasattr(completer, "predict_interval")
