"""What is believed of a column that nobody has measured."""

import math

import numpy as np
import pytest

from cellworth.errors import DataError
from cellworth.table import Column, Table
from cellworth.table.unmeasured_column import UniformPrior, with_prior

COLUMNS = [
    Column("dose", "number", bounds=(-2.0, 10.0)),
    Column("visits", "integer", bounds=(0.0, 6.0)),
    Column("seen", "date", bounds=(18000.0, 18100.0), whole_days=True),
    Column("ill", "boolean"),
    Column("stage", "ordered", categories=("I", "II", "III")),
    Column("hue", "category", categories=("blue", "green", "red")),
    Column("side", "category", categories=("left", "right")),
]


@pytest.mark.parametrize("column", COLUMNS, ids=lambda column: column.kind)
def test_the_prior_is_uniform_over_what_a_cell_may_hold(column):
    prior, m = UniformPrior(column), 7 * 6 * 3 * 2
    values = prior.values((np.arange(m) + 0.5) / m)
    assert not column.invalid(values).any()
    assert not column.invalid(np.array([prior.guess, *prior.interval(0.9)])).any()
    encoded = Table([column], values[:, None], [str(row) for row in range(m)]).encode().X
    total = encoded.var(axis=0).sum()
    # Rounding m evenly spread values to the nearest allowed one changes the variance by at most a step's.
    assert total == pytest.approx(prior.variance, rel=0.15)
    if column.kind != "category":
        assert values.mean() == pytest.approx(prior.guess, abs=0.51)
        low, high = prior.interval(0.8)
        assert np.mean((values >= low) & (values <= high)) >= 0.7


def test_made_up_values_depend_on_nothing_else():
    rng = np.random.default_rng(0)
    other = rng.normal(size=400)
    values = np.column_stack([other, np.full(400, np.nan)])
    cells = with_prior((Column("x", "number"), COLUMNS[0]), values)
    rows = ~np.isnan(cells[:, 1])
    assert rows.sum() == 100
    # A correlation of 100 independent pairs has a standard deviation of 0.1.
    assert abs(np.corrcoef(cells[rows, 0], cells[rows, 1])[0, 1]) < 0.3
    assert cells[rows, 1].mean() == pytest.approx(4.0)
    assert cells[rows, 1].std() == pytest.approx(12 / math.sqrt(12), rel=0.01)
    np.testing.assert_array_equal(cells, with_prior((Column("x", "number"), COLUMNS[0]), values))
    np.testing.assert_array_equal(np.isnan(values[:, 1]), True)


def read(tmp_path, **keywords):
    path = tmp_path / "t.csv"
    path.write_text("age,dose,note\n61,,\n42,,\n,,\n")
    return Table.read(path, **keywords)


def test_a_column_without_values_is_taken_if_its_kind_is_said(tmp_path):
    table = read(tmp_path, kinds={"dose": "number"}, bounds={"dose": (0, 8)}, categories={"note": ["a", "b"]})
    assert [column.kind for column in table.columns] == ["integer", "number", "category"]
    assert table.holes[:, 1:].all()
    assert np.isnan(table.encode().X[:, 1:]).all()
    assert table.encode().unmeasured.tolist() == [False, True, True]
    table.write(tmp_path / "again.csv")
    assert Table.read(tmp_path / "again.csv", **table.keywords()).equals(table)
    table.write(tmp_path / "again.parquet")
    assert Table.read(tmp_path / "again.parquet").equals(table)


@pytest.mark.parametrize(
    ("kind", "bounds"),
    [
        ("number", (0, 8)),
        ("integer", (0, 8)),
        ("boolean", None),
        ("date", ("2020-01-01", "2021-01-01")),
    ],
)
def test_every_kind_may_be_unmeasured(tmp_path, kind, bounds):
    said = {} if bounds is None else {"bounds": {"dose": bounds}}
    table = read(tmp_path, kinds={"dose": kind}, categories={"note": ["a", "b"]}, **said)
    assert table.columns[1].kind == kind
    assert not np.isnan(table.encode(prior=True).X).all(axis=0).any()


@pytest.mark.parametrize(
    ("keywords", "words"),
    [
        ({}, r"only holes.*kinds=\{'dose': 'number'\} and bounds=\{'dose': \(lowest, highest\)\}"),
        ({"kinds": {"dose": "number"}}, "lowest and highest value"),
        ({"kinds": {"dose": "integer"}, "bounds": {"dose": (0, None)}}, "lowest and highest value"),
        ({"kinds": {"dose": "number"}, "target": "dose"}, "It is the target"),
        ({"kinds": {"dose": "category"}}, "categories"),
    ],
)
def test_what_is_missing_is_said(tmp_path, keywords, words):
    with pytest.raises(DataError, match=words):
        read(tmp_path, categories={"note": ["a", "b"]}, **keywords)
