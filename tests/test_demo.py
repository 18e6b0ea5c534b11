"""The demonstration: filling pays, and its campaign keeps to its budget."""

from cellworth.campaign.stores.memory import MemoryStore
from cellworth.demo import BUDGET, begin_campaign, play, run_demo


def test_the_demo_shows_that_filling_pays():
    demo = run_demo()
    means, supervised, gaussian = demo.fillings
    assert supervised.error < 0.8 * means.error
    assert gaussian.error < 0.8 * means.error
    assert 0.8 < demo.covered < 0.97


def test_the_campaign_of_the_demo_stays_within_its_budget_and_tells_the_truth():
    demo = run_demo()
    with begin_campaign(demo, MemoryStore(), rounds=2) as campaign:
        start, *rounds = play(campaign, demo, rounds=2)
        table = campaign.table
        bought = demo.table.holes & ~table.holes
        assert (start.told, start.spent) == (0, 0.0)
        assert rounds[-1].told == bought.sum() > 200
        assert rounds[-1].refused > 0
        assert 0.9 * 2 * BUDGET < rounds[-1].spent <= 2 * BUDGET
        assert (table.values[bought] == demo.truth[bought]).all()
    # The gain over two rounds is small; that it is no loss beyond its error is what holds for any seed.
    assert rounds[-1].auc.value > start.auc.low
