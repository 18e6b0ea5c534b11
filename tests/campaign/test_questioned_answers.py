"""Numbers far outside what was seen in their column are questioned, and true ones hardly ever."""

import numpy as np
import pytest

from cellworth import Prices, Table
from cellworth.datasets import load
from cellworth.errors import DataError, QuestionedAnswersError, QuestionedError
from studies.questioned import share_questioned
from tests.campaign.campaigns import begin, same_state


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
