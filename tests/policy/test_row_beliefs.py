"""Draws of new rows through a model."""

import numpy as np
import pytest

from cellworth.complete import GaussianCompleter, SoftImputeCompleter
from cellworth.errors import ParameterError
from cellworth.model import fit_candidate
from cellworth.policy.row_beliefs import BASES_AT_ONCE, RowBeliefs, outputs_of
from cellworth.table import Table


@pytest.fixture(scope="module")
def beliefs(three):
    table, model = three
    outputs, completer = outputs_of(model)
    return RowBeliefs(table.layout, completer, outputs, table.encode().X, draws=2000, seed=0)


def test_draws_have_values_of_their_columns_in_their_proportions(beliefs, three):
    table, _ = three
    drawn = beliefs.drawn(np.full((1, table.layout.width), np.nan))[:, 0]
    X = table.encode().X
    assert set(np.unique(drawn[:, 1])) <= {0.0, 1.0}
    assert (drawn[:, 2:].sum(axis=1) == 1).all()
    # Shares of 2,000 draws have a standard error of at most 0.011, those of about 210 known cells are given.
    assert drawn[:, 1:].mean(axis=0) == pytest.approx(np.nanmean(X[:, 1:], axis=0), abs=0.045)


def test_known_cells_stay_and_a_row_does_not_depend_on_the_others(beliefs, three):
    X = np.array(three[0].encode().X[:4])
    drawn = beliefs.drawn(X)
    known = ~np.isnan(X)
    assert (drawn[:, known] == X[known]).all()
    assert np.array_equal(beliefs.drawn(X[2:3])[:, 0], drawn[:, 2])


def test_models_of_every_kind(three, number):
    table, model = three
    assert outputs_of(model)[0](np.zeros((2, table.layout.width))).shape == (2, 3)
    assert outputs_of(number[1])[0](np.zeros((2, table.layout.width))).shape == (2, 1)
    X, y = table.encode().X, table.y
    fitted = fit_candidate("logistic regression", model.completer_, X, y, is_number=False)
    assert outputs_of(fitted)[0](np.zeros((2, X.shape[1]))).sum(axis=1) == pytest.approx([1, 1])


def test_a_completer_that_cannot_draw_is_refused():
    table = Table.from_arrays([[1.0, 2.0], [2.0, 1.0]], [0, 1])
    with pytest.raises(ParameterError, match="no method sample"):
        RowBeliefs(table.layout, SoftImputeCompleter(), len, table.encode().X, draws=32, seed=0)


def test_a_wide_category_does_not_take_memory_for_all_cells_of_many_rows(tmp_path):
    """Forty categories beside thirty numbers; each Information is within the bound, whatever the rows."""
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=(120, 30))
    file = tmp_path / "wide.csv"
    lines = [",".join([*(f"n{k}" for k in range(30)), "place", "y"])]
    lines += [",".join([*map(str, row), f"c{k % 40:02d}", str(row[0])]) for k, row in enumerate(numbers)]
    file.write_text("\n".join(lines))
    table = Table.read(file, target="y")
    X, y = table.encode().X, table.y
    model = fit_candidate("ridge regression", GaussianCompleter(label_trust=0.0).fit(X), X, y, is_number=True)
    outputs, completer = outputs_of(model)
    beliefs = RowBeliefs(table.layout, completer, outputs, X, draws=256, seed=0)
    rows = np.where(rng.random((70, 1)) < 0.5, np.nan, X[:70])
    found = list(beliefs.of(rows))
    assert all(each.bases.size <= BASES_AT_ONCE for each in found)
    assert BASES_AT_ONCE < 70 * 256 * 31 * 40
    alone = next(iter(beliefs.of(rows[-1:])))
    assert np.array_equal(found[-1].outputs[-1], alone.outputs[0])
    assert found[-1].told()[0][-1] == pytest.approx(alone.told()[0][0])
