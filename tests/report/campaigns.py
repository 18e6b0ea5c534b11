"""A campaign with some history, for the tests of summaries."""

import json

from tests.campaign.campaigns import answers_to, begin, make_table


def played(rounds=3, **keywords):
    """Return a campaign with answers, a refusal in each round, and open cells."""
    campaign = begin(make_table(60), budget=200.0, **keywords)
    for _ in range(rounds):
        batch = campaign.ask(count=8, who="Ann")
        campaign.tell(answers_to(batch[:6]), who="Bob")
        campaign.refuse(batch[6:7], "the sample is lost")
    return campaign


def as_json(found):
    """Return the length of what is sent; fails on NaN, infinity and anything that is not to_json."""
    text = json.dumps(found, allow_nan=False)
    assert json.loads(text) == found
    return len(text)
