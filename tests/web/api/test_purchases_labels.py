"""Labels by REST, and on the pages: asked for, told, refused and shown like any cell."""

import pytest

from cellworth.errors import DataError
from tests.campaign.test_campaign_labels import lacking

PRICES = b"column,price\nstate,3\n(other columns),1\n"


@pytest.mark.slow
def test_labels_are_bought_by_rest_and_shown_on_the_pages(client, http):
    study = client.create(
        ("t.csv", lacking().to_csv().encode()),
        name="labels",
        target="state",
        row_id="row_id",
        prices=("p.csv", PRICES),
        budget=100.0,
        strategy="random-gaussian",
    )
    asked = study.ask(budget=40.0)
    labels = [each for each in asked if each.column == "state"]
    assert {each.price for each in labels} == {3.0}
    state = study.columns()[-1]
    assert (state["name"], state["labels"], state["categories"]) == ("state", True, ["ill", "well"])
    assert study.row(labels[0].row)["label"] == {"column": "state", "status": "out", "value": None}
    with pytest.raises(DataError, match=r"column 'state': expected one of 'ill', 'well', got 'sick'"):
        study.tell({(labels[0].row, "state"): "sick"})
    assert study.tell({(labels[0].row, "state"): "ill"}) == 1
    assert study.row(labels[0].row)["label"]["value"] == "ill"
    assert study.refuse([(labels[1].row, "state")], "no consent") == 1
    assert study.totals().spent == 3.0
    assert "state" in study.counts()["columns"]
    for page in ("queue", "table", "rows/3", "ledger", "manage"):
        shown = http.get(f"/campaigns/labels/{page}")
        assert shown.status_code == 200, page
        assert "state" in shown.text, page
