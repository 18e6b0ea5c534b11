"""The list of campaigns, side by side."""

from tests.web.pages.studies import begin


def test_the_list_compares_campaigns(fresh):
    with begin(fresh.url, "a/b %", budget=1234.5):
        pass
    page = fresh.look("/")
    assert "study" in page.text
    assert "1,234.50 / 1,234.50" in page.text
    assert "/campaigns/a~2Fb%20%25" in page.links
