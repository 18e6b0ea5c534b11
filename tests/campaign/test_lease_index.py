"""The arrays of open cells say what a plain loop over all of them says, and cost little."""

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cellworth.campaign.lease_index import LeaseIndex, Sought

START = datetime(2024, 1, 1, tzinfo=UTC)
COLUMNS = 4
cells = st.tuples(st.integers(0, 5), st.integers(0, COLUMNS - 1))
people = st.sampled_from(["Ann", "Bea", "Cy"])
hours = st.integers(1, 9).map(lambda number: START + timedelta(hours=number))
changes = st.lists(
    st.one_of(
        st.tuples(st.just("ask"), cells, st.none() | people, st.none() | hours),
        st.tuples(st.just("close"), cells),
        st.tuples(st.just("hold"), st.lists(cells, max_size=4), people, hours),
        st.tuples(st.just("give back"), st.lists(cells, max_size=4)),
    ),
    max_size=200,
)


def played(steps):
    """Play changes on an index, and on plain dicts of asks and holds."""
    index, asked, held, place = LeaseIndex(), {}, {}, 0
    for kind, what, *others in steps:
        if kind == "ask":
            who, until = others
            place += 1
            asked.pop(what, None)
            held.pop(what, None)
            asked[what] = SimpleNamespace(place=place, who=who, until=until)
            index.ask(what, place=place, who=who, until=until)
        elif kind == "close":
            asked.pop(what, None)
            held.pop(what, None)
            index.close(what)
        elif kind == "hold":
            who, until = others
            held.update({cell: SimpleNamespace(who=who, until=until) for cell in what if cell in asked})
            index.hold(what, who, until)
        else:
            for cell in what:
                held.pop(cell, None)
            index.give_back(what)
    return index, asked, held


def plain(asked, held, time):
    """Yield each cell that is out, with its place, asker and holder."""
    for cell, ask in asked.items():
        if ask.until is None or ask.until > time:
            hold = held.get(cell)
            yield cell, ask.place, ask.who, None if hold is None or hold.until <= time else hold.who


@given(
    changes,
    hours,
    st.builds(
        Sought,
        st.none() | st.sets(st.integers(0, 5)).map(lambda rows: np.array(sorted(rows), dtype=np.int64)),
        st.none() | st.integers(0, COLUMNS - 1),
        st.none() | people,
        st.none() | people,
        st.booleans(),
    ),
    st.booleans(),
    st.integers(1, 5),
)
def test_as_a_plain_loop(steps, time, sought, by_row, most):
    index, asked, held = played(steps)
    out = list(plain(asked, held, time))
    expected = [
        (cell[0] * COLUMNS + cell[1] + 1 if by_row else place, cell)
        for cell, place, asker, holder in out
        if (sought.rows is None or cell[0] in sought.rows)
        and sought.column in (None, cell[1])
        and sought.asker in (None, asker)
        and sought.holder in (None, holder)
        and not (sought.free and holder is not None)
    ]
    found, after = [], 0
    for copy in (index, LeaseIndex.of(asked, held)):
        found, after = [], 0
        while after is not None:
            page, after, total = copy.find(sought, time, after, most, COLUMNS if by_row else None)
            assert total == len(expected)
            assert len(page) <= most
            found += page
        assert found == [cell for _, cell in sorted(expected)]
        counts = copy.counts(time)
        assert counts.total == len(out)
        assert counts.free == sum(holder is None for *_, holder in out)
        for field, at in (("askers", 2), ("holders", 3)):
            names = [each[at] for each in out if field == "askers" or each[at] is not None]
            assert getattr(counts, field) == {name: names.count(name) for name in names}
        columns = [cell[1] for cell, *_ in out]
        assert counts.columns == {j: columns.count(j) for j in columns}
        ends = [hold.until for hold in held.values()]
        assert copy.holds_end_between(START, time) == any(START < until <= time for until in ends)
        assert copy.rows(time).tolist() == sorted({cell[0] for cell, *_ in out})


def test_slots_of_closed_cells_are_used_again():
    index = LeaseIndex()
    for place in range(5000):
        index.ask((place, 0), place=place + 1, who=None, until=None)
        if place >= 10:
            index.close((place - 10, 0))
    assert len(index._open) <= 64
    assert index.find(Sought(), START, 0, 3, None) == ([(4990, 0), (4991, 0), (4992, 0)], 4993, 10)
