"""Leases: how long they are, and when they have ended."""

from datetime import UTC, datetime, timedelta

import pytest

from cellworth.campaign.leases import Hold, Leases, has_ended, parse_lease
from cellworth.errors import ParameterError

NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)


HOUR = timedelta(hours=1)


def ask(cells, cell, until, number=1):
    cells.ask(cell, terms=1.0, worth=2.0, why="because", until=until, number=number, who="Ann")


def test_a_lease_is_a_text_a_span_or_none():
    assert parse_lease("7d") == timedelta(days=7)
    assert parse_lease(" 1.5 h") == timedelta(minutes=90)
    assert parse_lease("30m") == parse_lease(timedelta(minutes=30)) == timedelta(minutes=30)
    assert parse_lease(None) is None
    for wrong in ("", "soon", "7", "-1d", "0h", 7, timedelta(0), "1w"):
        with pytest.raises(ParameterError, match="a lease must be a time"):
            parse_lease(wrong)


def test_a_lease_ends_at_its_moment():
    assert not has_ended(NOON, NOON - timedelta(microseconds=1))
    assert has_ended(NOON, NOON)
    assert not has_ended(None, NOON)


def test_cells_are_out_until_their_lease_ends():
    cells = Leases()
    ask(cells, (0, 0), NOON)
    ask(cells, (0, 1), None)
    ask(cells, (1, 0), NOON + HOUR)
    assert list(cells.out(NOON - HOUR)) == [(0, 0), (0, 1), (1, 0)]
    assert list(cells.out(NOON)) == [(0, 1), (1, 0)]
    assert cells.expired(NOON) == [(0, 0)]
    assert not cells.is_out((0, 0), NOON)
    assert cells.is_out((1, 0), NOON)
    assert not cells.is_out((5, 5), NOON)
    assert cells.close((1, 0)).terms == 1.0
    assert cells.close((1, 0)) is None
    assert cells.expired(NOON + HOUR) == [(0, 0)]
    assert cells.forget_ended(NOON + HOUR) == [(0, 0)]
    assert cells.forget_ended(NOON + HOUR) == []


def test_a_cell_that_is_asked_for_again_has_a_lease_of_its_own():
    cells = Leases()
    ask(cells, (0, 0), NOON, number=1)
    for cell in cells.forget_ended(NOON):
        cells.close(cell)
    ask(cells, (0, 0), NOON + 2 * HOUR, number=2)
    assert cells.expired(NOON + HOUR) == []
    assert cells.asked[0, 0].place == 2


def test_who_has_a_cell():
    cells = Leases()
    ask(cells, (0, 0), None)
    ask(cells, (0, 1), None)
    cells.hold([(0, 0), (0, 1)], Hold("Bea", NOON))
    assert cells.holder((0, 0), NOON - HOUR).who == "Bea"
    assert cells.holder((0, 0), NOON) is None
    cells.give_back([(0, 0), (3, 3)])
    assert cells.holder((0, 0), NOON - HOUR) is None
    cells.close((0, 1))
    assert cells.holder((0, 1), NOON - HOUR) is None


@pytest.mark.parametrize(
    ("lease", "span"),
    [
        ("7d", timedelta(days=7)),
        (" 12 h", timedelta(hours=12)),
        ("1.5h", timedelta(minutes=90)),
        ("30m", timedelta(minutes=30)),
        (timedelta(seconds=1), timedelta(seconds=1)),
        (None, None),
    ],
)
def test_leases(lease, span):
    assert parse_lease(lease) == span


@pytest.mark.parametrize("lease", ["0d", "-1d", "d", "7 weeks", 7, timedelta(0), "1e9d"])
def test_leases_that_make_no_sense(lease):
    with pytest.raises(ParameterError, match="'7d', '12h' or '30m'"):
        parse_lease(lease)
