"""What all pages say: what was done, and what is not there."""

from urllib.parse import parse_qs, urlsplit

from tests.web.pages.visitor import STUDY


def test_unknown_things_are_said_on_a_page(ann):
    assert "There is no campaign" in ann.look("/campaigns/studdy", 404).text
    assert "did you mean" in ann.look("/campaigns/studdy", 404).text.lower()
    assert "There is no row number 61" in ann.look(STUDY + "/rows/60", 422).text
    assert "p1" in ann.look(STUDY + "/row?id=p1x", 422).text
    ann.look(STUDY + "/table?first=5&last=2", 422)
    ann.look(STUDY + "/nothing-here", 404)


def test_what_was_done_cannot_be_made_up(ann):
    page = ann.look(STUDY + "?done=saved&cell=%3Cb%3E&count=x")
    assert "Saved: <b>." in page.text
    assert "<b>." not in page.answer.text
    assert "Saved" not in ann.look(STUDY + "?done=evil").text
    assert parse_qs(urlsplit(str(page.answer.url)).query)["done"] == ["saved"]
