"""Completed tables are written to new places only, and whole."""

import pytest

from cellworth import GaussianCompleter, SupervisedCompleter
from cellworth.blocks import open_blocks
from cellworth.errors import DataError, ParameterError
from tests.blocks.tables import make_table

pytestmark = pytest.mark.usefixtures("files")


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
