"""The table by REST: columns, rows in pages, estimates, and files without formulas."""

import pytest

from cellworth.errors import DataError
from cellworth.table import Table
from tests.campaign.campaigns import make_table
from tests.web.servers import api, problem


def test_columns_and_rows(study, http):
    dose = study.columns()[0]
    assert (dose["kind"], dose["unit"], dose["lowest"], dose["highest"]) == ("number", "mg", 0, None)
    assert (dose["group"], dose["missing"]) == ("blood", int(make_table().holes[:, 0].sum()))
    assert study.columns()[2]["categories"] == ["I", "II", "III"]
    rows, after = [], 0
    while after is not None:
        page = http.get(api(study.name, "rows"), params={"after": after, "limit": 7}).json()
        assert len(page["items"]) <= 7
        rows, after = rows + page["items"], page["next"]
    table = make_table()
    assert [row["row"] for row in rows] == list(table.row_ids)
    for i, row in enumerate(rows):
        for j, cell in enumerate(row["cells"]):
            value = table.columns[j].format(float(table.values[i, j]))
            assert cell["value"] == (value.isoformat() if hasattr(value, "isoformat") else value)
            assert cell["status"] == ("missing" if value is None else "known")
    with pytest.raises(DataError, match="no row 'p100'"):
        study.row("p100")
    problem(http.get(api(study.name, "rows", "p100")), 404)


def test_exports_are_disarmed(client, http):
    table = Table.from_arrays(
        [["=1+1", 1.0], ["@x", None], [None, 2.0]], columns=["=cmd", "b"], row_ids=["+1", "-2", "a"]
    )
    made = client.create(("t.csv", table.to_csv().encode()), name="odd", row_id=table.row_id)
    safe = http.get(api("odd", "table.csv")).text
    for text in ("'=cmd", "'=1+1", "'@x", "'+1", "'-2"):
        assert text in safe
    assert made.table_csv() == table.to_csv()
    made.ask(count=9)
    assert "'-2" in http.get(api("odd", "purchases.csv")).text


def test_rows_count_once_by_key_and_come_by_file(study, http):
    body = {"rows": {"new 1": {"age": 30}}}
    for _ in range(2):
        sent = http.post(api(study.name, "rows"), json=body, headers={"Idempotency-Key": "rows 1"})
        assert sent.json() == {"new": 1}
    other = http.post(
        api(study.name, "rows"), json={"rows": {"new 2": {}}}, headers={"Idempotency-Key": "rows 1"}
    )
    problem(other, 409)
    problem(http.post(api(study.name, "rows"), json=body), 422)  # without a key it is the second time
    name = make_table().row_id or "row"
    file = {"rows": ("rows.csv", f"{name},age\nnew 3,41\nnew 4,\n".encode())}
    for _ in range(2):
        sent = http.post(api(study.name, "rows-file"), files=file, headers={"Idempotency-Key": "rows 2"})
        assert sent.json() == {"new": 2}, sent.text
    assert study.totals().rows == len(make_table().row_ids) + 3


def test_files_and_estimates(study, http):
    batch = study.ask(count=2)
    answer = http.get(api(study.name, "download", "table"), params={"format": "parquet"})
    assert answer.headers["content-disposition"] == 'attachment; filename="table.parquet"'
    assert answer.content.startswith(b"PAR1")
    assert len(study.download("ledger").splitlines()) == 3
    assert b"," in study.download("filled")
    for wrong in ({"format": "exe"}, {"ending": "csv"}):
        problem(http.get(api(study.name, "download", "table"), params=wrong), 422)
    problem(http.get(api(study.name, "download", "secrets")), 422)
    problem(http.get(api("nobody", "download", "table")), 404)
    found = study.estimates(batch[0].row)
    assert found["row"] == batch[0].row
    (cell,) = [each for each in found["cells"] if each["column"] == batch[0].column]
    assert cell["estimate"] is not None
    with pytest.raises(DataError, match="no row 'p100'"):
        study.estimates("p100")
    assert len(list(study.rows())) == study.totals().rows
    assert study.counts()["total"] == 2
    lines = "".join(f"{each.row},{each.column},\n" for each in batch)
    checked = study.tell_file(("a.csv", f"row,column,value\n{lines}".encode()), dry_run=True)
    assert (checked["new"], checked["blank"]) == (0, 2)
