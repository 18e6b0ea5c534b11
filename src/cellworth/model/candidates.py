"""Candidates for a model of a table with holes: what the learner sees of the holes, and the learner."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from cellworth.errors import ParameterError
from cellworth.messages import not_there
from cellworth.model import average_names, learners
from cellworth.model.feature_views import View
from cellworth.model.learners import JointGaussian

MEAN = View()
KNOWN_UNITS = View(mask=True)
"""For learners that scale columns by their known cells; the mask is no feature of theirs."""


@dataclass(frozen=True)
class Candidate:
    """A learner and its view of rows with holes, or an average of such candidates.

    Attributes
    ----------
    name : str
    view : View
        What the learner sees of rows with holes.
    learner : estimator or None
        An unfitted scikit-learn classifier or regressor; None for an average.
    members : tuple of Candidate
        The candidates whose predictions are averaged; empty if there is a learner.
    """

    name: str
    view: View = MEAN
    learner: Any = None
    members: tuple[Candidate, ...] = ()


def default_models(*, is_number: bool) -> list[Candidate]:
    """Return the candidates that are tried by default, cheap ones first."""
    trees, boosted = learners.extra_trees(is_number=is_number), learners.boosted_trees(is_number=is_number)
    linear = "ridge regression" if is_number else "logistic regression"
    machine = [] if is_number else [Candidate("linear SVM", KNOWN_UNITS, learners.linear_svm())]
    return [
        Candidate(linear, KNOWN_UNITS, learners.linear(is_number=is_number)),
        Candidate("joint Gaussian", View("raw"), JointGaussian(is_number=is_number)),
        *machine,
        Candidate("extra trees", View(), trees),
        Candidate("extra trees, mask", View(mask=True), trees),
        Candidate("boosted trees, holes kept", View("raw"), boosted),
        Candidate("boosted trees", View(), boosted),
        Candidate("extra trees, draws", View("draws"), learners.extra_trees(is_number=is_number, leaf=5)),
        Candidate("boosted trees, draws", View("draws"), boosted),
    ]


def average_of(candidates: Sequence[Candidate]) -> Candidate:
    """Return the candidate that averages the predictions of others."""
    return Candidate(average_names.joined(each.name for each in candidates), members=tuple(candidates))


def candidate_named(name: str, *, is_number: bool) -> Candidate:
    """Return a default candidate by its name, or an average by names joined with " + "."""
    known = {each.name: each for each in default_models(is_number=is_number)}
    found = []
    for part in average_names.members(name):
        if part not in known:
            raise ParameterError(not_there("candidate", part, tuple(known)))
        found.append(known[part])
    return found[0] if len(found) == 1 else average_of(found)


def own_candidates(given: Any, *, is_number: bool, taken: Iterable[str] = ()) -> list[Candidate]:
    """Return the user's candidates.

    Parameters
    ----------
    given : sequence
        Estimators, which see the mean completion; (name, estimator) pairs; or `Candidate` objects.
    taken : iterable of str
        Names that are in use; the same class of estimator twice gets a number.
    """
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise ParameterError(
            f"candidates must be a list of scikit-learn estimators or (name, estimator) pairs; got {given!r}"
        )
    names, found = set(taken), []
    for each in given:
        candidate = _own(each, is_number=is_number)
        name, number = candidate.name, 2
        while name in names:
            name, number = f"{candidate.name} {number}", number + 1
        names.add(name)
        found.append(Candidate(name, candidate.view, candidate.learner, candidate.members))
    return found


def _own(given: Any, *, is_number: bool) -> Candidate:
    if isinstance(given, Candidate):
        return given
    pair = isinstance(given, tuple) and len(given) == 2 and isinstance(given[0], str)
    name, learner = given if pair else (type(given).__name__, given)
    if not hasattr(learner, "get_params") or not hasattr(learner, "fit") or isinstance(learner, type):
        raise ParameterError(
            f"a candidate must be a scikit-learn estimator such as LogisticRegression(); got {given!r}"
        )
    return Candidate(name, View(), learner)
