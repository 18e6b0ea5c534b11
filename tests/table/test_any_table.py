import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from cellworth import Campaign, Prices, Table, advise, fill, forecast, simulate
from cellworth.campaign.stores import MemoryStore
from cellworth.errors import DataError, ParameterError
from cellworth.table import as_table
from cellworth.table.frames import GivenFrame, library_of


def patients(n=40, seed=0):
    rng = np.random.default_rng(seed)
    size = rng.normal(10, 3, size=n)
    data = {
        "ill": np.where(size > 10, "yes", "no").tolist(),
        "weight": np.round(size * 8, 1).tolist(),
        "grade": np.where(size > 9, "high", "low").tolist(),
        "smokes": np.where(rng.random(n) < 0.5, "Yes", "No").tolist(),
        "seen": [datetime.date(2024, 1, 1) + datetime.timedelta(days=int(k)) for k in size * 3],
    }
    for name in ("weight", "grade", "smokes", "seen"):
        for row in np.flatnonzero(rng.random(n) < 0.3):
            data[name][row] = None
    return data


DATA = patients()
FRAMES = {
    "pandas": pd.DataFrame(DATA, index=range(100, 140)),
    "polars": pl.DataFrame(DATA),
    "pyarrow": pa.table(DATA),
}


def columns_of(frame):
    if isinstance(frame, pd.DataFrame):
        return {name: [None if pd.isna(v) else v for v in frame[name]] for name in frame.columns}
    return frame.to_dict(as_series=False) if isinstance(frame, pl.DataFrame) else frame.to_pydict()


@pytest.mark.parametrize("library", FRAMES)
def test_a_filled_frame_is_the_users_frame_with_guesses_in_its_holes(library):
    frame = FRAMES[library]
    filled = fill(frame, target="ill")
    got, mask = filled.to_frame(), filled.mask()
    assert type(got) is type(frame)
    assert library_of(got) == library_of(mask) == library
    before, after, guessed = columns_of(frame), columns_of(got), columns_of(mask)
    assert list(after) == list(DATA)  # the target stays in its place
    assert list(guessed) == ["weight", "grade", "smokes", "seen"]
    for name, values in after.items():
        for row, (old, new) in enumerate(zip(before[name], values, strict=True)):
            assert new is not None
            assert old is None or new == old
            assert name == "ill" or guessed[name][row] == (old is None)
    assert set(after["smokes"]) == {"Yes", "No"}  # in the user's own words
    assert all(round(value, 1) == value for value in after["weight"])  # decimals as in the column
    assert {type(value) for value in after["seen"]} == {type(next(filter(None, before["seen"])))}
    if library == "pandas":
        assert got.index.equals(frame.index)
        assert mask.index.equals(frame.index)
        assert got.dtypes.equals(frame.dtypes)


def test_intervals_come_by_column_and_in_the_frame():
    filled = fill(FRAMES["pandas"], target="ill", level=0.9)
    lower, upper = filled.interval("weight")
    weight = filled.to_frame()["weight"].to_numpy()
    assert ((lower <= weight) & (weight <= upper)).all()
    assert (lower == upper).sum() == (~filled.guessed[:, 0]).sum()
    wide = filled.to_frame(intervals=True)
    assert list(wide.columns)[-4:] == ["weight_lower", "weight_upper", "seen_lower", "seen_upper"]
    np.testing.assert_array_equal(wide["weight_upper"], upper)
    assert wide.index.equals(FRAMES["pandas"].index)
    with pytest.raises(ValueError, match="category values, which have no interval"):
        filled.interval("grade")
    with pytest.raises(ValueError, match="pass a level"):
        fill(FRAMES["polars"]).interval("weight")


def test_types_of_every_kind_survive():
    frame = pd.DataFrame(
        {
            "x": np.arange(12.0, dtype="float32"),
            "code": pd.Categorical([1, 2, 3, None] * 3),
            "n": pd.array([1, 2, None, 4] * 3, dtype="Int64"),
            "flag": pd.array([True, None, False, True] * 3, dtype="boolean"),
            "when": pd.to_datetime(["2024-01-01 10:30", None, "2024-01-03 10:30", "2024-01-09 00:00"] * 3),
            "zone": pd.to_datetime(["2024-01-01 10:30", None] * 6).tz_localize("Europe/Berlin"),
            "text": ["1.5", None, "2.5", "3.5"] * 3,
            "mixed": pd.Series([1, "a", None, "b"] * 3, dtype=object),
        }
    )
    frame.loc[3, "x"] = None
    filled = fill(frame).to_frame()
    assert filled.dtypes.equals(frame.dtypes)
    assert not filled.isna().any().any()
    for name in frame.columns:
        known = frame[name].notna()
        assert filled.loc[known, name].tolist() == frame.loc[known, name].tolist()
    assert set(filled["text"].map(type)) == {str}


@pytest.mark.parametrize("library", FRAMES)
def test_advice_on_a_frame_is_a_frame_with_the_users_row_labels(library):
    batch = advise(
        FRAMES[library], target="ill", prices={"weight": 2, "grade": 1, "smokes": 1, "seen": 1}, count=5
    )
    frame = batch.to_frame()
    assert library_of(frame) == library
    listed = columns_of(frame)
    assert list(listed) == ["row", "column", "group", "price", "worth", "why"]
    assert all(listed["why"])
    if library == "pandas":
        for row, column in zip(listed["row"], listed["column"], strict=True):
            assert pd.isna(FRAMES["pandas"].loc[row, column])


def test_simulations_and_campaigns_take_frames_and_plain_prices():
    complete = pl.DataFrame({name: DATA[name] for name in ("ill", "weight")}).with_columns(x=pl.int_range(40))
    curves = simulate(complete, "random", target="ill", prices=2.5, count_per_round=3, rounds=1)
    assert isinstance(curves, pl.DataFrame)
    assert curves["money"].to_list() == [0.0, 7.5]
    campaign = Campaign.create(
        FRAMES["pandas"], target="ill", prices=2.5, strategy="random", budget=10, store=MemoryStore()
    )
    assert campaign.prices == Prices.same(2.5)
    assert campaign.table.row_ids[0] == "100"
    assert campaign.table.target.classes == ("no", "yes")


def test_a_table_stays_itself_and_files_and_arrays_are_read(tmp_path):
    table = Table.from_frame(FRAMES["pandas"], target="ill")
    assert as_table(table) is table
    assert as_table(table, target="ill") is table
    with pytest.raises(ParameterError, match=r"this Table has the target 'ill'\. Name the target when"):
        as_table(table, target="grade")
    path = tmp_path / "patients.csv"
    table.write(path)
    assert as_table(str(path), target="ill").equals(Table.read(path, target="ill"))
    assert as_table(np.ones((2, 3))).shape == (2, 3)
    with pytest.raises(ParameterError, match=r"Use Table\.from_arrays\(X, y\)"):
        as_table(np.ones((2, 3)), target="y")
    for other in ([[1]], 5, {"a": [1]}, None):
        with pytest.raises(ParameterError, match="expected a Table, a pandas or polars DataFrame"):
            as_table(other)


@pytest.mark.parametrize(
    ("given", "way"),
    [
        (FRAMES["pandas"], "Table.from_frame"),
        (FRAMES["polars"], "Table.from_frame"),
        ("clinic.csv", "Table.read"),
        (np.ones((2, 2)), "Table.from_arrays"),
    ],
)
def test_the_constructor_points_to_the_right_one(given, way):
    with pytest.raises(ParameterError, match=f"Use {way}"):
        Table(given)


def test_rows_named_by_a_column_keep_its_names():
    frame = pd.DataFrame({"id": ["a", "b"], "x": [1.0, None]})
    table = Table.from_frame(frame, row_id="id")
    assert GivenFrame.of(frame).row_labels(table) == {}
    assert GivenFrame.of(table) is None


@pytest.mark.usefixtures("linear_model_in_use")
def test_forecasts_take_frames_and_plain_prices():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(80, 3)), columns=["a", "b", "c"])
    frame["ill"] = frame.sum(axis=1) > 0
    frame["a"] = frame["a"].mask(rng.random(80) < 0.5)
    found = forecast(frame, target="ill", prices={"a": 2, "b": 1, "c": 1}, model="logistic regression")
    table = Table.from_frame(frame, target="ill")
    assert found.cost == 2 * table.holes.sum()
    assert found.now == forecast(table, model="logistic regression").now
    with pytest.raises(DataError, match="no target"):
        forecast(frame)


def test_a_filled_table_shows_itself_in_a_few_lines():
    frame = pd.DataFrame({"a": [1.0, None, 3.0, 4.0], "b": [2.0, 1.0, None, 3.0]})
    shown = repr(fill(frame, level=0.9))
    assert shown.startswith("Filled Table of 4 rows and 2 columns")
    assert shown.splitlines()[-1] == "  guessed: 2 cells, by GaussianCompleter, with 90 % intervals"


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_decimals_are_filled_with_decimals(library):
    prices = [Decimal("1.50"), None, Decimal("2.25"), Decimal("3.00")]
    frame = {
        "pandas": lambda: pd.DataFrame({"price": pd.Series(prices, dtype=object), "n": [1, 2, 3, 4]}),
        "polars": lambda: pl.DataFrame(
            {"price": pl.Series(prices, dtype=pl.Decimal(10, 2)), "n": [1, 2, 3, 4]}
        ),
        "pyarrow": lambda: pa.table({"price": pa.array(prices, pa.decimal128(10, 2)), "n": [1, 2, 3, 4]}),
    }[library]()
    column = fill(frame).to_frame()["price"]
    filled = column.to_pylist() if library == "pyarrow" else column.to_list()
    assert all(isinstance(price, Decimal) and price.as_tuple().exponent == -2 for price in filled)
    assert [filled[row] for row in (0, 2, 3)] == [prices[row] for row in (0, 2, 3)]


def test_a_lazy_frame_is_to_be_collected():
    with pytest.raises(ParameterError, match=r"got LazyFrame\. Call its collect\(\) first"):
        fill(pl.LazyFrame({"a": [1.0, None]}))


def test_advised_keywords_are_said_to_be_those_of_a_table(tmp_path):
    """`advise(frame)` has no row_id=, and a message that advises it must say where it goes."""
    frame = pd.DataFrame(patients(200)).assign(patient=[f"P{k}" for k in range(200)])
    with pytest.raises(
        DataError, match=r"Use row_id='patient' .* instead: Table.from_frame\(frame, \.\.\.\)"
    ):
        advise(frame, target="ill", count=3)
    frame.to_csv(tmp_path / "patients.csv", index=False)
    with pytest.raises(DataError, match=r"row_id='patient' .* instead: Table.read\(path, \.\.\.\)"):
        fill(tmp_path / "patients.csv")
    with pytest.raises(DataError, match=r"The columns are [^=]*$"):
        advise(frame, target="il", count=3)


def test_a_price_for_the_rest_is_given_as_it_is_typed():
    with pytest.raises(DataError, match=r"or give Prices.per_column\(\{\.\.\.\}, default=1.0\) for the rest"):
        advise(FRAMES["pandas"], target="ill", prices={"weight": 2.0}, count=3)
