"""The contract of a scorer."""

from __future__ import annotations

import copy
import pickle
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from cellworth.arrays import Float64Array, Int64Array
from cellworth.blocks import ThreadEngine, open_blocks
from cellworth.complete.gaussian import GaussianCompleter
from cellworth.score.scorer import Round, Scorer
from cellworth.table.target import LabelKind
from cellworth.testing.completer_contract import random_table

Target = LabelKind | None

ANSWERS = 12  # cells bought between two rounds
SLACK = 64  # bytes that a pickled state may grow by: numbers get longer, arrays must not


def check_scorer(scorer: Scorer | Callable[[], Scorer], completer: Any = None, *, seed: int = 0) -> None:
    """Check that a scorer keeps the promises of every scorer.

    Worths have the table's shape, are finite, non-negative float64 numbers, and are 0 for observed cells; the
    round is not modified, and later rounds do not modify earlier worths; the same rounds give the same
    worths, bit for bit; a state holds only arrays, numbers, strings and None, later rounds do not modify it,
    and any scorer restored from it (new or used, pickled or not) gives bit for bit the worths that the
    original would have given; the state does not grow from the fifth round to the tenth; rows may be added;
    the units of the columns do not matter; labels may be two or more classes, numbers, partly or entirely
    missing, or all the same; tables without holes, with a constant column or with an empty row work.
    ``score_blocks``, if present, gives the same worths as ``score`` on the whole table.

    Parameters
    ----------
    scorer : Scorer, or a callable that makes one
        A scorer is copied, and must not have scored yet.
    completer : estimator, optional
        Completes the rounds; cloned. By default, a `GaussianCompleter`, which has variances and can draw
        tables.
    seed : int

    Examples
    --------
    >>> from cellworth.score import Variance
    >>> check_scorer(Variance(window=3))
    """
    made = scorer if callable(scorer) else lambda: copy.deepcopy(scorer)
    if completer is None:
        completer = GaussianCompleter(margins="normal", label_trust=0.0, calibrate=False)
    rng = np.random.default_rng(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        X, y = random_table(rng)
        rounds = list(_rounds(X, y.astype(float), "classes", completer, rng, count=10))
        _check_worths(made(), rounds[:3])
        _check_same_again(made, rounds[:4])
        _check_restored(made, rounds[:5])
        _check_memory(made(), rounds)
        _check_new_rows(made, X, y.astype(float), completer)
        _check_units(made, X, y.astype(float), completer, rng)
        if hasattr(made(), "score_blocks") and hasattr(completer, "fit_blocks"):
            _check_blocks(made, X, y.astype(float), completer)
        for name, labels, target in _kinds_of_labels(y, rng):
            _check_worths(made(), list(_rounds(X, labels, target, completer, rng, count=2)), name)
        for name, table in _awkward_tables(X):
            worked = list(_rounds(table, y.astype(float), "classes", completer, rng, count=2))
            _check_worths(made(), worked, name)


def _rounds(
    X: Float64Array,
    y: Float64Array | None,
    target: Target,
    completer: Any,
    rng: np.random.Generator,
    count: int,
) -> Iterator[Round]:
    """Yield completed rounds; between rounds, some holes of the table are filled."""
    X = X.copy()
    values = rng.normal(scale=np.nanstd(X, axis=0), size=X.shape)
    for number in range(count):
        yield _round(X.copy(), y, target, completer, number)
        bought = rng.permutation(np.flatnonzero(np.isnan(X)))[:ANSWERS]
        X.flat[bought] = values.flat[bought]


def _round(X: Float64Array, y: Float64Array | None, target: Target, completer: Any, number: int) -> Round:
    plan = Round(X, y, target, None, np.random.default_rng(number))
    fitted = clone(completer).fit(X, plan.labels)
    return Round(X, y, target, fitted, plan.rng)


def _again(this_round: Round, number: int) -> Round:
    """Return the same round with its random generator reset."""
    return Round(
        this_round.X, this_round.y, this_round.target, this_round.completer, np.random.default_rng(number)
    )


def _check_worths(scorer: Scorer, rounds: list[Round], where: str = "a plain table") -> None:
    earlier: list[tuple[Float64Array, Float64Array]] = []
    for number, this_round in enumerate(rounds):
        before = pickle.dumps((this_round.X, this_round.y, this_round.completer))
        scores = scorer.score(_again(this_round, number))
        after = pickle.dumps((this_round.X, this_round.y, this_round.completer))
        assert before == after, "score must not change the round's table, labels or completer"
        _check_form(scores, this_round, where)
        earlier.append((scores, scores.copy()))
    for scores, then in earlier:
        np.testing.assert_array_equal(scores, then, err_msg="later rounds must not change earlier worths")


def _check_form(scores: Float64Array, this_round: Round, where: str) -> None:
    shape = this_round.X.shape
    assert isinstance(scores, np.ndarray), f"score must return an array; got {type(scores).__name__}"
    assert scores.shape == shape, f"worths must have the table's shape {shape}; got {scores.shape} ({where})"
    assert scores.dtype == np.float64, f"worths must be float64; got {scores.dtype}"
    assert np.isfinite(scores).all(), f"worths must be finite ({where})"
    assert (scores >= 0).all(), f"worths must not be negative ({where})"
    assert (scores[~np.isnan(this_round.X)] == 0).all(), (
        f"worths must be 0 where a cell is observed ({where})"
    )


def _check_same_again(made: Callable[[], Scorer], rounds: list[Round]) -> None:
    one, other = made(), made()
    for number, this_round in enumerate(rounds):
        np.testing.assert_array_equal(
            other.score(_again(this_round, number)),
            one.score(_again(this_round, number)),
            err_msg="the same rounds must give the same worths; is all randomness from this_round.rng?",
        )


def _check_restored(made: Callable[[], Scorer], rounds: list[Round]) -> None:
    owner, used = made(), made()
    used.score(_again(rounds[-1], 99))
    for number, this_round in enumerate(rounds):
        state = owner.state()
        _check_kinds(state)
        saved = pickle.dumps(state)
        fresh, through_pickle = made(), made()
        fresh.restore(state)
        used.restore(state)
        through_pickle.restore(pickle.loads(saved))
        expected = owner.score(_again(this_round, number))
        for name, heir in (("a new", fresh), ("a used", used), ("a new", through_pickle)):
            np.testing.assert_array_equal(
                heir.score(_again(this_round, number)),
                expected,
                err_msg=f"{name} scorer restored before round {number + 1} must continue like the original",
            )
        assert pickle.dumps(state) == saved, "a state must not change when scorers continue from it"


def _check_kinds(state: Any) -> None:
    assert isinstance(state, dict), f"a state must be a dict; got {type(state).__name__}"
    for name, value in state.items():
        assert isinstance(name, str), f"the names in a state must be strings; got {name!r}"
        right = value is None or isinstance(value, np.ndarray | np.generic | int | float | str)
        assert right, f"a state holds arrays, numbers, strings and None; {name!r} is {type(value).__name__}"


def _check_memory(scorer: Scorer, rounds: list[Round]) -> None:
    sizes = []
    for number, this_round in enumerate(rounds):
        scorer.score(_again(this_round, number))
        sizes.append(len(pickle.dumps(scorer.state())))
    assert sizes[9] <= sizes[4] + SLACK, (
        "the state must not grow with the number of rounds; "
        f"got {sizes[4]} bytes after 5 rounds and {sizes[9]} after 10"
    )


def _check_new_rows(made: Callable[[], Scorer], X: Float64Array, y: Float64Array, completer: Any) -> None:
    owner = made()
    for number, rows in enumerate((40, 40, 50, 50, 60)):
        this_round = _round(X[:rows], y[:rows], "classes", completer, number)
        heir = made()
        heir.restore(owner.state())
        scores = owner.score(this_round)
        _check_form(scores, this_round, "rows were added")
        np.testing.assert_array_equal(
            heir.score(_again(this_round, number)),
            scores,
            err_msg="a restored scorer must continue like the original when rows are added",
        )


def _check_blocks(made: Callable[[], Any], X: Float64Array, y: Float64Array, completer: Any) -> None:
    here, there = made(), made()
    with ThreadEngine(n_jobs=1, block_rows=17) as engine:
        for number in range(2):
            expected = here.score(_round(X, y, "classes", completer, number))
            completed = clone(completer).fit(open_blocks(X, target=y, engine=engine)).completed_
            np.testing.assert_allclose(
                there.score_blocks(completed, np.random.default_rng(number)).gather(),
                expected,
                rtol=1e-5,
                atol=1e-8 * float(expected.max()),
                err_msg="score_blocks must give the worths that score gives",
            )
            X = np.where(np.isnan(X) & (np.arange(X.size).reshape(X.shape) % 5 == 0), 0.5, X)


def _check_units(
    made: Callable[[], Scorer], X: Float64Array, y: Float64Array, completer: Any, rng: np.random.Generator
) -> None:
    # With powers of two the completer sees the same numbers bit for bit, so only the scorer is tested.
    factor = 2.0 ** rng.integers(-6, 7, size=X.shape[1])
    here, there = made(), made()
    for number, this_round in enumerate(_rounds(X, y, "classes", completer, rng, count=3)):
        scores = here.score(this_round)
        np.testing.assert_allclose(
            there.score(_round(this_round.X * factor, y, "classes", completer, number)),
            scores,
            rtol=1e-6,
            atol=1e-9 * float(scores.max()),
            err_msg="worths must not depend on the units of the columns",
        )


def _kinds_of_labels(
    y: Int64Array, rng: np.random.Generator
) -> Iterator[tuple[str, Float64Array | None, Target]]:
    partly = y.astype(float)
    partly[::3] = np.nan
    numbers = y + rng.normal(size=len(y))
    numbers[::4] = np.nan
    yield "no labels", None, None
    yield "two classes, some labels missing", partly, "classes"
    yield "several classes", (np.arange(len(y)) % 4).astype(float), "classes"
    yield "a number as the target, some labels missing", numbers, "number"
    yield "all labels missing", np.full(len(y), np.nan), "classes"
    yield "labels of one class only", np.where(y == 1, 1.0, np.nan), "classes"
    yield "a number as the target, one label", np.where(np.arange(len(y)) == 3, 2.5, np.nan), "number"


def _awkward_tables(X: Float64Array) -> Iterator[tuple[str, Float64Array]]:
    constant, empty_row = X.copy(), X.copy()
    constant[:, 2] = np.where(np.isnan(X[:, 2]), np.nan, 5.0)
    empty_row[7] = np.nan
    yield "no hole", np.nan_to_num(X)
    yield "a constant column", constant
    yield "a row with nothing observed", empty_row
