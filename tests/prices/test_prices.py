"""Prices by name: what can be said, what comes out for a table, and what is refused in which words."""

import copy
import math
import pickle
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from cellworth import Table
from cellworth.errors import DataError, ParameterError
from cellworth.prices import Group, Prices

from .cases import plain_table

TABLE = Table.from_arrays(
    [[61, 233.0, 1.0], [47, np.nan, np.nan]], columns=["age", "chol", "fbs"], row_ids=["p1", "p2"]
)
BLOOD = Group("blood", ["chol", "fbs"], first={"chol": 7.25, "fbs": 5.25}, then={"chol": 5.0, "fbs": 3.0})


def own(prices):
    return prices.on(TABLE).own.tolist()


def test_one_price_and_prices_by_column():
    assert own(Prices.same(2)) == [[2, 2, 2]] * 2
    assert own(Prices.per_column({"age": 1, "chol": 2, "fbs": 3})) == [[1, 2, 3]] * 2
    assert own(Prices.per_column({"chol": 7.5}, default=1)) == [[1, 7.5, 1]] * 2


def test_prices_by_cell():
    matrix = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
    assert own(Prices.per_cell(matrix)) == matrix
    by_name = {(row, column): matrix[i][j] for i, row in enumerate(TABLE.row_ids)
               for j, column in enumerate(TABLE.column_names)}  # fmt: skip
    assert own(Prices.per_cell(by_name)) == matrix
    assert own(Prices.per_cell(lambda row, column: by_name[row, column])) == matrix
    some = {("p2", "fbs"): 9}
    assert own(Prices.per_cell(some, default=1)) == [[1, 1, 1], [1, 1, 9]]
    assert own(Prices.per_cell(some, default={"age": 1, "chol": 2, "fbs": 3})) == [[1, 2, 3], [1, 2, 9]]


def test_rows_without_names_are_numbers():
    table = Table.from_arrays([[1.0], [2.0]])
    assert Prices.per_cell({(1, "x0"): 5, (0, "x0"): 4}).on(table).own.tolist() == [[4], [5]]


@pytest.mark.parametrize(
    "prices",
    [
        Prices.per_column({"age": 1}, groups=[BLOOD], visit=2),
        Prices.same(1, groups=[BLOOD], visit=2),
        Prices.per_cell([[1, math.nan, math.nan]] * 2, groups=[BLOOD], visit=2),
        Prices.per_cell({("p1", "age"): 1, ("p2", "age"): 1}, groups=[BLOOD], visit=2),
        Prices.per_cell(lambda row, column: {"age": 1.0}[column], groups=[BLOOD], visit=2),
    ],
    ids=["column", "same", "matrix", "mapping", "function"],
)
def test_groups_and_visits_go_with_every_way_to_price_cells(prices):
    laid = prices.on(TABLE)
    assert laid.own.tolist() == [[1, 5, 3]] * 2
    assert laid.group_of.tolist() == [-1, 0, 0]
    assert laid.fee.tolist() == [0, 2.25, 2.25]
    assert (laid.lasting.tolist(), laid.visit) == ([False], 2)
    assert laid.cost([(1, 1), (1, 2)], ~TABLE.holes) == 2 + 7.25 + 3


def test_any_real_number_is_a_price():
    for price in (2, 2.0, np.float32(2), np.int64(2), Decimal(2), Fraction(4, 2)):
        assert Prices.same(price) == Prices.same(2.0)


def test_equality():
    same = Prices.per_column({"a": 1, "b": 2}, groups=[BLOOD], visit=1)
    assert same == Prices.per_column({"b": 2, "a": 1}, groups=[BLOOD], visit=1)
    for other in (
        Prices.per_column({"a": 1, "b": 3}, groups=[BLOOD], visit=1),
        Prices.per_column({"a": 1, "b": 2}, visit=1),
        Prices.per_column({"a": 1, "b": 2}, groups=[BLOOD]),
        Prices.per_column({"a": 1, "b": 2}, default=1, groups=[BLOOD], visit=1),
        Prices.per_cell([[1.0]]),
    ):
        assert same != other
    assert Prices.per_cell([[1, math.nan]], groups=[BLOOD]) == Prices.per_cell(
        [[1, math.nan]], groups=[BLOOD]
    )
    assert Prices.per_cell([[1.0, 2.0]]) != Prices.per_cell([[1.0, 3.0]])
    assert Prices.per_cell(price_of) == Prices.per_cell(price_of)
    assert Prices.per_cell({(1, "a"): 2}) == Prices.per_cell({("1", "a"): 2.0})


def price_of(row, column):
    return 1.0


def test_shown_as_it_is_made():
    for text in (
        "Prices.same(1.0)",
        "Prices.same(1.0, visit=5.0)",
        "Prices.per_column({'a': 1.0}, default=2.0, visit=5.0)",
        "Prices.per_cell({('p1', 'a'): 1.0}, default=2.0)",
        "Prices.per_cell({('p1', 'a'): 1.0})",
        "Prices.per_cell({('p1', 'a'): 1.0}, default={'a': 2.0})",
        "Prices.same(1.0, groups=[Group('g', ['a', 'b'], first=3.0, then={'a': 1.0, 'b': 2.0})])",
        "Prices.same(1.0, groups=[Group('g', ['a'], first=3.0, then=1.0, lasting=True)])",
    ):
        assert repr(eval(text)) == text
    assert repr(Prices.per_cell(np.ones((2, 3)))) == "Prices.per_cell(<matrix of 2 x 3 prices>)"
    assert repr(Prices.per_cell(price_of)) == "Prices.per_cell(<function price_of>)"
    assert repr(Prices.per_column({f"c{j}": 1 for j in range(100)})).endswith("'c7': 1.0, ... 92 more})")


def test_a_statement_does_not_change():
    stated, matrix = {"a": 1.0}, np.ones((1, 1))
    by_column, by_matrix = Prices.per_column(stated), Prices.per_cell(matrix)
    stated["a"], matrix[0, 0] = 9, 9
    assert by_column == Prices.per_column({"a": 1.0})
    assert by_matrix == Prices.per_cell([[1.0]])
    for prices in (by_column, by_matrix):
        assert pickle.loads(pickle.dumps(prices)) == copy.deepcopy(prices) == prices
    with pytest.raises(AttributeError):
        by_column.visit = 3


BAD = [0, -1, math.nan, math.inf, 10**400, "7.27", None, True, np.bool_(True), 1j, [1.0], np.ones(2)]


@pytest.mark.parametrize("bad", BAD, ids=lambda bad: str(bad)[:12])
def test_a_price_that_is_none_is_refused_by_name(bad):
    def refused(words, make):
        with pytest.raises(ParameterError, match=words):
            make()

    number = "must be a positive, finite number; got "
    refused(f"the price of column 'age' {number}", lambda: Prices.per_column({"age": bad}))
    refused(
        f"the price of row 'p1', column 'age' {number}",
        lambda: Prices.per_cell({("p1", "age"): bad}, default=1),
    )
    refused(
        f"group 'g': the first price of column 'a' {number}",
        lambda: Group("g", ["a"], first={"a": bad}, then=1),
    )
    refused(f"group 'g': the follow-up price {number}", lambda: Group("g", ["a"], first=1, then=bad))
    if bad is not None:
        refused(f"the default price {number}", lambda: Prices.per_column({"age": 1}, default=bad))
    with pytest.raises(DataError, match=f"function gives for row 'p1', column 'age' {number}"):
        Prices.per_cell(lambda row, column: bad).on(TABLE)
    refused(f"the price {number}", lambda: Prices.same(bad))
    if type(bad) is not int or bad != 0:
        refused("the price of a visit must be a finite number", lambda: Prices.same(1, visit=bad))


@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, math.inf])
def test_a_bad_price_in_a_matrix_is_refused_by_name(bad):
    matrix = np.ones((2, 3))
    matrix[1, 2] = bad
    with pytest.raises(DataError, match=r"row 'p2', column 'fbs' must be a positive, finite number; got"):
        Prices.per_cell(matrix).on(TABLE)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Prices.per_column({"agee": 1}, default=1), r"no column 'agee'. Did you mean 'age'\?"),
        (lambda: Prices.per_column({"age": 1}), r"none for 'chol', 'fbs'\. Add prices, or give Prices"),
        (
            lambda: Prices.per_cell({("p1", "cholest"): 1}, default=1),
            "no column 'cholest'. Did you mean 'chol'",
        ),
        (
            lambda: Prices.per_cell({("p11", "age"): 1}, default=1),
            r"the prices: There is no row 'p11'. The rows are",
        ),
        (lambda: Prices.per_cell({("p1", "age"): 1}, default={"fbs": 1}), "none for 'age', 'chol'"),
        (lambda: Prices.per_cell({("p1", "age"): 1}, default={"ag": 1}), "Did you mean 'age'"),
        (lambda: Prices.per_cell(np.ones((3, 3))), r"shape \(2, 3\) of the table's .* got \(3, 3\)"),
        (
            lambda: Prices.per_cell(np.ones((2, 3)), groups=[BLOOD]),
            "NaN in the columns of groups, .* got 1.0 in row 'p1', column 'chol'",
        ),
        (
            lambda: Prices.same(1, groups=[Group("blood", ["chol", "fbss"], first=2, then=1)]),
            r"group 'blood': There is no column 'fbss'. Did you mean 'fbs'\?",
        ),
    ],
)
def test_what_does_not_fit_the_table(make, words):
    prices = make()
    with pytest.raises(DataError, match=words):
        prices.on(TABLE)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Prices.per_column([1, 2]), "expected a mapping of column names to prices"),
        (lambda: Prices.per_column({}), "at least one price"),
        (lambda: Prices.per_column({3: 1.0}), "name of a column must be non-blank text; got 3"),
        (lambda: Prices.per_cell({"age": 1}), r"mapping of \(row id, column name\).* got the key 'age'"),
        (lambda: Prices.per_cell({("p1", " "): 1}), "name of a column"),
        (lambda: Prices.per_cell(3.0), "matrix of numbers"),
        (lambda: Prices.per_cell([["1", "2"]]), "matrix of numbers"),
        (lambda: Prices.per_cell([[True]]), "matrix of numbers"),
        (lambda: Prices.per_cell([[1], [1, 2]]), "matrix of numbers"),
        (lambda: Prices.per_cell([[1]], default=3), "default is only for a mapping"),
        (lambda: Prices.same(1, groups=["blood"]), "list of Group; got 'blood'"),
        (lambda: Prices.same(1, groups=[BLOOD, BLOOD]), "different names; got 'blood' twice"),
        (
            lambda: Prices.same(1, groups=[BLOOD, Group("more", ["fbs"], first=2, then=1)]),
            "in one group; got 'fbs' in the groups 'blood' and 'more'",
        ),
        (lambda: Prices.per_column({"fbs": 1}, groups=[BLOOD]), "'fbs' has its own price but is also in"),
        (
            lambda: Prices.per_cell({("p1", "fbs"): 1}, default=1, groups=[BLOOD]),
            "'fbs' has its own price",
        ),
        (
            lambda: Group("g", ["a", "b"], first={"a": 2, "b": 2}, then={"a": 1, "b": 3}),
            r"follow-up price of column 'b' must not be above its first price 2.0; got 3.0. Are .* swapped",
        ),
        (lambda: Group("", ["a"], first=1, then=1), "name of a group"),
        (lambda: Group("g", "chol", first=1, then=1), "list of column names; got 'chol'"),
        (lambda: Group("g", [], first=1, then=1), "at least one column"),
        (lambda: Group("g", ["a", "b", "a"], first=1, then=1), "got 'a' more than once"),
        (
            lambda: Group("g", ["a", "b"], first={"a": 1}, then=1),
            "first price must be given .* none for 'b'",
        ),
        (lambda: Group("g", ["age"], first=1, then={"agee": 1}), r"no column 'agee'. Did you mean 'age'\?"),
        (lambda: Group("g", ["a"], first=1, then=1, lasting="yes"), "lasting must be True or False"),
    ],
)
def test_what_makes_no_sense(make, words):
    with pytest.raises(ParameterError, match=words):
        make()


def test_prices_by_column_take_no_memory_per_row():
    assert Prices.same(1).on(plain_table(3, 4)).own.strides[0] == 0


def test_plain_prices_are_understood(tmp_path):
    assert Prices.of(None) == Prices.same(1.0)
    assert Prices.of(2) == Prices.of(np.float64(2.0)) == Prices.same(2.0)
    assert Prices.of({"age": 1}) == Prices.per_column({"age": 1})
    assert Prices.of({0: 1}) == Prices.per_column({"0": 1})  # a column that pandas numbers
    assert Prices.of({("p1", "age"): 1}) == Prices.per_cell({("p1", "age"): 1})
    path = tmp_path / "prices.csv"
    Prices.same(3.0).write(path)
    assert Prices.of(path) == Prices.of(str(path)) == Prices.same(3.0)
    own = Prices.same(4.0)
    assert Prices.of(own) is own
    for wrong in ([1, 2], True, object()):
        with pytest.raises(ParameterError, match="prices must be a number, a mapping"):
            Prices.of(wrong)
