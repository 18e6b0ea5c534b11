import warnings

import numpy as np
import pytest

from cellworth.errors import DataError, ParameterError, ReadWarning
from cellworth.table import Table


def target_of(labels, **keywords):
    return Table.from_arrays(np.ones((len(labels), 1)), labels, **keywords).target


@pytest.mark.parametrize(
    ("labels", "kind", "classes"),
    [
        (["ill", "well", None, "ill"], "two classes", ("ill", "well")),
        (["b", "a", "c"], "several classes", ("a", "b", "c")),
        ([True, False], "two classes", (False, True)),
        ([3, 1, 2], "several classes", (1, 2, 3)),
        ([-1.0, 1.0, np.nan], "two classes", (-1.0, 1.0)),
        ([0.5, 2.5, 0.5], "two classes", (0.5, 2.5)),
        ([0.5, 2.5, 1], "number", None),
        (list(range(21)), "number", None),
        (list(range(20)), "several classes", tuple(range(20))),
        (["yes", "no"], "two classes", ("no", "yes")),
        (["TRUE", "FALSE"], "two classes", (False, True)),
    ],
)
def test_kinds_found(labels, kind, classes):
    target = target_of(labels)
    assert (target.kind, target.classes) == (kind, classes)
    if classes is not None and not isinstance(labels[0], str):
        wanted = [np.nan if x is None or x != x else classes.index(x) for x in labels]
        np.testing.assert_array_equal(target.values, wanted)


def test_kind_given():
    assert target_of([0, 1, 1], target_kind="number").values.tolist() == [0, 1, 1]
    assert target_of([0.5, 1.5, 2.5], target_kind="several classes").classes == (0.5, 1.5, 2.5)


def test_an_ordered_target_keeps_its_order_and_drops_labels_that_no_row_has():
    target = target_of(
        ["low", "high"], kinds={"target": "ordered"}, categories={"target": ["low", "mid", "high"]}
    )
    assert target.classes == ("low", "high")
    assert target.values.tolist() == [0, 1]
    assert target.cells.tolist() == [0, 2]


def test_values_are_read_only():
    with pytest.raises(ValueError, match="read-only"):
        target_of([0, 1]).values[0] = 1


@pytest.mark.parametrize(
    ("labels", "keywords", "words"),
    [
        ([1, 1, None], {}, ["'target'", "two different labels", "got only 1"]),
        ([None, None], {}, ["'target'", "only holes", "target="]),
        (["2020-01-01", "2020-01-02"], {}, ["dates", "kinds={'target': 'category'}"]),
        (["a", "b"], {"target_kind": "number"}, ["needs numbers", "'category'"]),
        (["a", "b", "c"], {"target_kind": "two classes"}, ["got 3", "'several classes'"]),
    ],
)
def test_targets_that_cannot_be_used(labels, keywords, words):
    with pytest.raises(DataError) as caught:
        target_of(labels, **keywords)
    for word in words:
        assert word in str(caught.value)


def test_a_kind_that_does_not_exist():
    with pytest.raises(ParameterError, match="'two classes', 'several classes', 'number', got 'classes'"):
        target_of([0, 1], target_kind="classes")


def test_a_target_that_is_said_to_be_a_number_is_one():
    X, y = [[1.0], [2.0], [3.0]], [0, 1, 1]
    assert Table.from_arrays(X, y).target.kind == "two classes"
    assert Table.from_arrays(X, y, kinds={"target": "number"}).target.kind == "number"
    assert Table.from_arrays(X, [0.5, 1.5, 1.5], kinds={"target": "category"}).target.classes == (
        "0.5",
        "1.5",
    )
    stated = Table.from_arrays(X, y, kinds={"target": "number"}, target_kind="two classes")
    assert stated.target.kind == "two classes"


def test_whole_numbers_that_may_be_amounts_are_warned_of():
    """Of the days of a stay, 9 is nearer to 10 than 1 is; of classes it is not."""
    X, days = np.zeros((24, 1)), np.arange(24) % 12 + 1
    with pytest.warns(ReadWarning, match="12 different whole numbers, from 1 to 12, are read as classes"):
        assert Table.from_arrays(X, days, target="days").target.kind == "several classes"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert Table.from_arrays(X, days, kinds={"target": "number"}).target.kind == "number"
        assert Table.from_arrays(X, days, kinds={"target": "category"}).target.kind == "several classes"
        assert Table.from_arrays(X, days, target_kind="several classes").target.kind == "several classes"
        assert Table.from_arrays(X, days % 10).target.kind == "several classes"
