"""A table that is filled in blocks is filled as in memory: categories, dates, digits, intervals."""

import numpy as np
import pytest

from cellworth import GaussianCompleter, Table, fill
from cellworth.blocks import ThreadEngine
from cellworth.errors import DataError, ParameterError

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

N = 240
PLAIN = GaussianCompleter(margins="normal", shrinkage=3.0, label_trust=0.2)


def make_frame(rng, n=N):
    """Return columns of all kinds, of which 30 % are holes."""
    base = rng.normal(size=n)
    days = np.datetime64("2020-01-01") + (100 + 20 * base + rng.normal(size=n)).astype("timedelta64[D]")
    holes = rng.random((n, 6)) < 0.3
    columns = {
        "weight": (70 + 10 * base + rng.normal(size=n)).round(1),
        "visits": np.rint(5 + base + rng.normal(size=n)).astype(int),
        "hue": np.array(["blue", "green", "red"])[np.digitize(base + rng.normal(size=n), [-0.5, 0.5])],
        "smoker": np.where(base + rng.normal(size=n) > 0, "yes", "no"),
        "seen": days,
        "flag": base > 0.3,
    }
    found = {name: pa.array(v.tolist(), mask=holes[:, j]) for j, (name, v) in enumerate(columns.items())}
    found["dose"] = pa.nulls(n, pa.float64())
    found["ill"] = pa.array((base > 0).astype(int))
    found["id"] = pa.array([f"p{i}" for i in range(n)])
    return pa.table(found)


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    folder = tmp_path_factory.mktemp("both") / "big"
    folder.mkdir()
    frame = make_frame(np.random.default_rng(0))
    for k, rows in enumerate((range(150), range(150, N))):
        pq.write_table(frame.take(list(rows)), folder / f"{k}.parquet", row_group_size=64)
    pq.write_table(frame, folder.parent / "all.parquet")
    said = {"target": "ill", "row_id": "id", "kinds": {"dose": "number"}, "bounds": {"dose": (0, 12)}}
    whole = Table.read(folder.parent / "all.parquet", **said)
    return Table.open(folder, engine=ThreadEngine(1, 50), **said), whole


def test_the_written_table_is_that_of_a_fill_in_memory(both, tmp_path):
    big, whole = both
    expected = fill(whole, PLAIN, level=0.9)
    filled = fill(big, PLAIN, level=0.9)
    filled.write(tmp_path / "filled", variance=True)
    read = Table.open(tmp_path / "filled").every(1)
    assert read.row_ids == whole.row_ids
    assert np.array_equal(read.y, whole.y)
    wide = expected.with_interval_columns()
    for name in wide.column_names:
        column = read.columns[read.column_index(name)]
        values = read.values[:, read.column_index(name)]
        truth = wide.values[:, wide.column_index(name)]
        if column.kind in ("number", "date"):
            assert np.abs(values - truth).max() <= 1e-6 * max(1, np.abs(truth).max())
        else:
            assert np.array_equal(values, truth)
        assert column.kind == wide.columns[wide.column_index(name)].kind
    for j, name in enumerate(whole.column_names):
        variance = read.values[:, read.column_index(f"{name}_variance")]
        assert np.allclose(variance, expected.variance[:, j], rtol=1e-6, atol=1e-9)
    some = filled.rows([0, 70, 239])
    assert np.array_equal(some.values[:, :6], read.values[[0, 70, 239], :6])


def test_nothing_is_overwritten_and_names_must_be_free(both, tmp_path):
    big, _ = both
    filled = fill(big, PLAIN)
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "mine").write_text("")
    with pytest.raises(DataError, match="already exists"):
        filled.write(tmp_path / "taken")
    with pytest.raises(DataError, match="a Zarr array holds numbers only"):
        filled.write(tmp_path / "filled.zarr")
    with pytest.raises(ParameterError, match="level must be below 1"):
        fill(big, PLAIN, level=1.5)
    (tmp_path / "odd").mkdir()
    pq.write_table(
        pa.table({"a": [1.0, None, 2.0], "a_lower": [1.0, 2.0, 4.0]}), tmp_path / "odd" / "0.parquet"
    )
    with pytest.raises(DataError, match="already has a column 'a_lower'"):
        fill(Table.open(tmp_path / "odd"), PLAIN, level=0.9).write(tmp_path / "filled")


def test_single_precision_stays(tmp_path):
    (tmp_path / "big").mkdir()
    X = np.random.default_rng(0).normal(size=(60, 3)).astype(np.float32)
    X[::3, 1] = np.nan
    frame = pa.table({f"c{j}": pa.array(X[:, j], from_pandas=True) for j in range(3)})
    pq.write_table(frame, tmp_path / "big" / "0.parquet")
    fill(Table.open(tmp_path / "big"), PLAIN).write(tmp_path / "filled")
    schema = pq.read_schema(tmp_path / "filled" / "part-000000.parquet")
    assert set(schema.types) == {pa.float32()}
