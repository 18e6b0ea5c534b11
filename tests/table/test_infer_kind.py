"""Which kinds are found in text."""

import warnings

import numpy as np
import pytest

from cellworth.errors import DataError, ReadWarning
from cellworth.setting_names import speaking
from cellworth.table import Table

from .tables import read


@pytest.mark.parametrize(
    ("cells", "kind", "values"),
    [
        (["1", "2", ""], "integer", [1, 2, np.nan]),
        (["0", "1"], "integer", [0, 1]),
        (["-3", "+4", " 5 "], "integer", [-3, 4, 5]),
        (["1.0", "2"], "number", [1, 2]),
        (["1E3", "2"], "number", [1000, 2]),
        (["1e3", "NaN", "2"], "number", [1000, np.nan, 2]),
        (["true", "False", "  "], "boolean", [1, 0, np.nan]),
        (["YES", "no"], "boolean", [1, 0]),
        (["yes", "yes"], "boolean", [1, 1]),
        (["yes", "false"], "category", [1, 0]),
        (["2020-01-01", ""], "date", [18262, np.nan]),
        (["2020-01-01", "2020-01-01T12:00", "2020-01-01 12:00:00Z"], "date", [18262, 18262.5, 18262.5]),
        (["b", "a", "None"], "category", [1, 0, np.nan]),
        (["1_0", "2_0"], "category", [0, 1]),
        (["x", "y", "1"], "category", [1, 2, 0]),
    ],
)
def test_kinds_found_in_text(tmp_path, cells, kind, values):
    table = read(tmp_path, "a,b\n" + "".join(f"{cell},1\n" for cell in cells))
    assert table.columns[0].kind == kind
    np.testing.assert_array_equal(table.values[:, 0], values)


def test_given_kinds_win(tmp_path):
    text = "a,b,c,d\n1,1,007,low\n0,2,012,high\n"
    table = read(
        tmp_path,
        text,
        kinds={"a": "boolean", "b": "number", "c": "category", "d": "ordered"},
        categories={"d": ["low", "mid", "high"]},
        units={"b": "kg"},
        descriptions={"b": "Of the morning", "d": " "},
    )
    assert [column.kind for column in table.columns] == ["boolean", "number", "category", "ordered"]
    assert table.columns[2].categories == ("007", "012")
    assert table.values[:, 3].tolist() == [0, 2]
    assert (table.columns[1].unit, table.columns[1].description) == ("kg", "Of the morning")
    assert table.columns[3].description is None


@pytest.mark.parametrize("keywords", [{}, {"date_format": "DD.MM.YYYY"}, {"kinds": {"seen": "date"}}])
def test_a_day_that_does_not_exist_is_called_so(tmp_path, keywords):
    path = tmp_path / "t.csv"
    path.write_text("id,seen\na,4.7.2020\nb,31.2.2024\nc,12.12.2020\n")
    with pytest.raises(DataError, match=r"exist.*'31\.2\.2024' in row 'b' \(line 3\)|'31.*does not exist"):
        Table.read(path, row_id="id", **keywords)
    column = Table.from_arrays([["2020-01-01"]], columns=["seen"]).columns[0]
    with pytest.raises(DataError, match="There is no such day"):
        column.parse("31.2.2024")


def test_texts_that_all_differ_may_be_names(tmp_path):
    """A column of ids is no category: of a short table it is warned of, of a long one refused."""
    text = "who,a\n" + "".join(f"p{i},{i}\n" for i in range(11))
    with pytest.warns(ReadWarning, match=r"'who': 11 different texts in 11 .* look like names.*row_id='who'"):
        read(tmp_path, text)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read(tmp_path, text, row_id="who")
        read(tmp_path, text, kinds={"who": "category"})
        read(tmp_path, text + "p0,11\n")  # one occurs twice
        read(tmp_path, "\n".join(text.splitlines()[:-1]))  # ten may be categories


@pytest.mark.parametrize("kinds", [None, {"seen": "date"}])
def test_a_wrong_date_is_told_how_dates_are_written_here(tmp_path, kinds):
    text = "id,seen\na,26.08.2020\nb,31.02.2020\nc,04.07.2020\n"
    with pytest.raises(DataError, match=r"expected dates such as 31\.12\.2020 .*'31\.02\.2020' in row 'b'"):
        read(tmp_path, text, row_id="id", date_format="DD.MM.YYYY", kinds=kinds)


def test_a_text_among_numbers_may_be_a_slip(tmp_path):
    with pytest.raises(DataError, match=r"got '1O2' in row 'b' \(line 3\)\. Correct it, add it to missing="):
        read(tmp_path, "id,age\na,61\nb,1O2\nc,44\n", row_id="id")


@pytest.mark.parametrize(("kind", "option"), [("ordered", "--order"), ("category", "--categories")])
def test_an_unknown_text_names_the_option_that_lists_the_texts(tmp_path, kind, option):
    text = "id,stage\na,I\nb,IV\n"
    with (
        speaking("command line"),
        pytest.raises(DataError, match=f"'IV' in row 'b' .*Add it to {option} stage="),
    ):
        read(tmp_path, text, row_id="id", kinds={"stage": kind}, categories={"stage": ["I", "II"]})


@pytest.mark.parametrize(("cell", "fractions"), [("430", False), ("4.5", True)])
def test_fractions_are_offered_only_where_there_are_some(tmp_path, cell, fractions):
    with pytest.raises(DataError, match="expected a whole number from 0 to 120") as caught:
        read(tmp_path, f"age\n61\n{cell}\n", kinds={"age": "integer"}, bounds={"age": (0, 120)})
    assert ("if fractions are meant" in str(caught.value)) is fractions


def test_a_column_with_one_text_warns_that_no_other_can_be_told(tmp_path):
    with speaking("command line"), pytest.warns(ReadWarning) as caught:
        table = read(tmp_path, "age,rare\n1,low\n2,\n3,low\n")
    assert [str(each.message).partition(", ")[2] for each in caught] == [
        "column 'rare': the only text is 'low', so guesses and answers can be no other yet. "
        "Name all that it may have in --categories rare=TEXT,TEXT, or leave the column out."
    ]
    assert table.columns[1].categories == ("low",)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read(tmp_path, "age,rare\n1,low\n2,\n3,low\n", categories={"rare": ["low", "high"]})
        read(tmp_path, "age,rare\n1,low\n2,low\n")  # nothing of it can be bought


@pytest.mark.parametrize("pair", [("Agree", "agree"), ("18-29", "18\u201329"), ("ICU  2", "ICU 2")])
@pytest.mark.parametrize("target", [None, "answer"])
def test_two_spellings_of_a_category_are_warned_of(tmp_path, pair, target):
    cells = [*pair, "other", "other", *pair]
    text = "age,answer\n" + "".join(f"{age},{cell}\n" for age, cell in enumerate(cells))
    with speaking("command line"), pytest.warns(ReadWarning) as caught:
        read(tmp_path, text, target=target)
    first, second = sorted(pair)
    assert [str(each.message).partition(", ")[2] for each in caught] == [
        f"column 'answer': '{first}', '{second}' differ only in capitals, spaces or dashes, and count as "
        "different categories. Write them alike if they mean the same; to keep them and silence this, name "
        "all categories in --categories answer=TEXT,TEXT."
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read(tmp_path, text, target=target, categories={"answer": [*pair, "other"]})
        read(tmp_path, text.replace(pair[0], "Agrees"), target=target)
