"""The pages without a browser: well-formed, escaped, and what they say."""

import pytest

from cellworth.web.url_paths import segment
from tests.web.pages.studies import HOSTILE_NAME
from tests.web.pages.visitor import STUDY

PAGES = ["", "/queue", "/queue/print", "/table", "/map", "/columns", "/ledger", "/rows/3", "/manage"]


@pytest.mark.parametrize("path", PAGES)
def test_every_page_is_well_formed(ann, path):
    assert "study" in ann.look(STUDY + path).text


@pytest.mark.parametrize("path", PAGES)
def test_pages_of_hostile_names(ann, path):
    page = ann.wait(f"/campaigns/{segment(HOSTILE_NAME)}{path}")
    assert "<script>alert(1)</script>" in page.text  # as a text, read back from its escapes
    assert "<script>alert" not in page.answer.text
    assert "<img src=x" not in page.answer.text


def test_the_summaries_come(ann):
    overview = ann.wait(STUDY)
    assert "AUC now" in overview.text
    assert "Since the last values were asked for 6 values bought" in overview.text
    assert "Who answered who values money Bea 18 + 3 not available" in overview.text
    columns = ann.wait(STUDY + "/columns")
    assert "the average value that could be had is worth 1" in columns.text
    assert "dose mg Of the first day" in columns.text
    table = ann.wait(STUDY + "/map")
    assert "Lines 1 to 25 of 60" in table.text
    assert "p26" in ann.look(STUDY + "/map?page=2").text
    assert "Rows 11 to 13 of 60 are shown" in ann.look(STUDY + "/map?first=10&last=13").text
    data = ann.client.get(STUDY + "/map.json").json()
    assert len(data["codes"]) == 60
