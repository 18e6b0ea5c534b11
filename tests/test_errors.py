"""Errors with many lines name the first, and how many there are."""

import pytest

from cellworth.campaign.answer_file import read_answers
from cellworth.errors import MOST_WRONG_LINES, WrongAnswersError
from tests.campaign.campaigns import make_table

TABLE = make_table()


def write(folder, text, name="answers.csv", **keywords):
    (folder / name).write_text(text, newline="", **{"encoding": "utf-8"} | keywords)
    return folder / name


def test_the_message_has_the_first_problem_and_the_number_of_others(tmp_path):
    path = write(tmp_path, "row,column,value\nq,dose,1\np1,dose,1\nr,dose,1\n")
    with pytest.raises(WrongAnswersError, match=r"line 2, column 'row': .* Further wrong lines: 1\.$"):
        read_answers(path, TABLE)
    path = write(tmp_path, "row,column,value\n" + "q,dose,1\n" * 1000)
    with pytest.raises(WrongAnswersError, match=r" Further wrong lines: 19 or more\.$") as caught:
        read_answers(path, TABLE)
    assert len(caught.value.problems) == MOST_WRONG_LINES
