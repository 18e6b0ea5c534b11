"""A committee of completers: the mean of its members' completions, and each completion."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils.metaestimators import available_if

from cellworth.arrays import BoolArray, FloatArray
from cellworth.complete.completer import Completer
from cellworth.complete.fitted_state import can_be_stored, restore, state_of
from cellworth.complete.gaussian import GaussianCompleter
from cellworth.complete.inputs import check_table
from cellworth.complete.lmafit import LMaFitCompleter
from cellworth.complete.nnls import NNLSCompleter
from cellworth.complete.scaling import Scaling, put_back
from cellworth.errors import ParameterError


def _members_can_be_stored(committee: Any) -> bool:
    members = default_members() if committee.members is None else committee.members
    return all(can_be_stored(member) for member in members)


class CommitteeCompleter(Completer):
    """Fill the holes of a table with the mean of several completers' estimates, and keep each estimate.

    If the members disagree on a cell, the table does not determine it: `cellworth.score.QueryByCommittee`
    and `cellworth.score.CommitteeStability` use the members' completions.

    Parameters
    ----------
    members : sequence of completers or None, default=None
        At least two; they are cloned. None: an `LMaFitCompleter` with three components, an `NNLSCompleter`
        with a relative penalty of 0.1, and a `GaussianCompleter` with four factors and no labels.

    Attributes
    ----------
    completed_ : (n, d) array
        The mean of the members' completions; observed cells are unchanged.
    completions_ : (n_members, n, d) array
        Each member's completion, in the units of the table.
    members_ : list of fitted completers
    scaling_ : Scaling
        The identity: each member does its own scaling.
    n_features_in_ : int
    feature_names_in_ : array of str
        If the input had column names.

    Notes
    -----
    Not on row blocks: two of its usual members, `LMaFitCompleter` and `NNLSCompleter`, are not.

    Costs as much as fitting the members one by one. Memory: one array of the table's size per member
    besides what the members keep. There is no warm start.

    Examples
    --------
    >>> import numpy as np
    >>> from cellworth.complete.committee_completer import CommitteeCompleter
    >>> rng = np.random.default_rng(0)
    >>> X = np.outer(rng.normal(size=100), [1.0, 10.0, 100.0]) + rng.normal(size=(100, 3))
    >>> X[0] = [2.0, 20.0, np.nan]
    >>> completer = CommitteeCompleter().fit(X)
    >>> completer.completions_.shape
    (3, 100, 3)
    >>> completer.completed_[0].round(-2)
    array([  0.,   0., 200.])
    """

    completions_: FloatArray
    members_: list[Any]

    def __init__(self, members: Sequence[Any] | None = None) -> None:
        self.members = members

    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> Self:
        """Complete the table X (n, d), NaN in its holes, with each member; those that use labels get y."""
        members = check_members(self.members)
        X = check_table(self, X, reset=True)
        self.scaling_ = Scaling.of(X, None)
        self.members_ = [clone(member).fit(X, y) for member in members]
        self.completions_ = np.stack([member.completed_ for member in self.members_])
        self.completed_ = put_back(X, self.completions_.mean(axis=0))
        return self

    @available_if(_members_can_be_stored)  # type: ignore[untyped-decorator]
    def fitted_state(self) -> dict[str, Any]:
        """Return the fitted state, including each member's, as plain data.

        See `cellworth.complete.fitted_state`.
        """
        return state_of(self, ("completions_",)) | {"members": [m.fitted_state() for m in self.members_]}

    @available_if(_members_can_be_stored)  # type: ignore[untyped-decorator]
    def restore_fitted(self, state: dict[str, Any]) -> None:
        """Restore what `fitted_state` of a committee with the same members returned."""
        restore(self, state, ("completions_",))
        self.members_ = [clone(member) for member in check_members(self.members)]
        for member, its in zip(self.members_, state["members"], strict=True):
            member.restore_fitted(its)

    def _complete_new(self, values: FloatArray, observed: BoolArray) -> FloatArray:
        rows = np.where(observed, values, values.dtype.type(np.nan))
        return np.mean([member.transform(rows) for member in self.members_], axis=0)


def default_members() -> list[Completer]:
    """Return three fast completers that use different methods.

    Three components by least squares (LMaFit); a trace-norm penalty of a tenth of the largest singular value
    (NNLS); four common factors plus noise by maximum likelihood (the Gaussian). None searches for settings on
    hidden cells, which takes most of a completer's time, and none uses the labels. LMaFit stops early and
    shrinks its rows: with few observed cells, more steps would fit noise.
    """
    return [
        LMaFitCompleter(rank=3, rank_strategy="fixed", ridge=0.3, tol=1e-2),
        NNLSCompleter(trace_penalty=0.1, penalty_unit="relative"),
        GaussianCompleter(
            factors=4, shrinkage=3.0, margins="normal", label_trust=0.0, calibrate=False, tol=1e-3
        ),
    ]


def check_members(members: Sequence[Any] | None) -> Sequence[Any]:
    """Return the members, or the defaults for None; raise if there are fewer than two or one has no `fit`."""
    if members is None:
        return default_members()
    wrong = [member for member in members if isinstance(member, type) or not hasattr(member, "fit")]
    if len(members) < 2 or wrong:
        got = f"{wrong[0]!r} among them" if wrong else f"{len(members)}"
        raise ParameterError(
            f"members must be None or at least two completers, such as "
            f"[NNLSCompleter(), LMaFitCompleter()]; got {got}"
        )
    return members
