"""The cells of a campaign as they are now, as arrays and row by row."""

from tests.campaign.campaigns import answers_to, begin, make_table


def test_worths_are_those_of_the_next_ask():
    campaign = begin(make_table(40), budget=None)
    campaign.tell(answers_to(campaign.ask(count=4)))
    found = campaign.cells()
    assert ((found.worth > 0) <= found.available).all()
    assert (found.known | found.bought | found.refused | found.available).all()
    table = campaign.table
    for purchase in campaign.ask(count=5):
        cell = table.row_index(purchase.row), table.column_index(purchase.column)
        assert found.worth[cell] == purchase.worth
        assert found.price[cell] >= purchase.price


def test_a_row_says_of_each_cell_what_it_is():
    campaign = begin(make_table(20), budget=None)
    batch = campaign.ask(count=6)
    campaign.tell(answers_to(batch[:2]))
    campaign.refuse(batch[2:3], "lost")
    campaign.cancel(batch[5:])
    rows = campaign.rows()
    assert [(record.row, record.place) for record in rows] == [(f"p{i}", i) for i in range(20)]
    found = {(record.row, cell.column): cell for record in rows for cell in record.cells}
    words = ("bought", "bought", "refused", "out", "out", "missing")
    assert [found[p.row, p.column].status for p in batch] == list(words)
    for (row, column), cell in found.items():
        hole = campaign.table.holes[campaign.table.row_index(row), campaign.table.column_index(column)]
        assert (cell.value is None) == hole
        assert (cell.status in ("known", "bought")) != hole
