"""What all pages say: what was done, and what is not there."""

from tests.web.pages.visitor import STUDY


def test_unknown_things_are_said_on_a_page(ann):
    assert "There is no campaign" in ann.look("/campaigns/studdy", 404).text
    assert "did you mean" in ann.look("/campaigns/studdy", 404).text.lower()
    assert "There is no row number 61" in ann.look(STUDY + "/rows/60", 422).text
    assert "p1" in ann.look(STUDY + "/row?id=p1x", 422).text
    ann.look(STUDY + "/map?first=5&last=2", 422)
    ann.look(STUDY + "/nothing-here", 404)


def test_what_was_done_cannot_be_made_up(ann):
    page = ann.look(STUDY + "?done=saved&cell=pay+to+account+7&note=made-up&count=x")
    assert "pay to account" not in page.text
    assert "Saved" not in page.text


def test_a_note_is_read_by_its_browser_alone(fresh):
    form = fresh.look(STUDY + "/manage").form("/budget")
    said = fresh.send(form, budget="250")
    assert "The budget is changed." in said.text
    assert "The budget is changed." in fresh.look(str(said.answer.url)).text
    fresh.client.cookies.delete("cellworth_csrf")
    assert "The budget is changed." not in fresh.look(str(said.answer.url)).text


def test_an_old_form_shows_what_was_typed(fresh):
    form = fresh.look(STUDY + "/manage").form("/budget")
    page = fresh.send(form, 403, budget="250", csrf_token="0" * 64)
    assert "What you sent, and is not saved" in page.text
    assert "250" in page.text


def test_numbers_have_no_sign_if_they_are_zero(ann):
    page = ann.wait(STUDY)
    assert "-0.000" not in page.text
    assert "+0.000" not in page.text


def test_plotly_comes_from_here_and_is_kept(ann):
    answer = ann.client.get("/static/plotly.min.js")
    assert answer.status_code == 200
    assert answer.headers["content-encoding"] == "gzip"
    assert b"plotly.js" in answer.content[:300]
    tag = answer.headers["etag"]
    assert ann.client.get("/static/plotly.min.js", headers={"If-None-Match": tag}).status_code == 304
