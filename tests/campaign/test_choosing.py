"""What can be bought, and what cells owe that share fees."""

from cellworth.campaign.budget_and_prices import BudgetAndPrices
from cellworth.campaign.choosing import Limits
from cellworth.campaign.log import Log
from tests.campaign.campaigns import begin, make_table


def test_it_is_plain_when_nothing_can_be_bought():
    campaign = begin(make_table(n=8, seed=3), prices=2.0, strategy="random")
    log = campaign._log
    chooser = log.founding.chooser(log, BudgetAndPrices(log))
    now = log.now()
    assert isinstance(log, Log)
    assert chooser.can_buy(Limits(2.0, None), now)
    assert not chooser.can_buy(Limits(1.99, None), now)
    assert not chooser.can_buy(Limits(None, 0), now)
    campaign.ask(count=10_000, lease="1h")
    assert not chooser.can_buy(Limits(None, 1), log.now())
