"""Results of a search as arrays, frames and a plot."""

import numpy as np
import pytest

from cellworth import CompletingClassifier, GaussianCompleter
from cellworth.errors import ParameterError
from tests.model.holed_tables import holed


@pytest.fixture(scope="module")
def model():
    X, y, _ = holed(n=80)
    light = GaussianCompleter(label_trust=0.0, margins="normal", calibrate=False)
    stop = lambda progress: progress.done == 2  # noqa: E731
    return CompletingClassifier(completer=light, folds=2, callback=stop).fit(X, y)


def test_arrays_have_an_entry_per_candidate(model):
    results = model.cv_results_
    assert {len(values) for values in results.values()} == {10}
    scored = ~np.isnan(results["at_hand"])
    assert scored.sum() == 3  # two, and their average
    for kind in ("at_hand", "complete_rows"):
        assert (results[f"{kind}_low"] <= results[kind])[scored].all()
        assert (results[f"{kind}_high"] >= results[kind])[scored].all()


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_a_frame_has_the_best_first(model, library):
    frame = model.results_frame(library)
    first = frame["name"][0]
    assert (first if isinstance(first, str) else first.as_py()) == model.best_candidate_
    with pytest.raises(ParameterError, match="frame must be one of"):
        model.results_frame("excel")


def test_the_plot_shows_every_scored_candidate(model):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    ax = model.plot()
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert len(names) == 3
    assert names[-1] == model.best_candidate_
    ax.figure.canvas.draw()
    assert not ax.get_legend().get_window_extent().overlaps(ax.get_window_extent())  # no interval is hidden
    assert model.plot(ax) is ax
    matplotlib.pyplot.close("all")
