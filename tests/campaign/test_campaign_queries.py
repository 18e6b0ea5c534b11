"""What can be seen of a campaign: the filled table, and a model of it."""

import numpy as np
import pytest

from cellworth import Table
from cellworth.errors import DataError
from tests.campaign.campaigns import begin, make_table


def test_the_filled_table_and_its_intervals():
    campaign = begin()
    filled = campaign.fill(level=0.8)
    table = campaign.table
    assert not filled.table.holes.any()
    assert np.array_equal(filled.table.values[~table.holes], table.values[~table.holes])
    known = ~table.holes
    assert np.array_equal(filled.lower[known], table.values[known])
    for j, column in enumerate(table.columns):
        holes = table.holes[:, j]
        if column.kind in ("boolean", "category"):
            assert np.isnan(filled.lower[holes, j]).all()
        else:
            assert (filled.lower[holes, j] <= filled.table.values[holes, j]).all()
            assert (filled.upper[holes, j] >= filled.table.values[holes, j]).all()
            assert not column.invalid(filled.lower[:, j]).any()
    assert begin(strategy="afasmc").fill().lower is None


def test_the_model_predicts_rows_with_holes():
    campaign = begin(make_table(n=120))
    fresh = make_table(n=100, seed=9, start=500)
    predicted = campaign.model(model="logistic regression").predict(fresh.encode().X)
    truth = np.array(fresh.target.classes)[fresh.y.astype(int)]
    # Two classes of like size, told by 0.5 sd of noise: a coin is right in 50 +- 5 % of 100 rows.
    assert np.mean(predicted == truth) > 0.65
    table = make_table(n=60)
    number = Table.from_arrays(table.values, np.nan_to_num(table.values[:, 0], nan=20.0) + 0.5)
    assert begin(number, prices=None).model(model="ridge regression").predict(number).dtype == float
    with pytest.raises(DataError, match="a model needs labels"):
        begin(Table.from_arrays(table.values), prices=None).model()


def test_a_campaign_shows_how_many_rows_and_columns_its_table_has():
    """Its target is no column of the table, though labels are kept like cells."""
    campaign = begin()
    rows, columns = campaign.table.shape
    assert f": {rows} rows, {columns} columns, 0 events" in repr(campaign)
