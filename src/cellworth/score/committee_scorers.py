"""Scores from a committee of completers: how much its members disagree, or change from round to round."""

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
    r"""Score a cell by how much the members of a committee of completers disagree on it.

    .. math:: I_{ij} = \frac{1}{M r_j^2} \sum_{k=1}^M \bigl(X^k_{ij} - m_{ij}\bigr)^2

    over the completions of the M members, with :math:`m_{ij}` their mean and :math:`r_j` the range of the
    column's observed cells (1 for a constant column). After Chakraborty et al. (2013).

    Parameters
    ----------
    members : sequence of completers or None, default=None
        At least two. None: the default members of `CommitteeCompleter`. Used only if the round's completer is
        not a committee.

    Notes
    -----
    Not on row blocks: it needs the completions of a `CommitteeCompleter`, which is not.

    If the round was completed by a `CommitteeCompleter`, or anything else with ``completions_``, its
    completions are used and nothing is refitted. Otherwise clones of ``members`` are fitted in each round.
    Time besides the fits: O(Mnd). Keeps no state between rounds.

    References
    ----------
    S. Chakraborty, J. Zhou, V. Balasubramanian, S. Panchanathan, I. Davidson and J. Ye, "Active Matrix
    Completion", IEEE International Conference on Data Mining (2013).

    Examples
    --------
    >>> import numpy as np
    >>> from cellworth.complete.committee_completer import CommitteeCompleter
    >>> from cellworth.score import Round
    >>> from cellworth.score.committee_scorers import QueryByCommittee
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
        """Return the scores (n, d), in squared ranges of the columns."""
        return _in_ranges(completions(this_round, self.members).var(axis=0), this_round)


@dataclass(eq=False)
class CommitteeStability:
    r"""Score a cell by how far the members of a committee of completers moved it since the last round.

    .. math:: I_{ij} = \frac{1}{M r_j^2} \sum_{k=1}^M \bigl(X^{k,t}_{ij} - X^{k,t-1}_{ij}\bigr)^2

    over the M members, from the last round t - 1 to this round t, with :math:`r_j` the range of the column's
    observed cells (1 for a constant column). After Chakraborty et al. (2013): a moving cell is uncertain.

    Parameters
    ----------
    members : sequence of completers or None, default=None
        As for `QueryByCommittee`.

    Notes
    -----
    Not on row blocks: it needs the completions of a `CommitteeCompleter`, which is not.

    A row that has been completed only once has not moved, so it gets the committee's disagreement, as in
    `QueryByCommittee`. This applies to the whole table in the first round, and to new rows later.
    Time besides the fits: O(Mnd). Memory: the members' last completions, for any number of rounds.

    Examples
    --------
    >>> import numpy as np
    >>> from cellworth.complete.committee_completer import CommitteeCompleter
    >>> from cellworth.score import Round
    >>> from cellworth.score.committee_scorers import CommitteeStability
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
        """Add the round's completions and return the scores (n, d), in squared ranges of the columns."""
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
        """Continue from a state, which is copied."""
        check_entries(state, "completions")
        self._last = np.array(state["completions"], dtype=np.float64) if state else None


def completions(this_round: Round, members: Sequence[Any] | None) -> Float64Array:
    """Return a copy of each committee member's completion, (M, n, d).

    Uses the round's own committee if there is one; otherwise fits clones of the members.
    """
    own = getattr(this_round.completer, "completions_", None)
    if own is not None:
        return np.array(own, dtype=np.float64)
    y = this_round.labels
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # a member need not converge
        fitted = [clone(member).fit(this_round.X, y) for member in check_members(members)]
    return np.stack([np.asarray(member.completed_, dtype=np.float64) for member in fitted])


def _in_ranges(scores: Float64Array, this_round: Round) -> Float64Array:
    scores /= this_round.squared_ranges
    scores *= this_round.holes
    return scores
