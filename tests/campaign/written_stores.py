"""Write a store with a campaign of every kind of event, and what is said of it.

Whenever the schema or the layout of an event changes, write another one beside those that are there, named by
the version, and never one of them again: ``python -m tests.campaign.written_stores VERSION``.
"""

import contextlib
import json
import sys
from pathlib import Path

from cellworth import Prices
from cellworth.campaign import Campaign
from cellworth.errors import ConflictError
from tests.campaign.campaigns import PRICES, Clock, answers_to, begin, make_table

DATA = Path(__file__).parent / "data"


def write(path):
    """Play a campaign that has all kinds of events."""
    clock, fast = Clock(), Clock()
    campaign = begin(make_table(24), store=path, clock=clock, strategy="linear-impact", who="Ann", seed=3)
    batch = campaign.ask(count=6, who="Ann", key="first ask")
    campaign.take(batch[:3], who="Bob")
    campaign.give_back(batch[:1], who="Bob")
    campaign.release(batch[1:2], who="Ann", reason="Bob is ill")
    clock.advance(hours=2)
    campaign.tell(answers_to(batch[:3]), who="laboratory", key="first tell")
    other = {"dose": 22.5, "age": 48, "stage": "III", "hue": "red", "smokes": False, "visit": "2024-01-09"}
    with contextlib.suppress(ConflictError):
        campaign.tell([(batch[0].row, batch[0].column, other[batch[0].column])], who="Cy")
    campaign.refuse(batch[3:4], "the sample is lost", who="Bob")
    campaign.cancel(batch[4:5], who="Ann")
    campaign.correct("p0", "age", 33, who="Dee", reason="misread")
    campaign.extend({"q1": {"age": 40, "outcome": "ill"}, "q2": {}}, who="Ann")
    campaign.change_budget(80, who="Ann", reason="a grant")
    campaign.change_prices(Prices(PRICES.cells, PRICES.groups, visit=0.5), who="Ann", reason="travel")
    campaign.ask(count=4, lease="12h", who="Ann")
    fast.time = clock.time
    fast.advance(days=300)
    with Campaign.open(path, clock=fast) as wrong:
        wrong.ask(count=1, who="Zoe")
    clock.advance(hours=1)
    campaign.set_clock(who="Ann", reason="a fast clock")
    campaign.ask(budget=5, who="Bob")
    campaign.change_stage("closed", who="Ann", reason="a pause")
    campaign.change_stage("open", who="Ann")
    campaign.add_category("hue", "pink", who="Ann", reason="seen")
    campaign.add_category("stage", "0", before="I", who="Ann")
    campaign.extend({"q3": {"hue": "pink", "stage": "0"}}, who="Ann")
    campaign.close()
    return clock.time


def said_of(campaign):
    """Return what is said of a campaign, as plain data."""
    plain = {
        "history": campaign.history(),
        "totals": vars(campaign.totals()),
        "open": [vars(each) for each in campaign.open_purchases()],
        "table": campaign.table.to_csv(),
        "prices": campaign.prices.to_dict(),
        "replays": {
            str(number): [vars(campaign.replay(number).totals()), campaign.replay(number).table.to_csv()]
            for number in range(campaign.number + 1)
        },
    }
    return json.loads(json.dumps(plain, default=lambda value: value.isoformat()))


def main(version):
    """Write a store and what is said of it, unless it is there."""
    path = DATA / f"all-events-{version}.db"
    assert not path.exists(), f"{path} must never be written again"
    now = write(path)
    clock = Clock()
    clock.time = now
    with Campaign.open(path, clock=clock) as campaign:
        said = {"now": now.isoformat(), **said_of(campaign)}
    path.with_suffix(".json").write_text(json.dumps(said, indent=1) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
