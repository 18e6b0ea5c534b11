"""What programs send is checked before it is used."""

from tests.web.servers import api, problem


def test_half_characters_and_huge_numbers_are_refused_in_words(study, http):
    for text in (
        b'{"answers": [{"row": "\\ud800", "column": "age", "value": 1}]}',
        b'{"answers": [{"row": "p3", "column": "age", "value": 1%s}]}' % (b"0" * 400),
        b'{"answers": [{"row": "p3", "column": "age", "value": 1e999}]}',
        b'{"answers": [{"row": "p3", "column": "hue", "value": "\\ud800"}]}',
    ):
        headers = {"Content-Type": "application/json"}
        problem(http.post(api(study.name, "tell"), content=text, headers=headers), 422)
    problem(http.post(api(study.name, "refuse"), json={"cells": [], "reason": " "}), 422)
    assert study.totals().number == 0


def test_an_answer_without_a_value_is_refused_in_one_sentence(study, http):
    for value, got in ((None, "null"), ([1], "a list"), ({"a": 1}, "an object")):
        body = {"answers": [{"row": "p3", "column": "age", "value": value}]}
        found = problem(http.post(api(study.name, "tell"), json=body), 422)
        [error] = found["errors"]
        assert error["field"] == "body.answers.0.value"
        assert f"expected a number, a text, true or false, got {got}. Leave" in error["message"]
    assert study.totals().number == 0
