"""Several writers at once: nothing is lost, nothing is asked for twice, all advisers stay the same."""

import threading

import numpy as np
import pytest

from cellworth.campaign import Campaign
from cellworth.campaign.stores import open_store
from cellworth.campaign.stores.memory import MemoryStore
from cellworth.errors import ConflictError
from tests.campaign.campaigns import (
    Clock,
    Interrupted,
    answers_to,
    begin,
    cells,
    check_next_ask,
    counted_completions,
    make_table,
    rounds_of,
    same_state,
)


def test_an_answer_comes_in_between(shared):
    store, clock, other = shared
    batch = other.ask(count=6)
    late = Campaign.open(Interrupted(store, lambda: other.tell(answers_to(batch))), clock=clock)
    mine = late.ask(count=6)
    assert len(mine) == 6
    assert not {c[:2] for c in cells(mine)} & {c[:2] for c in cells(batch)}
    assert [event["kind"] for event in late.history()] == ["asked", "told", "asked"]
    assert rounds_of(late) == [0]  # no further round in an attempt that is repeated
    check_next_ask(late, store, clock)
    check_next_ask(other, store, clock)


def test_somebody_else_asks_for_the_same_cells(shared):
    store, clock, other = shared
    taken = []
    late = Campaign.open(Interrupted(store, lambda: taken.extend(other.ask(count=6))), clock=clock)
    with counted_completions() as counted:
        mine = late.ask(count=6)
    assert not {c[:2] for c in cells(mine)} & {c[:2] for c in cells(taken)}
    assert rounds_of(late) == [0]
    assert len(counted) == 2  # the other's round was the same as the one that had been run here
    check_next_ask(late, store, clock)


def test_many_interruptions_in_a_row(shared):
    store, clock, other = shared
    asks = [lambda: other.ask(count=1)] * 5
    late = Campaign.open(Interrupted(store, *asks), clock=clock)
    assert len(late.ask(count=3)) == 3
    assert len({c[:2] for c in cells(late.open_purchases())}) == 8


def test_the_budget_is_shared():
    clock, store = Clock(), MemoryStore()
    other = begin(store=store, clock=clock, budget=6.0)
    late = Campaign.open(Interrupted(store, lambda: other.ask(budget=4.0)), clock=clock)
    late.ask()
    assert late.spent + late.reserved <= 6.0
    assert late.left >= 0


def test_two_answers_to_one_cell(shared):
    store, clock, other = shared
    (purchase,) = other.ask(count=1)
    cell = purchase.row, purchase.column
    ours = answers_to([purchase])
    late = Campaign.open(Interrupted(store, lambda: other.tell(ours)), clock=clock)
    assert late.tell(ours) == 0
    assert late.number == 2
    wrong = {"dose": 99.0, "age": 99, "stage": "III", "hue": "red", "smokes": False, "visit": "2020-01-01"}
    with pytest.raises(ConflictError, match="Use correct"):
        late.tell({cell: wrong[cell[1]]})


def test_eight_writers_on_one_file(tmp_path):
    """Each asks and answers; in the end all advisers would go on in the same way."""
    url = f"sqlite:///{tmp_path}/study.db"
    clock = Clock()
    begin(make_table(n=40), prices=None, store=url, budget=200.0, clock=clock).close()
    mine, errors, previews = [[] for _ in range(8)], [], []
    all_done = threading.Barrier(8, timeout=60)

    def work(k):
        try:
            with Campaign.open(url, clock=clock) as campaign:
                for _ in range(3):
                    batch = campaign.ask(count=2, who=f"writer {k}")
                    mine[k].extend(cells(batch))
                    campaign.tell(answers_to(batch[:1]), who=f"writer {k}")
                all_done.wait()
                previews.append(cells(campaign.preview(count=6)))
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert len(previews) == 8
    assert all(each == previews[0] for each in previews)
    asked = [cell[:2] for batch in mine for cell in batch]
    assert len(asked) == len(set(asked)) == 48
    store = open_store(url)
    campaign = Campaign.open(store, clock=clock)
    assert campaign.number == 48
    assert len(campaign.open_purchases()) == 24
    assert np.isclose(campaign.spent + campaign.reserved, 48.0)
    based_on = rounds_of(campaign)
    assert based_on == sorted(set(based_on))
    check_next_ask(campaign, store, clock)
    store.close()


def test_an_answer_that_contradicts_a_known_value_is_kept_in_the_log_and_changes_nothing():
    store = MemoryStore()
    campaign = begin(store=store, strategy="random")
    first, second = campaign.ask(count=2)
    known = answers_to([first])
    campaign.tell(known, who="Ann")
    other = {
        key: {"stage": "III", "hue": "red", "smokes": False, "visit": "2024-03-03"}.get(key[1], 22)
        for key in known
    }
    before, number = campaign.table, campaign.number
    for _ in range(2):  # sent twice, it is noted once
        with pytest.raises(ConflictError, match=r"is known, as an answer.*Use correct"):
            campaign.tell({**other, **answers_to([second])}, who="Bob", key="k")
    assert campaign.number == number + 1
    assert campaign.table.equals(before)
    event = campaign.events()[-1]
    [(cell, value)] = other.items()
    assert (event.kind, event.who) == ("contradicted", "Bob")
    assert event.content.cells == ((*cell, value, known[cell]),)
    assert campaign.history()[-1]["cells"][0]["known"] == known[cell]
    assert str(value) in set(campaign.history("pandas")["value"])
    assert campaign.spent == first.price
    assert campaign.tell(answers_to([second]), who="Bob", key="k") == 1  # the key is still free
    assert campaign.correct(*cell, value)
    assert campaign.tell(other) == 0
    with pytest.raises(ConflictError):
        campaign.tell(known)  # now the first answer is the one that differs
    assert campaign.events()[-1].content.cells[0].known == value
    assert same_state(Campaign.open(store, clock=Clock()), campaign)


def test_contradictions_of_a_file_are_kept_too_and_those_of_a_check_are_not(tmp_path):
    campaign = begin(strategy="random")
    (cell,) = campaign.ask(count=1)
    campaign.correct("p0", "age", 33)
    path = tmp_path / "answers.csv"
    path.write_text(
        f"row,column,value\np0,age,34\n{cell.row},{cell.column},{answers_to([cell])[cell.row, cell.column]}\n"
    )
    with pytest.raises(ConflictError):
        campaign.check_file(path)
    assert campaign.number == 2
    with pytest.raises(ConflictError, match="line 2"):
        campaign.tell_file(path, who="Bob")
    assert [event.kind for event in campaign.events()] == ["asked", "corrected", "contradicted"]
