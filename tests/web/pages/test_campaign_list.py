"""The list of campaigns, and some of them side by side."""

from cellworth.campaign import Campaign
from tests.web.pages.studies import begin


def test_the_list_shows_the_money_of_each(fresh):
    with begin(fresh.url, "a/b %", budget=1234.5):
        pass
    page = fresh.look("/")
    assert "study" in page.text
    assert "1,234.50 / 1,234.50" in page.text
    assert "/campaigns/a~2Fb%20%25" in page.links


def test_archived_campaigns_leave_the_list(fresh):
    with begin(fresh.url, "over") as campaign:
        campaign.change_stage("archived")
    with begin(fresh.url, "done") as campaign:
        campaign.change_stage("closed")
    page = fresh.look("/")
    assert "/campaigns/over" not in page.links
    assert "/campaigns/done" in page.links
    assert "closed" in page.text
    archived = fresh.look("/?archived=1")
    assert "/campaigns/over" in archived.links
    assert "/campaigns/study" not in archived.links


def test_a_long_list_comes_in_pages(fresh, monkeypatch):
    from cellworth.web.pages import campaign_list

    monkeypatch.setattr(campaign_list, "A_PAGE", 2)
    for name in ("a", "b", "c"):
        begin(fresh.url, name).close()
    first = fresh.look("/")
    assert "/campaigns/c" not in first.links
    [following] = [link for link in first.links if "after=" in link]
    assert "/campaigns/c" in fresh.look(following).links


def test_campaigns_are_compared(fresh):
    with begin(fresh.url, "other", budget=77.0) as campaign:
        batch = campaign.ask(count=3)
        campaign.tell([(each.row, each.column, 1) for each in batch if each.column == "age"], insist=True)
    assert "Tick the campaigns" in fresh.look("/compare").text
    page = fresh.look("/compare?name=study&name=other&name=study")
    for words in ("study", "other", "77.00", "values bought", "spending more"):
        assert words in page.text
    assert page.links.count("/campaigns/study") == 1
    fresh.look("/compare?name=nowhere", status=404)


def test_a_closed_campaign_offers_nothing_to_change(fresh):
    with Campaign.open(fresh.url) as campaign:
        campaign.change_stage("closed", who="Ann")
    for path in ("", "/queue", "/table", "/rows/0", "/columns", "/ledger", "/manage"):
        page = fresh.look(f"/campaigns/study{path}")
        assert "This campaign is closed" in page.text
        posts = {form.action.rpartition("/")[2] for form in page.forms if form.method == "post"}
        assert posts <= {"logout", "language", "stage", "rename"}, path
