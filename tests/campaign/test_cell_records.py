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
