import numpy as np
import pandas as pd
import pytest

from cellworth.complete.labels import LabelSummary, code_labels, label_code, labelled_first
from cellworth.complete.scaling import in_order
from cellworth.errors import DataError, ParameterError


def test_two_classes_become_signs():
    labels = code_labels(["no", "yes", None, "yes"], 4, "squared", "auto")
    assert list(labels.classes) == ["no", "yes"]
    assert labels.targets.tolist() == [[-1.0], [1.0], [0.0], [1.0]]
    assert labels.labelled.tolist() == [True, True, False, True]


def test_several_classes_become_one_column_each():
    labels = code_labels([2, 0, 1], 3, "logistic", "auto")
    assert labels.targets.tolist() == [[0, 0, 1], [1, 0, 0], [0, 1, 0]]
    assert code_labels([2, 0, 1], 3, "squared", "auto").targets[0].tolist() == [-1, -1, 1]


@pytest.mark.parametrize(
    ("y", "is_number"),
    [
        ([0.5, 1.0, 2.0], True),
        ([0.0, 1.0, np.nan], False),
        ([0, 1, 2], False),
        (np.arange(30.0), True),
        (np.arange(30), False),
        (["a", "b", "c"], False),
        ([True, False, True], False),
    ],
)
def test_what_auto_makes_of_a_target(y, is_number):
    assert (code_labels(y, len(y), "squared", "auto").classes is None) == is_number


def test_numbers_are_standardised():
    labels = code_labels([10.5, 20.0, np.nan, 30.0], 4, "squared", "auto")
    known = labels.targets[labels.labelled, 0]
    assert known.mean() == pytest.approx(0)
    assert known.std() == pytest.approx(1)
    np.testing.assert_allclose(known * labels.code.width + labels.code.centre, [10.5, 20.0, 30.0])


@pytest.mark.parametrize(
    "y",
    [
        pd.Series(["a", None, "b"]),
        pd.Series(["a", pd.NA, "b"], dtype="string"),
        pd.Series([1, None, 0], dtype="Int64"),
        pd.Series([True, None, False], dtype="boolean"),
        pd.Series(["a", None, "b"], dtype="category"),
        np.array(["a", np.nan, "b"], dtype=object),
        [1.0, float("nan"), 0.0],
    ],
    ids=lambda y: str(getattr(y, "dtype", type(y))),
)
def test_every_way_to_write_a_missing_label(y):
    labels = code_labels(y, 3, "squared", "auto")
    assert labels.labelled.tolist() == [True, False, True]
    assert len(labels.classes) == 2


@pytest.mark.parametrize(
    ("y", "kind", "message"),
    [
        ([np.nan, np.nan], "auto", "no labels"),
        (["a", "a"], "auto", "y has 1 class, .*'a'.*; expected two or more"),
        (["a", 1], "auto", "mixes labels of the types int, str"),
        ([np.inf, 0.5], "auto", "y contains infinity"),
        (["a", "b"], "number", "y should be a number"),
        ([1j, 2], "auto", "complex"),
    ],
)
def test_bad_labels_are_refused_with_a_remedy(y, kind, message):
    y = np.array(y, dtype=object) if "a" in y else y
    with pytest.raises(DataError, match=message):
        code_labels(y, 2, "squared", kind)


LABELS = [
    [0.0, 1.0, np.nan, 1.0, 0.0],
    [0.5, 1.0, 2.25, np.nan, 3.0],
    [1, 2, 3, 1, 2],
    ["a", None, "b", "c", "a"],
    [True, False, True, True, False],
    list(np.arange(25.0)),
]


@pytest.mark.parametrize("labels", LABELS, ids=str)
@pytest.mark.parametrize("kind", ["auto", "classes", "number"])
@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_labels_are_coded_as_in_memory(labels, kind, loss):
    y = np.array(labels, dtype=object if None in labels else None)
    summary = LabelSummary.of(y[:2]).merged(LabelSummary.of(y[2:]))
    try:
        whole = code_labels(y, len(y), loss, kind)
    except (DataError, ParameterError) as error:
        with pytest.raises(type(error)):
            label_code(summary, loss, kind, "outcome")
        return
    code = label_code(summary, loss, kind, "outcome")
    targets, labelled = code.targets(y, len(y))
    np.testing.assert_allclose(targets, whole.targets, atol=1e-12)
    assert (labelled == whole.labelled).all()
    assert type(code.loss) is type(whole.loss)
    assert (code.classes is None) == (whole.classes is None)
    known = whole.targets[whole.labelled]
    np.testing.assert_allclose(code.mean, known.mean(axis=0), atol=1e-12)
    np.testing.assert_allclose(code.spread, known.std(axis=0), rtol=1e-12)


@pytest.mark.parametrize("labelled", [[0, 1, 0, 1, 1], [1, 1, 1, 1, 1], [0, 0, 0, 0, 0]])
def test_the_order_can_be_undone(labelled):
    labelled, A = np.array(labelled, dtype=bool), np.arange(10.0).reshape(5, 2)
    order = labelled_first(labelled)
    assert (np.diff(labelled[order].astype(int)) <= 0).all()
    np.testing.assert_array_equal(in_order(A[order], order), A)


def test_rows_keep_their_order_within_those_with_labels_and_the_others():
    assert labelled_first(np.array([False, True, False, True])).tolist() == [1, 3, 0, 2]
