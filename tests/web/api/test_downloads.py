"""Downloads and estimates by REST."""

import pytest

from cellworth.errors import DataError
from tests.web.servers import api, problem


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
