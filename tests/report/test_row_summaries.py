"""Guesses as short texts, within what is possible."""

import numpy as np
import pytest

from cellworth import Table
from cellworth.campaign import Campaign
from cellworth.campaign.stores import MemoryStore
from cellworth.report.row_summaries import guesses_summary, row_guesses


@pytest.fixture(scope="module")
def campaign():
    """Small counts with a long tail, none of them negative, whose intervals would reach below 0."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.poisson(0.4, 80), rng.exponential(0.3, 80), rng.normal(size=80)]).astype(float)
    X[rng.random(X.shape) < 0.3] = np.nan
    table = Table.from_arrays(X, columns=["ca", "oldpeak", "z"])
    return Campaign.create(table, store=MemoryStore(), strategy="random")


def ends(guess):
    return [float(part) for part in guess if part]


def test_guesses_are_not_below_what_was_ever_seen(campaign):
    table = campaign.table
    cells = [(table.row_ids[i], table.column_names[j]) for i, j in np.argwhere(table.holes)]
    found = dict(zip(cells, guesses_summary(campaign, cells), strict=True))
    assert all(found.values())
    for (_, column), guess in found.items():
        if column in ("ca", "oldpeak"):
            assert min(ends(guess)) >= 0
    assert min(min(ends(guess)) for (_, column), guess in found.items() if column == "z") < 0


def test_rows_have_a_guess_where_a_value_is_missing(campaign):
    holes = campaign.table.holes
    for place, texts in zip((0, 5), row_guesses(campaign, [0, 5]), strict=True):
        assert [text is not None for text in texts] == holes[place].tolist()
    assert guesses_summary(campaign, []) == []
