"""Keywords that make no sense are refused."""

import pytest

from cellworth.errors import ParameterError
from cellworth.table import Table

GOOD = "id,age,sex,visit,y\na,61,f,2020-01-02,1\nb,,m,2020-05-01,0\nc,44,,,1\n"


@pytest.mark.parametrize(
    ("keywords", "words"),
    [
        ({"kinds": {"age": "numeric"}}, ["'age'", "'number', 'integer'", "'numeric'"]),
        ({"kinds": "number"}, ["kinds", "{'age': ...}"]),
        ({"bounds": {"age": 3}}, ["'age'", "(lowest, highest)", "3"]),
        ({"bounds": {"age": (5, 1)}}, ["'age'", "(5.0, 1.0)"]),
        ({"bounds": {"age": ("young", None)}}, ["'age'", "a number", "'young'"]),
        ({"bounds": {"visit": (3, None)}}, ["'visit'", "a date", "3"]),
        ({"bounds": {"sex": (0, 1)}}, ["'sex'", "'category'"]),
        ({"categories": {"sex": "fm"}}, ["'sex'", "list"]),
        ({"categories": {"sex": []}}, ["'sex'", "at least one"]),
        ({"categories": {"sex": ["f", "m", "m"]}}, ["'sex'", "'m'", "once"]),
        ({"categories": {"sex": ["f", "m", ""]}}, ["'sex'", "hole"]),
        ({"kinds": {"age": "number"}, "categories": {"age": [1]}}, ["'age'", "'ordered' and 'category'"]),
        ({"units": {"age": 3}}, ["'age'", "text"]),
        ({"descriptions": {"age": 3}}, ["descriptions", "'age'", "text"]),
        ({"descriptions": {"age": "a\0b"}}, ["descriptions", "'age'", "text"]),
        ({"encoding": "klingon"}, ["'klingon'"]),
        ({"delimiter": "::"}, ["'::'"]),
    ],
)
def test_keywords_that_make_no_sense(tmp_path, keywords, words):
    path = tmp_path / "patients.csv"
    path.write_text(GOOD)
    with pytest.raises(ParameterError) as caught:
        Table.read(path, **keywords)
    for word in words:
        assert word in str(caught.value)
