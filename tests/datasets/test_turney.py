"""Turney's five tables: shapes, classes, holes, and prices that agree in all the files that state them."""

import csv
from itertools import pairwise

import numpy as np
import pytest

from cellworth.datasets import load
from cellworth.datasets.tables import TURNEY_NAMES
from cellworth.errors import DataError

# Rows and columns, rows of each class, holes: from the description of the files.
FACTS = {
    "heart": ((303, 13), [164, 139], 6),
    "hepatitis": ((155, 19), [32, 123], 167),
    "pima": ((768, 8), [500, 268], 5 + 35 + 227 + 374 + 11),
    "bupa": ((345, 5), [169, 176], 0),
    "thyroid": ((7200, 20), [166, 368, 6666], 0),
}
IN_SUMMARY = {
    "heart": "heart-disease",
    "hepatitis": "hepatitis",
    "pima": "pima",
    "bupa": "bupa",
    "thyroid": "ann-thyroid",
}


def summary(folder, name):
    """Return the lines of one table in the summary of all prices, but FTI, which has none."""
    with (folder / "costs_summary.csv").open(newline="") as file:
        lines = [line for line in csv.DictReader(file) if line["dataset"] == IN_SUMMARY[name]]
    return [line for line in lines if line["feature"] != "FTI"]


@pytest.mark.parametrize("name", TURNEY_NAMES)
def test_tables_have_the_shapes_classes_and_holes_of_their_description(name, costs_folder):
    table, _ = load(name, costs_folder)
    shape, counts, holes = FACTS[name]
    assert table.shape == shape
    assert np.bincount(table.y.astype(int)).tolist() == counts
    assert table.holes.sum() == holes
    assert table.target.name == "class"
    assert list(table.column_names) == [line["feature"] for line in summary(costs_folder, name)]


@pytest.mark.parametrize("name", TURNEY_NAMES)
def test_prices_agree_with_the_summary_and_with_the_prices_alone(name, costs_folder):
    table, prices = load(name, costs_folder)
    laid = prices.on(table)
    nothing = np.zeros(table.shape, dtype=bool)
    alone = laid.marginal(nothing)[0]
    lines = summary(costs_folder, name)
    np.testing.assert_allclose(alone, [float(line["cost_cad"]) for line in lines], rtol=1e-14)
    after = [float(line["cost_cad_after_first_of_group"]) for line in lines]
    np.testing.assert_array_equal(laid.own[0], after)
    groups = [prices.groups[group].name if group >= 0 else "" for group in laid.group_of]
    assert groups == [line["group"] for line in lines]
    stem = "bupa-liver" if name == "bupa" else IN_SUMMARY[name].replace("pima", "pima-indians-diabetes")
    entries = [line.split(":") for line in (costs_folder / f"{stem}.cost").read_text().split("\n") if line]
    assert dict(zip(table.column_names, alone.round(10), strict=True)) == {
        name: float(price) for name, price in entries
    }


def test_every_test_of_one_group_has_the_same_fee(costs_folder):
    for name in TURNEY_NAMES:
        table, prices = load(name, costs_folder)
        laid = prices.on(table)
        for group in range(len(prices.groups)):
            assert len(set(laid.fee[laid.group_of == group])) == 1


def test_one_blood_draw_for_two_tests(costs_folder):
    table, prices = load("heart", costs_folder)
    chol, fbs = table.column_index("chol"), table.column_index("fbs")
    laid, nothing = prices.on(table), np.zeros(table.shape, dtype=bool)
    assert laid.cost([(0, chol)], nothing) == pytest.approx(7.27)
    assert laid.cost([(0, chol), (0, fbs)], nothing) == pytest.approx(7.27 + 3.10)
    nothing[0, chol] = True
    assert laid.cost([(0, fbs)], nothing) == pytest.approx(3.10)


def test_kinds_of_the_heart_table(costs_folder):
    table, _ = load("heart", costs_folder)
    column = {column.name: column for column in table.columns}
    assert column["cp"].categories == ("1", "2", "3", "4")
    assert column["thal"].categories == ("3", "6", "7")
    assert column["slope"].categories == ("1", "2", "3")
    kinds = {name: column.kind for name, column in column.items()}
    assert [name for name, kind in kinds.items() if kind == "boolean"] == ["sex", "fbs", "exang"]
    assert [name for name, kind in kinds.items() if kind == "category"] == ["cp", "restecg", "thal"]
    assert (kinds["slope"], kinds["ca"], kinds["oldpeak"]) == ("ordered", "integer", "number")
    # The first line of the file: 63.0,1.0,1.0,145.0,233.0,1.0,2.0,150.0,0.0,2.3,3.0,0.0,6.0,0
    first = [column.format(value) for column, value in zip(table.columns, table.values[0], strict=True)]
    assert first == [63, True, "1", 145, 233, True, "2", 150, False, 2.3, "3", 0, "6"]
    assert table.y[0] == 0


def test_the_first_patient_of_the_hepatitis_table(costs_folder):
    table, _ = load("hepatitis", costs_folder)
    # 2,30,2,1,2,2,2,2,1,2,2,2,2,2,1.00,85,18,4.0,?,1
    booleans = [1, 0, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1]
    np.testing.assert_array_equal(table.values[0], [30, *booleans, 1.0, 85, 18, 4.0, np.nan, 0])
    assert table.target.classes[int(table.y[0])] == 2


def test_thyroid_is_training_rows_then_test_rows(costs_folder):
    table, _ = load("thyroid", costs_folder)
    assert table.values[0, 0] == 0.73
    assert table.values[3772, 0] == 0.29
    assert "FTI" not in table.column_names


def test_bupa_is_split_at_three_drinks(costs_folder):
    table, _ = load("bupa", costs_folder)
    with (costs_folder / "bupa.data").open() as file:
        drinks = [float(line.split(",")[5]) for line in file if line.strip()]
    assert [amount >= 3 for amount in drinks] == table.y.astype(bool).tolist()
    assert any(low < 3 <= high for low, high in pairwise(sorted(drinks)))


def test_errors_say_what_to_do(tmp_path, monkeypatch):
    with pytest.raises(DataError, match=r"no data set 'iris'; expected one of .*, heart, hepatitis"):
        load("iris", tmp_path)
    with pytest.raises(DataError, match=r"cannot read .*heart-disease\.expense.*is CELLWORTH_DATA right"):
        load("heart", tmp_path)
    monkeypatch.delenv("CELLWORTH_DATA", raising=False)
    with pytest.raises(DataError, match="set CELLWORTH_DATA to the folder that contains costs/"):
        load("heart")
