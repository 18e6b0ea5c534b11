"""Worths from a committee of completers: where its members disagree, and where they change their minds."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from cellworth.arrays import Float64Array
from cellworth.complete.committee_completer import check_members
from cellworth.errors import ParameterError
from cellworth.score.completion_history import check_entries, check_growth
from cellworth.score.scorer import Memoryless, Round, State


@dataclass(eq=False)
class QueryByCommittee(Memoryless):
    r"""How far the members of a committee of completers disagree on a cell.

    .. math:: I_{ij} = \frac{1}{M r_j^2} \sum_{k=1}^M \bigl(X^k_{ij} - m_{ij}\bigr)^2

    over the completions of the M members, with :math:`m_{ij}` their mean and :math:`r_j` the range of the
    column's observed cells (1 for a constant column). After Chakraborty et al. (2013).

    Parameters
    ----------
    members : sequence of completers or None, default=None
        At least two. None: the default members of `CommitteeCompleter`. Used only where the round's completer
        is not a committee.

    Notes
    -----
    If the round was completed by a `CommitteeCompleter`, or anything else with ``completions_``, that
    committee is asked and nothing is fitted again. Otherwise clones of ``members`` are fitted in each round.
    Time beside the fits: O(Mnd). Nothing is remembered from round to round.

    References
    ----------
    S. Chakraborty, J. Zhou, V. Balasubramanian, S. Panchanathan, I. Davidson and J. Ye, "Active Matrix
    Completion", IEEE International Conference on Data Mining (2013).

    Examples
    --------
    >>> import numpy as np
    >>> from cellworth.complete.committee_completer import CommitteeCompleter
    >>> from cellworth.score import QueryByCommittee, Round
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 2)) @ rng.normal(size=(2, 4))
    >>> X[0, 1:] = np.nan
    >>> this_round = Round(X, None, None, CommitteeCompleter().fit(X), rng)
    >>> scores = QueryByCommittee().score(this_round)
    >>> scores.shape, int((scores > 0).sum())
    ((60, 4), 3)
    """

    members: Sequence[Any] | None = None

    def __post_init__(self) -> None:
        check_members(self.members)

    def score(self, this_round: Round) -> Float64Array:
        """Return the worths (n, d), in squared ranges of the columns."""
        return _in_ranges(completions(this_round, self.members).var(axis=0), this_round)


@dataclass(eq=False)
class CommitteeStability:
    r"""How far the members of a committee of completers moved a cell since the last round.

    .. math:: I_{ij} = \frac{1}{M r_j^2} \sum_{k=1}^M \bigl(X^{k,t}_{ij} - X^{k,t-1}_{ij}\bigr)^2

    over the M members, from the last round t - 1 to this round t, with :math:`r_j` the range of the column's
    observed cells (1 for a constant column). After Chakraborty et al. (2013): a cell that moves is open.

    Parameters
    ----------
    members : sequence of completers or None, default=None
        As for `QueryByCommittee`.

    Notes
    -----
    A row that has been completed once has not moved: it gets the committee's disagreement, as from
    `QueryByCommittee`. This is the whole table in the first round, and rows that have been added since.
    Time beside the fits: O(Mnd). Memory: the members' last completions, however many rounds there are.

    Examples
    --------
    >>> import numpy as np
    >>> from cellworth.complete.committee_completer import CommitteeCompleter
    >>> from cellworth.score import CommitteeStability, Round
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 2)) @ rng.normal(size=(2, 4))
    >>> X[0, 1:], X[1, 0] = np.nan, np.nan
    >>> scorer = CommitteeStability()
    >>> for answer in (np.nan, 3.0):
    ...     X[0, 1] = answer
    ...     scores = scorer.score(Round(X, None, None, CommitteeCompleter().fit(X), rng))
    >>> bool(scores[0, 2] > 10 * scores[1, 0])  # an answer in its own row moved the first, not the second
    True
    """

    members: Sequence[Any] | None = None

    def __post_init__(self) -> None:
        check_members(self.members)
        self._last: Float64Array | None = None

    def score(self, this_round: Round) -> Float64Array:
        """Take in the round's completions and return the worths (n, d), in squared ranges of the columns."""
        now, last = completions(this_round, self.members), self._last
        old = 0 if last is None else last.shape[1]
        if last is not None:
            check_growth(now.shape[1:], last.shape[1:])
            if len(now) != len(last):
                raise ParameterError(
                    f"the committee had {len(last)} members in the last round and has {len(now)} in this "
                    "one; use a new scorer for another committee"
                )
        scores = np.empty(this_round.X.shape)
        scores[old:] = now[:, old:].var(axis=0)
        if last is not None:
            scores[:old] = np.square(now[:, :old] - last).mean(axis=0)
        self._last = now
        return _in_ranges(scores, this_round)

    def state(self) -> State:
        """Return a copy of the members' last completions, (M, n, d)."""
        return {} if self._last is None else {"completions": self._last.copy()}

    def restore(self, state: State) -> None:
        """Go on from a state, which is copied."""
        check_entries(state, "completions")
        self._last = np.array(state["completions"], dtype=np.float64) if state else None


def completions(this_round: Round, members: Sequence[Any] | None) -> Float64Array:
    """Return what each member of the committee completed, (M, n, d), in memory of its own.

    The round's own committee is asked if there is one; otherwise clones of the members are fitted.
    """
    own = getattr(this_round.completer, "completions_", None)
    if own is not None:
        return np.array(own, dtype=np.float64)
    y = this_round.labels
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # an opinion need not be worked out to the end
        fitted = [clone(member).fit(this_round.X, y) for member in check_members(members)]
    return np.stack([np.asarray(member.completed_, dtype=np.float64) for member in fitted])


def _in_ranges(scores: Float64Array, this_round: Round) -> Float64Array:
    scores /= this_round.squared_ranges
    scores *= this_round.holes
    return scores
