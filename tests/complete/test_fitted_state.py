"""What was fitted goes through arrays and JSON, and the next warm fit is the same to the bit."""

import io
import json

import numpy as np
import pytest
from sklearn.base import clone

from cellworth import GaussianCompleter, SupervisedCompleter
from tests.blocks.tables import make_table

COMPLETERS = [
    SupervisedCompleter(),
    SupervisedCompleter(loss="logistic", scale="standard"),
    GaussianCompleter(),
    GaussianCompleter(margins="rank", label_trust=0.3),
    GaussianCompleter(factors=2, margins="normal", label_trust=0, calibrate=False),
]


def through_files(state):
    """Return a state after its arrays went through an .npz file and all else through JSON."""
    arrays = {}

    def plain(value):
        if isinstance(value, np.ndarray):
            assert value.dtype != object
            arrays[f"a{len(arrays)}"] = value
            return {"array": f"a{len(arrays) - 1}"}
        if isinstance(value, dict):
            return {"dict": {k: plain(v) for k, v in value.items()}}
        if isinstance(value, list | tuple):
            return {"list": [plain(v) for v in value]}
        return {"value": value.item() if isinstance(value, np.generic) else value}

    text = json.dumps(plain(state))
    file = io.BytesIO()
    np.savez(file, **arrays)
    file.seek(0)
    loaded = np.load(file, allow_pickle=False)

    def back(value):
        ((kind, content),) = value.items()
        if kind == "array":
            return loaded[content]
        if kind == "dict":
            return {k: back(v) for k, v in content.items()}
        return [back(v) for v in content] if kind == "list" else content

    return back(json.loads(text))


@pytest.mark.parametrize("completer", COMPLETERS, ids=str)
@pytest.mark.parametrize("kind", ["text", "number", "none"])
def test_a_restored_completer_goes_on_to_the_bit(completer, kind):
    X, y = make_table(150, 5, 0, labelled=0.8)
    X[:, 1] = np.exp(X[:, 1])
    if kind == "number" and getattr(completer, "loss", "squared") == "logistic":
        pytest.skip("a number needs the squared loss")
    labels = {
        "text": np.where(np.isnan(y), None, np.where(y > 0, "yes", "no")),
        "number": np.where(np.isnan(y), np.nan, X[:, 0].round(2) + 0.5),
        "none": None,
    }[kind]
    labels = None if labels is None else np.where(np.isnan(y), None if kind == "text" else np.nan, labels)
    first = clone(completer).set_params(warm_start=True).fit(X, labels)
    restored = clone(first)
    restored.restore_fitted(through_files(first.fitted_state()))
    assert_equal(restored, first)
    X[np.isnan(X) & (np.random.default_rng(1).random(X.shape) < 0.1)] = 0.5
    assert_equal(restored.fit(X, labels), first.fit(X, labels))


def assert_equal(one, other):
    assert (one.completed_ == other.completed_).all()
    assert (one.objective_ == other.objective_).all()
    assert one.n_iter_ == other.n_iter_
    assert (one.transform(one.completed_[:5]) == one.completed_[:5]).all()
    if isinstance(one, SupervisedCompleter):
        assert (one.coef_ == other.coef_).all()
        assert np.array_equal(one.classes_, other.classes_)
        return
    assert (one.variance_ == other.variance_).all()
    assert (one.covariance_ == other.covariance_).all()
    for mine, theirs in zip(one.predict_interval(0.8), other.predict_interval(0.8), strict=True):
        assert (mine == theirs).all()
    assert (one.sample(2, random_state=0) == other.sample(2, random_state=0)).all()
