"""Scorers that break one promise each are caught, and told which."""

import numpy as np
import pytest

from cellworth.score import PosteriorVariance, Random, Variance
from cellworth.testing.scorer_contract import check_scorer


class Good:
    """How far a completion lies from the last one, in squared ranges of the column: keeps every promise."""

    def __init__(self):
        self.last = None

    def score(self, this_round):
        now = this_round.completed
        moved = np.zeros(now.shape)
        if self.last is not None:
            moved[: len(self.last)] = np.square(now[: len(self.last)] - self.last)
        self.last = now.copy()
        return np.where(this_round.holes, moved / self.widths(this_round.X), 0.0)

    def widths(self, X):
        widths = (np.nanmax(X, axis=0) - np.nanmin(X, axis=0)) ** 2
        return np.where(widths > 0, widths, 1.0)

    def state(self):
        return {} if self.last is None else {"last": self.last.copy()}

    def restore(self, state):
        self.last = np.array(state["last"]) if state else None


class WrongShape(Good):
    def score(self, this_round):
        return super().score(this_round)[:, :1]


class NoArray(Good):
    def score(self, this_round):
        return super().score(this_round).tolist()


class SinglePrecision(Good):
    def score(self, this_round):
        return super().score(this_round).astype(np.float32)


class Negative(Good):
    def score(self, this_round):
        return super().score(this_round) - 1e-9 * this_round.holes


class Infinite(Good):
    def score(self, this_round):
        return np.where(this_round.holes, np.inf, 0.0)


class NotZeroWhereObserved(Good):
    def score(self, this_round):
        return super().score(this_round) + 0.1


class DividesByZero(Good):
    """A constant column has no width."""

    def widths(self, X):
        with np.errstate(all="ignore"):
            return (np.nanmax(X, axis=0) - np.nanmin(X, axis=0)) ** 2

    def score(self, this_round):
        with np.errstate(all="ignore"):
            return super().score(this_round)


class ChangesTheTable(Good):
    def score(self, this_round):
        scores = super().score(this_round)
        this_round.X[0, 0] = 0.0
        return scores


class ChangesTheCompletion(Good):
    def score(self, this_round):
        this_round.completer.completed_ += 1.0
        return super().score(this_round)


class ReusesItsMemory(Good):
    def __init__(self):
        super().__init__()
        self.scores = np.zeros(0)

    def score(self, this_round):
        scores = super().score(this_round)
        if self.scores.shape != scores.shape:
            self.scores = scores
        self.scores[:] = scores
        return self.scores


class OwnDice(Good):
    def score(self, this_round):
        return np.where(this_round.holes, np.random.random(this_round.X.shape), 0.0)  # noqa: NPY002


class KeepsEverything(Good):
    def __init__(self):
        super().__init__()
        self.history = np.zeros(0)

    def score(self, this_round):
        self.history = np.append(self.history, this_round.completed)
        return super().score(this_round)

    def state(self):
        return {**super().state(), "history": self.history.copy()}

    def restore(self, state):
        super().restore(state if "last" in state else {})
        self.history = np.array(state["history"])


class ForgetsInState(Good):
    def state(self):
        return {}


class RestoresOverAUsedOne(Good):
    """Restoring an empty state leaves what was there."""

    def restore(self, state):
        if state:
            super().restore(state)


class SharesItsState(Good):
    def score(self, this_round):
        if self.last is not None and self.last.shape == this_round.X.shape:
            scores = np.where(
                this_round.holes, np.square(this_round.completed - self.last) / self.widths(this_round.X), 0.0
            )
            self.last[:] = this_round.completed
            return scores
        return super().score(this_round)

    def state(self):
        return {} if self.last is None else {"last": self.last}

    def restore(self, state):
        self.last = state["last"] if state else None


class StateOfObjects(Good):
    def state(self):
        return {"scorer": self}


class StateIsAList(Good):
    def state(self):
        return [self.last]


class NeedsTheSameRows(Good):
    def score(self, this_round):
        if self.last is not None and len(self.last) != len(this_round.X):
            self.last = np.resize(self.last, (1, this_round.X.shape[1]))
            return super().score(this_round)[:1]
        return super().score(this_round)


class InUnits(Good):
    def widths(self, X):
        return np.ones(X.shape[1])


class NeedsLabels(Good):
    def score(self, this_round):
        labelled = np.isnan(this_round.y) if this_round.y is not None else np.nan
        return super().score(this_round) * np.where(this_round.holes, np.mean(labelled) + 1, 1)


class NeedsNumbers(Good):
    def score(self, this_round):
        known = this_round.y[~np.isnan(this_round.y)] if this_round.y is not None else np.ones(1)
        with np.errstate(all="ignore"):
            return np.where(this_round.holes, super().score(this_round) / np.float64(len(known)), 0.0)


class OtherWorthsOnBlocks(Variance):
    def score_blocks(self, completed, rng):
        return PosteriorVariance().score_blocks(completed, rng)


BROKEN = [
    (OtherWorthsOnBlocks, "score_blocks must give the worths that score gives"),
    (WrongShape, "table's shape"),
    (NoArray, "return an array"),
    (SinglePrecision, "float64"),
    (Negative, "negative"),
    (Infinite, "finite"),
    (NotZeroWhereObserved, "0 where a cell is observed"),
    (DividesByZero, r"finite \(a constant column\)"),
    (ChangesTheTable, "must not change"),
    (ChangesTheCompletion, "must not change"),
    (ReusesItsMemory, "must not change earlier worths"),
    (OwnDice, r"is all randomness from this_round\.rng"),
    (KeepsEverything, "must not grow"),
    (ForgetsInState, "restored before round 2"),
    (RestoresOverAUsedOne, "a used scorer restored before round 1"),
    (SharesItsState, "restored before round|must not change when"),
    (StateOfObjects, "'scorer' is StateOfObjects"),
    (StateIsAList, "must be a dict"),
    (NeedsTheSameRows, "rows were added"),
    (InUnits, "units"),
    (NeedsLabels, r"finite \(no labels\)"),
    (NeedsNumbers, r"finite \(all labels missing\)"),
]


@pytest.mark.parametrize(("broken", "promise"), BROKEN, ids=lambda value: getattr(value, "__name__", ""))
def test_a_broken_promise_is_named(broken, promise):
    with pytest.raises(AssertionError, match=promise):
        check_scorer(broken)


@pytest.mark.slow
def test_a_scorer_that_keeps_its_promises_passes():
    check_scorer(Good)
    check_scorer(Good())
    check_scorer(lambda: Variance(window=2), seed=3)


@pytest.mark.slow
def test_the_scorer_that_is_passed_is_left_alone():
    scorer = Variance()
    check_scorer(scorer)
    assert scorer.state() == {}
    check_scorer(Random())
