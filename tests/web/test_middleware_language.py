"""The same mistakes, made through the pages and through REST: settings are named as each door knows them."""

from tests.campaign.campaigns import make_table
from tests.web.servers import api, begin, problem


def test_rest_names_fields_of_json(study, http):
    """Also in errors from the threads that campaigns are kept in."""
    table = make_table()
    row, column = (int(places[0]) for places in table.holes.nonzero())
    cell = {"row": table.row_ids[row], "column": table.column_names[column]}
    said = problem(http.post(api(study.name, "tell"), json={"answers": [{**cell, "value": 1}]}), 422)[
        "detail"
    ]
    assert '"unsolicited": true' in said
    assert "unsolicited=" not in said


def test_the_worker_speaks_the_language_of_the_request(shared_url, http):
    begin(shared_url, make_table(), "without a limit", strategy="random")
    said = problem(http.post(api("without a limit", "ask"), json={}), 422)["detail"]
    assert 'give "budget", "count", or both' in said


def test_pages_name_their_fields(http):
    page = http.get("/new")
    token = page.text.split('name="csrf_token" value="')[-1].split('"')[0] if "csrf" in page.text else ""
    files = {"table": ("t.csv", b"a,b\n1,x\nsoon,x\n2,y\n")}
    fields = {
        "name": "language",
        "strategy": "random",
        "target": "",
        "row_id": "",
        "missing": "",
        "budget": "",
    }
    said = http.post("/new", data={**fields, "csrf_token": token}, files=files).text
    assert "Marks of missing values, besides blanks" in said
    assert "&#39;categories&#39; as the kind of &#39;a&#39;" in said
    assert "missing=" not in said.split('id="new-error"')[1].split("</div>")[0]
