"""Tables from files and arrays of all kinds, and back."""

import subprocess
import sys

import numpy as np
import pytest
from sklearn.base import clone

from cellworth import GaussianCompleter, SupervisedCompleter
from cellworth.blocks import DaskEngine, ThreadEngine, open_blocks
from cellworth.errors import DataError, ParameterError
from tests.blocks.tables import SAME, difference, make_table, write_parquet

pytestmark = pytest.mark.usefixtures("files")

NORMAL = GaussianCompleter(margins="normal", label_trust=0.5)


@pytest.fixture(scope="module")
def table():
    X, y = make_table(330, 4, 0, labelled=0.8)
    return X, y, GaussianCompleter(margins="normal", label_trust=0.5).fit(X, y)


def test_parquet_there_and_back(table, local, tmp_path):
    X, y, whole = table
    people = np.array([f"p{i}" for i in range(len(X))])
    names = write_parquet(tmp_path / "big", X, y, person=people)
    local.block_rows = 70
    source = open_blocks(tmp_path / "big", target="outcome", row_id="person", engine=local)
    assert (source.n_rows, source.columns) == (330, tuple(names))
    clone(NORMAL).fit(source).completed_.write(tmp_path / "filled", variance=True)
    again = open_blocks(tmp_path / "filled", target="outcome", row_id="person", columns=names)
    part = again.table.blocks(1000)[0].read()
    assert difference(part.X, whole.completed_) < SAME
    assert np.array_equal(part.y, y, equal_nan=True)
    assert part.row_ids.tolist() == people.tolist()
    spread = open_blocks(tmp_path / "filled", columns=[f"{name}_variance" for name in names])
    assert difference(spread.table.blocks(1000)[0].read().X, whole.variance_) < SAME


@pytest.mark.parametrize("most_rows", [1, 7, 40, 41, 95, 1000])
def test_blocks_of_parquet_cover_every_row_once(table, tmp_path, most_rows):
    X, y, _ = table
    write_parquet(tmp_path / "big", X, y, files=4, row_group=37)
    blocks = open_blocks(tmp_path / "big", target="outcome").table.blocks(most_rows)
    assert [b.start for b in blocks] == [0, *(b.stop for b in blocks[:-1])]
    assert all(0 < b.stop - b.start <= most_rows for b in blocks)
    parts = [b.read() for b in blocks]
    assert np.array_equal(np.concatenate([p.X for p in parts]), X, equal_nan=True)
    assert np.array_equal(np.concatenate([p.y for p in parts]), y, equal_nan=True)


def test_zarr_and_dask_arrays_there_and_back(table, dask, tmp_path):
    import dask.array as da
    import dask.dataframe as dd
    import pandas as pd
    import zarr

    X, y, whole = table
    zarr.create_array(tmp_path / "X.zarr", data=X, chunks=(50, 4))
    zarr.create_array(tmp_path / "y.zarr", data=y, chunks=(330,))
    dask.block_rows = 120
    frame = pd.DataFrame(X, columns=list("abcd")).assign(outcome=y)
    sources = [
        open_blocks(tmp_path / "X.zarr", target=tmp_path / "y.zarr", engine=dask),
        open_blocks(da.from_array(X, chunks=(77, 3)), target=da.from_array(y, chunks=91), engine=dask),
        open_blocks(dd.from_pandas(frame, npartitions=3), target="outcome", engine=dask),
    ]
    for number, source in enumerate(sources):
        clone(NORMAL).fit(source).completed_.write(tmp_path / f"filled{number}.zarr", variance=True)
        assert difference(zarr.open_array(tmp_path / f"filled{number}.zarr")[:], whole.completed_) < SAME
        variance = zarr.open_array(tmp_path / f"filled{number}.variance.zarr")[:]
        assert difference(variance, whole.variance_) < SAME
    assert [b.start for b in sources[0].table.blocks(120)] == [0, 100, 200, 300]  # whole chunks


def test_columns_of_other_types_become_numbers(local, tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    X, _ = make_table(60, 2, 0)
    counts = pa.array([None if i % 5 == 0 else i for i in range(60)], pa.int16())
    smokes = pa.array([None if i % 7 == 0 else i % 2 == 0 for i in range(60)])
    single = pa.array(X[:, 0].astype(np.float32), from_pandas=True)
    pq.write_table(pa.table({"n": counts, "smokes": smokes, "x": single}), tmp_path / "a.parquet")
    part = open_blocks(tmp_path / "a.parquet").table.blocks(100)[0].read()
    assert part.X.dtype == np.float64
    assert np.isnan(part.X[::5, 0]).all()
    assert part.X[1:5, 0].tolist() == [1, 2, 3, 4]
    assert part.X[1:4, 1].tolist() == [0, 1, 0]
    pq.write_table(pa.table({"x": single, "z": single}), tmp_path / "b.parquet")
    single = GaussianCompleter().fit(open_blocks(tmp_path / "b.parquet", engine=local)).completed_
    assert single.gather()[0].dtype == np.float32


def test_errors_name_file_and_column(table, tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    X, y, _ = table
    write_parquet(tmp_path / "big", X, y)
    with pytest.raises(DataError, match=r"part0\.parquet: there is no target 'died'; got the columns c0, c1"):
        open_blocks(tmp_path / "big", target="died")
    with pytest.raises(DataError, match=r"nowhere: no such file or folder"):
        open_blocks(tmp_path / "nowhere")
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match=r"empty: no Parquet file in this folder"):
        open_blocks(tmp_path / "empty")
    pq.write_table(
        pa.table({"c0": [1.0], "c1": [1.0], "c2": [1], "c3": [1.0], "outcome": [1.0]}),
        tmp_path / "big/q.parquet",
    )
    with pytest.raises(DataError, match=r"q\.parquet: the column 'c2' holds int64 here, but double"):
        open_blocks(tmp_path / "big", target="outcome")
    pq.write_table(pa.table({"c0": [1.0]}), tmp_path / "big/q.parquet")
    with pytest.raises(DataError, match=r"q\.parquet: the column 'c1' is missing here"):
        open_blocks(tmp_path / "big", target="outcome")
    (tmp_path / "big/q.parquet").write_text("no Parquet")
    with pytest.raises(DataError, match=r"q\.parquet: cannot be read as Parquet"):
        open_blocks(tmp_path / "big", target="outcome")
    pq.write_table(pa.table({"city": ["Bern"], "age": [3.0]}), tmp_path / "text.parquet")
    with pytest.raises(DataError, match=r"text\.parquet: the column 'city' holds string; expected numbers"):
        open_blocks(tmp_path / "text.parquet")
    with pytest.raises(DataError, match="not a readable Zarr array"):
        open_blocks(tmp_path / "no.zarr")
    with pytest.raises(ParameterError, match="must be an array"):
        open_blocks(X, target="outcome")


def test_a_sink_that_is_taken_or_cannot_be_written_is_refused(local, tmp_path):
    X, _ = make_table(50, 3, 0)
    done = GaussianCompleter().fit(open_blocks(X, engine=local)).completed_
    (tmp_path / "filled").mkdir()
    (tmp_path / "filled" / "mine.txt").write_text("mine")
    with pytest.raises(DataError, match="filled: already exists"):
        done.write(tmp_path / "filled")
    with pytest.raises(DataError, match="cannot write to"):
        done.write(tmp_path / "nowhere" / "filled")
    plain = SupervisedCompleter().fit(open_blocks(X, engine=local)).completed_
    with pytest.raises(ParameterError, match="has no variances"):
        plain.write(tmp_path / "other", variance=True)
    done.write(tmp_path / "whole")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["filled", "whole"]


def test_what_an_engine_does_not_run_is_refused(local):
    X, _ = make_table(50, 3, 0)
    from cellworth import SoftImputeCompleter

    with pytest.raises(ParameterError, match="SoftImputeCompleter does not run on row blocks"):
        SoftImputeCompleter().fit(open_blocks(X, engine=local))
    with pytest.raises(DataError, match="at least as many rows as columns"):
        SupervisedCompleter().fit(open_blocks(X[:2], engine=local))
    with pytest.raises(ParameterError, match="dtype"):
        GaussianCompleter(dtype=np.float32).fit(open_blocks(X, engine=local))


def test_a_scheduler_that_does_not_answer_is_named(monkeypatch):
    monkeypatch.setattr("cellworth.blocks.dask_engine.CONNECT_SECONDS", 0.5)
    with pytest.raises(DataError, match=r"no Dask scheduler answers at 'tcp://127\.0\.0\.1:9'"):
        DaskEngine(scheduler="tcp://127.0.0.1:9")
    with pytest.raises(ParameterError, match="memory must be bytes"):
        DaskEngine(memory="plenty")
    with pytest.raises(ParameterError, match="at least 500 MB for each of 2 workers"):
        DaskEngine(n_jobs=2, memory="900MB")


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_scheduler_that_is_there_is_used(cluster):
    X, y = make_table(300, 3, 1)
    completer = SupervisedCompleter(max_iter=5, tol=0)
    with DaskEngine(scheduler=cluster.client.scheduler.address, block_rows=90) as engine:
        seen = []
        engine.watch = lambda done, total: seen.append((done, total))
        found = clone(completer).fit(open_blocks(X, target=y, engine=engine)).completed_.gather()[0]
    assert (4, 4) in seen
    with ThreadEngine(block_rows=90) as local:
        assert (
            clone(completer).fit(open_blocks(X, target=y, engine=local)).completed_.gather()[0] == found
        ).all()


def test_dask_is_not_imported_before_it_is_needed():
    code = (
        "import cellworth, cellworth.blocks, sys; print({'dask', 'distributed', 'zarr'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
