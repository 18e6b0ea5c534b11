"""An ask in the worker brings back what a rule to stop says."""

from cellworth import Prices, StopRule
from cellworth.web.ask_job import ask_and_tell
from tests.campaign.campaigns import begin, gaussian_table


def test_the_reason_comes_back_with_the_batch():
    campaign = begin(gaussian_table()[0], prices=Prices.same(2.0), strategy="random")
    assert ask_and_tell(campaign, None, 2).stop is None  # there is no forecast
    stopped = ask_and_tell(campaign, None, 2, until=StopRule(least_gain=1.0))
    assert not stopped.batch
    assert stopped.stop.startswith("Stop: ")
    batch, stop = ask_and_tell(campaign, None, 2, until=StopRule(least_gain=1e-9))
    assert (len(batch), stop) == (2, None)
