"""Tables in arrays of several libraries, and back."""

import pytest
from sklearn.base import clone

from cellworth import GaussianCompleter
from cellworth.blocks import open_blocks
from tests.blocks.tables import SAME, difference, make_table

pytestmark = pytest.mark.usefixtures("files")


NORMAL = GaussianCompleter(margins="normal", label_trust=0.5)


@pytest.fixture(scope="module")
def table():
    X, y = make_table(330, 4, 0, labelled=0.8)
    return X, y, GaussianCompleter(margins="normal", label_trust=0.5).fit(X, y)


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
