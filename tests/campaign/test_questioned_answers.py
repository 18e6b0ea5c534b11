"""Numbers far outside what was seen in their column are questioned, and true ones hardly ever."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellworth import Prices, Table
from cellworth.campaign.questioned_answers import LEAST, seen_in
from cellworth.datasets import load
from cellworth.errors import DataError, QuestionedAnswersError, QuestionedError
from cellworth.table import Column
from studies.questioned import share_questioned
from tests.campaign.campaigns import begin, same_state

NUMBER, COUNT = Column("x", "number"), Column("n", "integer")


def limits(column, known):
    seen = seen_in(column, np.asarray(known, dtype=float))
    return None if seen is None else (seen.least, seen.most)


def test_the_rule_by_hand():
    # Of 201 values, the smallest and the largest are left out: 0.02 to 3.98 remain.
    assert limits(NUMBER, np.linspace(0, 4, 201)) == pytest.approx((0.02 - 2 * 3.96, 3.98 + 2 * 3.96))
    assert limits(NUMBER, [0.0] * 99 + [4.0]) == (-16.0, 20.0)  # 400 / n = 4
    assert limits(NUMBER, [0.0] * 49 + [4.0]) == (-32.0, 36.0)  # 400 / n = 8
    assert limits(NUMBER, [0.0] * 9 + [4.0]) == (-160.0, 164.0)  # 400 / n = 40
    assert limits(NUMBER, [0.0, 1.0, 2.0, 5.0]) == (-3125.0, 3130.0)  # 40,000 / n^3 = 625
    assert limits(NUMBER, [0.0] * (LEAST - 2) + [4.0]) is None
    assert limits(NUMBER, [7.0] * 200) == (-7.0, 21.0)  # no width: that of the value
    assert limits(Column("x", "number", bounds=(0, np.inf)), [0.0] * 99 + [4.0]) == (-np.inf, 20.0)
    assert limits(Column("x", "number", bounds=(0, 9)), [0.0] * 99 + [4.0]) == (-np.inf, np.inf)
    assert limits(Column("x", "boolean"), [0.0] * 50 + [1.0] * 50) is None
    assert limits(COUNT, [0.0] * 19 + [4.0]) == (0.0, 84.0)  # counts are not negative
    assert limits(COUNT, [0.0] * 18 + [4.0])[0] < 0  # too few to know
    assert limits(COUNT, [-1.0] * 50 + [4.0])[0] < -1
    assert limits(Column("d", "date"), [19000.0] * 200) == (19000 - 732, 19000 + 732)  # two years


def test_one_absurd_value_in_two_hundred_widens_nothing():
    known = np.append(np.linspace(0, 4, 250), -99999999.0)
    assert limits(NUMBER, known)[0] > -20


@given(
    st.lists(st.floats(-1e6, 1e6), min_size=LEAST, max_size=40),
    st.floats(-1e3, 1e3),
    st.floats(1e-3, 1e3),
)
def test_no_known_value_is_questioned_and_units_do_not_matter(known, shift, scale):
    least, most = limits(NUMBER, known)
    assert least <= min(known) <= max(known) <= most
    width = max(known) - min(known)
    if width > 1e-3 * max(map(abs, known)):
        again = limits(NUMBER, np.array(known) * scale)
        assert again == pytest.approx(
            (least * scale, most * scale), rel=1e-9, abs=1e-9 * scale * (most - least)
        )


@pytest.fixture
def campaign():
    """A campaign on a column of counts from 0 to 4 with holes, and a plain one."""
    counts = np.resize([0.0, 1, 2, 3, 4], 60)
    sizes = np.linspace(10, 20, 60)
    X = np.column_stack([counts, sizes])
    X[::3, 0] = np.nan
    X[1::3, 1] = np.nan
    table = Table.from_arrays(X, columns=["children", "size"], kinds={"children": "integer"})
    campaign = begin(table, prices=Prices.same(1.0), budget=None, strategy="random")
    campaign.ask(count=100)
    return campaign


def test_absurd_answers_are_questioned_all_at_once_and_nothing_is_recorded(campaign):
    answers = {("0", "children"): -99999999, ("1", "size"): 15.0, ("3", "children"): -1, ("4", "size"): 1500}
    with pytest.raises(QuestionedError) as caught:
        campaign.tell(answers)
    assert isinstance(caught.value, DataError)
    assert set(caught.value.cells) == {("0", "children"), ("3", "children"), ("4", "size")}
    said = str(caught.value)
    assert "row '0', column 'children': got -99999999, but the 40 values known there are from 0 to 4" in said
    assert "row '3', column 'children': got -1" in said
    assert "none was negative" in said
    assert "from 10.0 to 20.0" in said
    assert said.endswith("insist: insist=True.")
    assert campaign.number == 1
    assert campaign.tell(answers, insist=True, key="k") == 4
    assert campaign.tell(answers, key="k") == 4  # told again, it is known, and questioned no more
    assert campaign.tell(answers) == 0
    with pytest.raises(QuestionedError, match="'size'"):
        campaign.correct("0", "size", -1e6)
    assert campaign.correct("0", "size", -1e6, insist=True)
    assert same_state(campaign.replay(campaign.number), campaign)


def test_a_file_names_every_questioned_line(campaign, tmp_path):
    path = tmp_path / "answers.csv"
    path.write_text("row,column,value\n0,children,-7\n1,size,15\n3,children,2\n4,size,1500\n7,size,\n")
    with pytest.raises(QuestionedAnswersError) as caught:
        campaign.tell_file(path)
    assert [place.line for place in caught.value.places] == [2, 5]
    assert "insist=True" in caught.value.problems[0]
    assert campaign.number == 1
    checked = campaign.check_file(path)
    assert [each.line for each in checked.questioned] == [2, 5]
    assert (len(checked.new), checked.blank) == (4, 1)
    assert campaign.tell_file(path, insist=True).new == 4
    assert campaign.check_file(path).questioned == []


@pytest.mark.parametrize("n", [3, 5, 10, 20, 100, None])
def test_true_values_are_hardly_ever_questioned(n, paper_folder):
    """Less than one in a thousand, on real tables, whether 3 values of a column are known or half."""
    names = ("abalone", "image", "heart", "hepatitis", "pima", "bupa", "thyroid")
    asked, total = share_questioned([load(name)[0] for name in names], n)
    assert total > 100_000
    assert asked < total / 1000
