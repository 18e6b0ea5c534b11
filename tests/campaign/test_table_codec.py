"""A packed table is the table, exactly; values in the log are the values, exactly."""

import zlib

import numpy as np
import pytest
from hypothesis import given, settings

from cellworth import Table
from cellworth.campaign.event_codec import value_from_json, value_to_json
from cellworth.campaign.table_codec import pack, unpack
from cellworth.errors import DataError
from tests.table.tables import tables


@settings(max_examples=60)
@given(table=tables())
def test_a_packed_table_comes_back(table):
    again = unpack(pack(table))
    assert again.equals(table)
    assert np.array_equal(again.values.view(np.int64), table.values.view(np.int64))  # -0.0 and all
    assert again.columns == table.columns
    if table.target is not None:
        assert [type(label) for label in again.target.classes or ()] == [
            type(label) for label in table.target.classes or ()
        ]
    assert pack(again) == pack(table)


def test_a_table_without_descriptions_is_packed_as_ever():
    said = {"columns": ["a", "b"], "units": {"a": "kg"}}
    plain = Table.from_arrays([[1.5, 2.0], [3.5, 4.0]], **said)
    described = Table.from_arrays([[1.5, 2.0], [3.5, 4.0]], descriptions={"b": " Of the morning "}, **said)
    assert unpack(pack(described)).columns[1].description == "Of the morning"
    # Without them the bytes are those of older stores, which know of none.
    assert b"description" not in zlib.decompress(pack(plain))
    assert b"description" in zlib.decompress(pack(described))


@settings(max_examples=60)
@given(table=tables())
def test_a_value_in_the_log_comes_back(table):
    for place, column in enumerate(table.columns):
        for value in table.values[~table.holes[:, place], place]:
            plain = value_to_json(column, float(value))
            assert isinstance(plain, (str, float, int))
            assert value_from_json(column, plain) == value


def test_other_bytes_are_refused():
    with pytest.raises(DataError, match="packed table"):
        unpack(b"PK something else")
    with pytest.raises(DataError, match="packed table"):
        unpack(zlib.compress(b"not an archive"))
