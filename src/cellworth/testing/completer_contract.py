"""The contract of a completer."""

from __future__ import annotations

import io
import json
import pickle
import warnings
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from cellworth.arrays import AnyArray, Float64Array


def check_completer(completer: Any, *, unit_free: bool = True, seed: int = 0) -> None:
    """Check that a completer keeps the promises of every completer.

    The input is not modified; observed cells come back bit for bit from ``fit`` and ``transform``, and no
    hole is left; some or all labels may be missing; the same input gives the same output; each new row is
    completed independently; a complete row passes through unchanged; a ``variance_`` is finite, never
    negative, and 0 for observed cells; a pickled copy behaves the same; ``fitted_state`` and
    ``restore_fitted``, if present, pass `check_fitted_state`; awkward tables (constant or proportional
    columns, a column observed once, an empty row, fewer rows than columns, 98 % holes) give finite values; an
    infinity is refused, naming the column; so is a column without a value, or it is left out, as by
    scikit-learn's imputers.

    Parameters
    ----------
    completer : estimator
        Cloned, never fitted itself.
    unit_free : bool, default=True
        Whether completing in other units (grams for kilograms) must give the same result in those units.
    seed : int

    Examples
    --------
    >>> from cellworth import SupervisedCompleter
    >>> check_completer(SupervisedCompleter())
    """
    rng = np.random.default_rng(seed)
    X, y = random_table(rng)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        _check_fit(clone(completer), X, y)
        _check_labels(clone(completer), X, y)
        _check_transform(clone(completer), X, y, rng)
        check_fitted_state(completer, X, y)
        _check_awkward_tables(completer, rng)
        _check_infinity(completer, X, y)
        _check_unmeasured_column(completer, X, y)
        if unit_free:
            _check_units(completer, X, y, rng)


def random_table(
    rng: np.random.Generator, n: int = 60, d: int = 7, observed: float = 0.6
) -> tuple[Float64Array, AnyArray]:
    """Return a noisy rank-3 table (n, d) with holes but no empty column, and two classes (n,)."""
    X = rng.normal(size=(n, 3)) @ rng.normal(size=(3, d)) + 0.1 * rng.normal(size=(n, d))
    y = (X[:, 0] + 0.3 * rng.normal(size=n) > np.median(X[:, 0])).astype(np.int64)
    holes = rng.random((n, d)) >= observed
    holes[rng.integers(n, size=d), np.arange(d)] = False
    X[holes] = np.nan
    return X, y


def _check_fit(completer: Any, X: Float64Array, y: AnyArray) -> None:
    before = X.copy()
    first = clone(completer).fit(X, y)
    np.testing.assert_array_equal(X, before, err_msg="fit must not change X")
    _check_filled(first.completed_, X, "completed_")
    again = clone(completer).fit_transform(X, y)
    _check_same(again, first.completed_, "the same input must give the same output")
    if hasattr(first, "variance_"):
        _check_variance(first.variance_, X)
    if hasattr(first, "objective_"):
        objective = np.asarray(first.objective_)
        rises = np.diff(objective) > 1e-9 * np.abs(objective[:-1])
        assert not rises.any(), "objective_ must never rise"
    small = clone(completer).fit(X.astype(np.float32), y)
    assert small.completed_.dtype == np.float32, "a float32 table must be completed in float32"
    _check_filled(small.completed_, X.astype(np.float32), "completed_ (float32)")


def _check_filled(completed: Float64Array, X: Float64Array, name: str) -> None:
    assert completed.shape == X.shape, f"{name} must have the table's shape {X.shape}; got {completed.shape}"
    assert np.isfinite(completed).all(), f"{name} must be finite"
    seen = ~np.isnan(X)
    np.testing.assert_array_equal(
        completed[seen], X[seen], err_msg=f"{name} must keep observed cells as they are"
    )


def _check_same(result: Float64Array, expected: Float64Array, promise: str) -> None:
    # BLAS may round differently if memory is aligned differently, so the last digits may differ.
    scale = float(np.abs(expected).max())
    np.testing.assert_allclose(result, expected, rtol=1e-9, atol=1e-12 * scale, err_msg=promise)


def _check_variance(variance: Float64Array, X: Float64Array) -> None:
    assert variance.shape == X.shape, f"variance_ must have the table's shape {X.shape}; got {variance.shape}"
    assert np.isfinite(variance).all(), "variance_ must be finite"
    assert (variance >= 0).all(), "variance_ must not be negative"
    assert (variance[~np.isnan(X)] == 0).all(), "variance_ must be 0 where a cell is observed"


def _check_labels(completer: Any, X: Float64Array, y: AnyArray) -> None:
    _check_filled(clone(completer).fit(X, None).completed_, X, "completed_ without labels")
    partly = y.astype(float)
    partly[::3] = np.nan
    _check_filled(clone(completer).fit(X, partly).completed_, X, "completed_ with some labels")
    words = np.array(["no", "yes"])[y]
    _check_filled(clone(completer).fit(X, words).completed_, X, "completed_ with text labels")
    three = (np.arange(len(X)) % 3).astype(str)
    _check_filled(clone(completer).fit(X, three).completed_, X, "completed_ with three classes")


def _check_transform(completer: Any, X: Float64Array, y: AnyArray, rng: np.random.Generator) -> None:
    completer.fit(X, y)
    new, _ = random_table(rng, n=12)
    new[0] = np.nan
    new[1] = np.arange(new.shape[1])
    filled = completer.transform(new)
    _check_filled(filled, new, "transform")
    one_by_one = np.vstack([completer.transform(row[None]) for row in new])
    np.testing.assert_allclose(
        one_by_one, filled, rtol=1e-8, atol=1e-10, err_msg="a row's completion must not depend on other rows"
    )
    copy = pickle.loads(pickle.dumps(completer))
    _check_same(copy.transform(new), filled, "a pickled copy must do the same")


def check_fitted_state(completer: Any, X: Any, y: AnyArray | None = None) -> None:
    """Check that a completer's fitted state is plain data, and enough to continue from.

    ``fitted_state()`` holds only arrays of plain types, numbers, strings, booleans, None, and lists and dicts
    of these. After a round trip through ``numpy.savez`` and JSON, ``restore_fitted`` gives a clone the same
    ``completed_``, ``variance_`` and ``transform``, and the same next fit, warm or not. A completer without
    these methods is not checked.
    """
    original, restored = clone(completer).fit(X, y), clone(completer)
    if not (hasattr(original, "fitted_state") and hasattr(restored, "restore_fitted")):
        return
    restored.restore_fitted(_through_files(original.fitted_state()))
    for what in ("restored", "restored and fitted again"):
        for name in ("completed_", "variance_", "objective_"):
            assert hasattr(restored, name) == hasattr(original, name), f"{name} must be {what}"
            if hasattr(original, name):
                _check_same(getattr(restored, name), getattr(original, name), f"{name} must be {what}")
        _check_same(restored.transform(X[:9]), original.transform(X[:9]), f"transform must be {what}")
        original.fit(X, y)
        restored.fit(X, y)


def _through_files(state: dict[str, Any]) -> Any:
    """Return the state after a round trip through JSON and saved arrays."""
    arrays: list[AnyArray] = []

    def to_json(value: Any, where: str) -> Any:
        if isinstance(value, np.ndarray):
            assert value.dtype.kind in "biufU", f"{where} must be of a plain type; got {value.dtype}"
            arrays.append(value)
            return {"array": len(arrays) - 1}
        if isinstance(value, list):
            return [to_json(each, f"{where}[{i}]") for i, each in enumerate(value)]
        if isinstance(value, dict):
            assert all(isinstance(name, str) for name in value), f"{where} must have keys of text"
            return {"dict": {name: to_json(each, f"{where}[{name!r}]") for name, each in value.items()}}
        plain = value is None or isinstance(value, str | bool | int | float)
        assert plain, f"{where} must be plain data; got a {type(value).__name__}"
        return value

    text, file = json.dumps(to_json(state, "fitted_state()")), io.BytesIO()
    np.savez(file, *arrays)
    file.seek(0)
    read = np.load(file, allow_pickle=False)

    def from_json(value: Any) -> Any:
        if isinstance(value, list):
            return [from_json(each) for each in value]
        if not isinstance(value, dict):
            return value
        ((kind, inner),) = value.items()
        if kind == "array":
            return read[f"arr_{inner}"]
        return {name: from_json(each) for name, each in inner.items()}

    return from_json(json.loads(text))


def _check_awkward_tables(completer: Any, rng: np.random.Generator) -> None:
    X, y = random_table(rng)
    constant, once, empty_row, twins = X.copy(), X.copy(), X.copy(), X.copy()
    constant[:, 2] = np.where(np.isnan(X[:, 2]), np.nan, 5.0)
    once[:, 1], once[3, 1] = np.nan, 1.5
    empty_row[7] = np.nan
    twins[:, 4] = 2 * twins[:, 0]
    wide, wide_y = random_table(rng, n=8, d=15)
    sparse, sparse_y = random_table(rng, n=200, d=10, observed=0.02)
    full = np.nan_to_num(X)
    tables = {
        "a constant column": (constant, y),
        "a column observed once": (once, y),
        "a row with nothing observed": (empty_row, y),
        "two columns in proportion": (twins, y),
        "fewer rows than columns": (wide, wide_y),
        "98 % holes": (sparse, sparse_y),
        "no hole": (full, y),
    }
    for name, (table, labels) in tables.items():
        labels = labels if len(np.unique(labels)) > 1 else np.arange(len(labels)) % 2
        fitted = clone(completer).fit(table, labels)
        _check_filled(fitted.completed_, table, f"completed_ of a table with {name}")
        _check_filled(fitted.transform(table), table, f"transform of a table with {name}")


def _check_infinity(completer: Any, X: Float64Array, y: AnyArray) -> None:
    infinite = X.copy()
    infinite[4, 2] = np.inf
    try:
        clone(completer).fit(infinite, y)
    except ValueError as error:
        assert "column 2" in str(error), f"the error about an infinity must name the column; got: {error}"
    else:
        raise AssertionError("fit must refuse an infinity")


def _check_unmeasured_column(completer: Any, X: Float64Array, y: AnyArray) -> None:
    """Check that a column without a value is refused by name, or left out of everything."""
    empty = X.copy()
    empty[:, 3] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        try:
            fitted = clone(completer).fit(empty, y)
        except ValueError as error:
            assert "column 3" in str(error), f"the error about an empty column must name it; got: {error}"
            return
    rest, other = np.delete(X, 3, axis=1), clone(completer)
    expected = other.fit(rest, y).completed_
    promise = "a column without a value must be refused or left out"
    assert fitted.completed_.shape == rest.shape, f"{promise}: completed_ has {fitted.completed_.shape}"
    _check_same(fitted.completed_, expected, f"{promise} of completed_")
    _check_same(fitted.transform(X), other.transform(rest), f"{promise} of transform")
    if hasattr(fitted, "get_feature_names_out"):
        names = fitted.get_feature_names_out([f"c{j}" for j in range(X.shape[1])]).tolist()
        assert "c3" not in names, f"{promise} of get_feature_names_out"


def _check_units(completer: Any, X: Float64Array, y: AnyArray, rng: np.random.Generator) -> None:
    factor, shift = 10.0 ** rng.integers(-2, 3, size=X.shape[1]), rng.normal(size=X.shape[1])
    here = clone(completer).fit(X, y).completed_
    there = clone(completer).fit(X * factor + shift, y).completed_
    np.testing.assert_allclose(
        (there - shift) / factor,
        here,
        rtol=1e-4,
        atol=1e-4 * np.abs(here).max(),
        err_msg="completing in other units must give the same in those units",
    )
