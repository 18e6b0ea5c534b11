"""Next steps of rows as plain data."""

import json

from cellworth.report.row_summaries import known_values, next_step, undecided_steps

SAID = {"budget": 1000.0, "model": "logistic regression", "draws": 64}


def test_new_rows_and_rows_of_the_table(campaign):
    new = next_step(campaign, {}, **SAID)
    assert json.loads(json.dumps(new)) == new
    assert new["row"] is None
    row = campaign.table.row_ids[4]
    known = known_values(campaign, row)
    assert known == {
        column.name: column.format(cell)
        for column, cell in zip(campaign.table.columns, campaign.table.values[4], strict=True)
        if cell == cell
    }
    old = next_step(campaign, {}, row, **SAID)
    assert old["row"] == row
    assert {cell["column"] for cell in old["cells"]} == set(campaign.table.column_names) - set(known)
    taken = new["take"][0]
    assert taken not in next_step(campaign, {}, refused=[taken], **SAID)["take"]
    assert undecided_steps(campaign, **SAID) == []  # all rows have labels
