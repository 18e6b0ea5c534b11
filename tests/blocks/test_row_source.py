"""Tables that cannot be opened or completed in row blocks, and the engines that do the work."""

import subprocess
import sys

import numpy as np
import pytest
from sklearn.base import clone

from cellworth import GaussianCompleter, SupervisedCompleter
from cellworth.blocks import DaskEngine, ThreadEngine, open_blocks
from cellworth.errors import DataError, ParameterError
from tests.blocks.tables import make_table, write_parquet

pytestmark = pytest.mark.usefixtures("files")


@pytest.fixture(scope="module")
def table():
    X, y = make_table(330, 4, 0, labelled=0.8)
    return X, y, GaussianCompleter(margins="normal", label_trust=0.5).fit(X, y)


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
