"""A completer that fills holes by one method, beside a posterior by another."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from cellworth.arrays import BoolArray, FloatArray
from cellworth.complete.completer import Completer
from cellworth.complete.fitted_state import can_be_stored, restore, state_of
from cellworth.complete.gaussian import GaussianCompleter
from cellworth.complete.inputs import check_table
from cellworth.complete.labels import TargetKind, tell_target
from cellworth.complete.scaling import Scaling, put_back
from cellworth.complete.supervised_completer import SupervisedCompleter


def _both_can_be_stored(completer: Any) -> bool:
    return all(can_be_stored(part) for part in completer.parts())


class PairedCompleter(Completer):
    """Fill holes with one completer, and take variances and draws from another.

    Scorers of cells need to know how uncertain a cell is; the completer whose values suit the model best may
    not say.

    Parameters
    ----------
    completer : estimator or None, default=None
        Fills the holes; None: `SupervisedCompleter`.
    posterior : estimator or None, default=None
        Has ``variance_`` and ``sample``; None: `GaussianCompleter` without labels.
    target : {"auto", "classes", "number"}, default="auto"
        What `y` holds, for parts that leave it open.
    warm_start : bool, default=False
        Whether parts that can start from their last fit do so.

    Attributes
    ----------
    completed_ : (n, d) array
        By ``completer_``; observed cells are unchanged.
    variance_ : (n, d) array
        By ``posterior_``.
    completer_, posterior_ : fitted estimators
    scaling_ : Scaling
        The identity: the parts do their own scaling.
    n_features_in_ : int
    feature_names_in_ : array of str
        If the input had column names.

    Notes
    -----
    Not on row blocks: it keeps two completions of the whole table.

    Costs a fit of both.

    Examples
    --------
    >>> import numpy as np
    >>> from cellworth.complete.paired_completer import PairedCompleter
    >>> rng = np.random.default_rng(0)
    >>> X = np.outer(rng.normal(size=100), [1.0, 10.0, 100.0]) + rng.normal(size=(100, 3))
    >>> X[0, 2] = np.nan
    >>> completer = PairedCompleter().fit(X, X[:, 0] > 0)
    >>> completer.completed_.shape, completer.sample(2, 0).shape, bool(completer.variance_[0, 2] > 0)
    ((100, 3), (2, 100, 3), True)
    """

    variance_: FloatArray
    completer_: Any
    posterior_: Any

    def __init__(
        self,
        completer: Any = None,
        posterior: Any = None,
        *,
        target: TargetKind = "auto",
        warm_start: bool = False,
    ) -> None:
        self.completer = completer
        self.posterior = posterior
        self.target = target
        self.warm_start = warm_start

    def parts(self) -> tuple[Any, Any]:
        """Return clones of both parts, with the settings that they share."""
        first = SupervisedCompleter() if self.completer is None else clone(self.completer)
        second = GaussianCompleter(label_trust=0.0) if self.posterior is None else clone(self.posterior)
        for part in (first, second):
            tell_target(part, None if self.target == "auto" else self.target)
            if self.warm_start and "warm_start" in part.get_params(deep=False):
                part.set_params(warm_start=True)
        return first, second

    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> Self:
        """Fit both to the table X (n, d), NaN in its holes, and the labels y."""
        X = check_table(self, X, reset=True)
        self.scaling_ = Scaling.of(X, None)
        if not (self.warm_start and hasattr(self, "completer_")):
            self.completer_, self.posterior_ = self.parts()
        self.completer_.fit(X, y)
        self.posterior_.fit(X, y)
        self.completed_ = put_back(X, np.array(self.completer_.completed_))
        self.variance_ = np.asarray(self.posterior_.variance_)
        return self

    def sample(
        self,
        n_draws: int = 1,
        random_state: int | np.random.Generator | None = None,
        X: ArrayLike | None = None,
        **settings: Any,
    ) -> FloatArray:
        """Return draws of the posterior, (n_draws, n, d), or of new rows X (m, d) if given.

        ``settings`` are those of its ``sample``.
        """
        check_is_fitted(self)
        rows = None if X is None else check_table(self, X, reset=False)
        draws: FloatArray = self.posterior_.sample(n_draws, random_state, rows, **settings)
        return draws

    @available_if(_both_can_be_stored)  # type: ignore[untyped-decorator]
    def fitted_state(self) -> dict[str, Any]:
        """Return the fitted state of both as plain data; see `cellworth.complete.fitted_state`."""
        of_parts = {"completer": self.completer_.fitted_state(), "posterior": self.posterior_.fitted_state()}
        return state_of(self, ("variance_",)) | of_parts

    @available_if(_both_can_be_stored)  # type: ignore[untyped-decorator]
    def restore_fitted(self, state: dict[str, Any]) -> None:
        """Restore what `fitted_state` of a completer with the same settings returned."""
        restore(self, state, ("variance_",))
        self.completer_, self.posterior_ = self.parts()
        self.completer_.restore_fitted(state["completer"])
        self.posterior_.restore_fitted(state["posterior"])

    def _complete_new(self, values: FloatArray, observed: BoolArray) -> FloatArray:
        rows = np.where(observed, values, values.dtype.type(np.nan))
        return np.asarray(self.completer_.transform(rows))
