"""What people may report, and what they hear if they must not."""

from datetime import date, timedelta

import numpy as np
import pandas
import pytest

from cellworth import Prices, Table
from cellworth.errors import ConflictError, DataError, ParameterError
from tests.campaign.campaigns import Clock, answers_to, begin, cells, hole, make_table


@pytest.fixture
def campaign():
    return begin()


@pytest.mark.parametrize(
    ("column", "value", "stands_for"),
    [
        ("dose", 3, 3.0),
        ("dose", "3.25", 3.25),
        ("age", np.int64(61), 61.0),
        ("stage", "II", 1.0),
        ("hue", " red ", 2.0),
        ("smokes", "yes", 1.0),
        ("smokes", False, 0.0),
        ("visit", date(1970, 1, 3), 2.0),
        ("visit", "1970-01-03", 2.0),
    ],
)
def test_values_come_in_the_users_own_terms(campaign, column, value, stands_for):
    row, _ = hole(campaign, column)
    assert campaign.tell([(row, column, value)], unsolicited=True, insist=True) == 1
    table = campaign.table
    assert table.values[table.row_index(row), table.column_index(column)] == stands_for


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (("p99x", "dose", 1.0), "no row 'p99x'"),
        (("p1", "dosis", 1.0), "no column 'dosis'. Did you mean 'dose'"),
        (("p1", "outcome", "dead"), "row 'p1', column 'outcome': expected one of 'ill', 'well', got 'dead'"),
        ((None, "stage", "IV"), "row 'p.*', column 'stage': expected one of 'I', 'II', 'III', got 'IV'"),
        ((None, "age", 61.5), "row 'p.*', column 'age': expected a whole number from 0 to 120, got 61.5"),
        ((None, "age", 121), "from 0 to 120, got 121"),
        ((None, "dose", "much"), "column 'dose': expected a number from 0, got 'much'"),
        ((None, "dose", None), "expected a number"),
        ((None, "dose", float("nan")), "expected a number"),
        ((None, "visit", "yesterday"), "expected a date such as"),
    ],
)
def test_a_wrong_answer_is_named_and_nothing_is_recorded(campaign, answer, message):
    row, column, value = answer
    good = hole(campaign, "smokes")
    with pytest.raises(DataError, match=message):
        campaign.tell([(*good, True), (row or hole(campaign, column)[0], column, value)], unsolicited=True)
    assert campaign.number == 0


def test_an_answer_that_was_never_asked_for(campaign):
    cell = hole(campaign)
    with pytest.raises(DataError, match=r"never asked for.*unsolicited=True"):
        campaign.tell({cell: 5.0})
    campaign.tell({cell: 5.0}, unsolicited=True)
    assert campaign.spent == 0
    campaign.tell({hole(campaign): 5.0}, unsolicited=True, price=4.5)
    assert campaign.spent == 4.5
    with pytest.raises(ParameterError, match="price of an answer"):
        campaign.tell({hole(campaign): 5.0}, unsolicited=True, price=-1)


def test_the_same_answer_twice_is_fine_and_another_is_not(campaign):
    batch = campaign.ask(count=3)
    assert campaign.tell(answers_to(batch)) == 3
    number = campaign.number
    assert campaign.tell(answers_to(batch)) == 0
    assert campaign.number == number
    cell = hole(campaign)
    campaign.tell({cell: 5.0}, unsolicited=True)
    with pytest.raises(ConflictError, match=r"row '.*', column 'dose': got 6.0, but 5.0 is known.*correct"):
        campaign.tell({cell: 6.0})
    known = campaign.original.values[0, 0]
    assert campaign.tell({("p0", "dose"): known}) == 0
    with pytest.raises(ConflictError, match="from the start"):
        campaign.tell({("p0", "dose"): known + 1})
    with pytest.raises(DataError, match="two answers at once"):
        campaign.tell([(*hole(campaign), 1.0), (*hole(campaign), 2.0)], unsolicited=True)


def test_an_expired_cell_may_be_asked_for_again_and_the_first_answer_wins():
    clock = Clock()
    table = make_table(n=6)
    campaign = begin(table, clock=clock, budget=None, strategy="random-gaussian")
    everything = int(table.holes.sum())
    first = campaign.ask(count=everything, lease="12h", who="Ann")
    assert len(first) == everything
    assert campaign.ask(count=1) == []
    clock.advance(hours=12)  # a lease runs out at its end, not after it
    again = campaign.ask(count=everything, lease=None, who="Bob")
    assert {cells_[:2] for cells_ in cells(again)} == {cells_[:2] for cells_ in cells(first)}
    assert campaign.reserved == pytest.approx(sum(purchase.price for purchase in again))
    campaign.tell(answers_to(first[:1]), who="Ann")
    assert len(campaign.open_purchases()) == everything - 1
    clock.advance(days=9999)
    assert len(campaign.open_purchases()) == everything - 1
    assert campaign.spent == again[[p[:2] for p in cells(again)].index(cells(first)[0][:2])].price


def test_a_lease_that_was_cancelled_does_not_end_the_next_one():
    clock = Clock()
    campaign = begin(make_table(n=6), clock=clock, budget=None)
    campaign.cancel(campaign.ask(count=1000, lease="1h"))
    again = campaign.ask(count=1000, lease="9h")
    clock.advance(hours=2)
    campaign.extend({"new": {"age": 50}})
    (more,) = campaign.ask(count=1)
    assert more.row == "new"
    assert len(campaign.open_purchases()) == len(again) + 1


def test_refused_cells_are_never_asked_for_again(campaign):
    batch = campaign.ask(count=5)
    reserved = campaign.reserved
    assert campaign.refuse(batch[:2], "moved away", who="Ann") == 2
    assert campaign.refuse(batch[:2], "moved away") == 0
    assert campaign.reserved == pytest.approx(reserved - batch[0].price - batch[1].price)
    rest = begin(store=None, budget=None)
    gone = rest.ask(count=10)
    rest.refuse(gone, "lost")
    everything = rest.ask(count=10_000)
    assert not {p[:2] for p in cells(gone)} & {p[:2] for p in cells(everything)}
    with pytest.raises(ConflictError, match="has the value"):
        campaign.refuse([("p0", "dose")], "lost")
    with pytest.raises(ParameterError, match="the reason must be text"):
        campaign.refuse(batch, " ")
    with pytest.raises(ParameterError, match="a cell must be"):
        campaign.refuse([("p0", "dose", 1)], "lost")
    campaign.tell(answers_to(batch[:1]))  # it came after all
    assert campaign.spent == batch[0].price


def test_cancelled_cells_go_back_to_the_pool(campaign):
    batch = campaign.ask(count=3)
    assert campaign.cancel(batch[:1]) == 1
    assert campaign.cancel(batch[:1]) == 0
    assert len(campaign.open_purchases()) == 2
    asked = {cell[:2] for cell in cells(batch)}
    never = next(cell for cell in (hole(campaign, "dose", k) for k in range(9)) if cell not in asked)
    with pytest.raises(DataError, match="never asked for"):
        campaign.cancel([never])
    campaign.refuse(batch[1:2], "lost")
    with pytest.raises(ConflictError, match="was refused"):
        campaign.cancel(batch[1:2])
    campaign.tell(answers_to(batch[2:]))
    with pytest.raises(ConflictError, match="cannot be cancelled"):
        campaign.cancel(batch[2:])


def test_answers_and_cells_of_the_wrong_shape(campaign):
    with pytest.raises(ParameterError, match="answers must be a mapping"):
        campaign.tell("p1")
    with pytest.raises(ParameterError, match="an answer must be"):
        campaign.tell([("p1", "dose")])
    with pytest.raises(ParameterError, match="a cell must be"):
        campaign.tell({"p1": 3.0})


@pytest.mark.parametrize("number", [1e160, -1e31, 1e308])
def test_numbers_too_large_to_compute_with_never_get_in(number):
    words = (
        r"row 'p\w+', column 'dose'.*(expected a number between -1e\+30 and 1e\+30|expected a number from 0)"
    )
    campaign = begin(strategy="linear-impact")
    table = campaign.table
    row = table.row_ids[int(np.flatnonzero(table.holes[:, 0])[0])]
    with pytest.raises(DataError, match=words):
        campaign.tell({(row, "dose"): number}, unsolicited=True, insist=True)
    with pytest.raises(DataError, match=words):
        campaign.correct("p0", "dose", number, insist=True)
    with pytest.raises(DataError, match=words):
        campaign.extend({"p99": {"dose": number}})
    assert campaign.number == 0
    free = Table.from_arrays([[1.0, 2.0], [number, np.nan]], columns=["dose", "b"], row_ids=["p1", "p2"])
    with pytest.raises(DataError, match=words):
        begin(free, prices=Prices.same(1.0))


def test_limits_beyond_what_a_date_or_a_float_holds_are_refused():
    campaign = begin(strategy="linear-impact")
    for lease in (timedelta.max, timedelta(days=4_000_000), "999999d"):
        with pytest.raises(ParameterError, match="at most 36525 days"):
            campaign.ask(count=1, lease=lease)
        with pytest.raises(ParameterError, match="at most 36525 days"):
            campaign.take(1, who="Ann", lease=lease)
    for budget in (10**400, float("inf"), float("nan"), -1):
        with pytest.raises(ParameterError, match="budget"):
            campaign.ask(budget=budget)
        with pytest.raises(ParameterError, match="budget"):
            begin(budget=budget)
    assert campaign.number == 0


def test_a_comment_stays_with_its_answers(campaign):
    campaign.tell([(*hole(campaign), 1.5)], unsolicited=True, reason="unsure: from a letter")
    campaign.tell([(*hole(campaign), 2.5)], unsolicited=True)
    commented, plain = campaign.history()[-2:]
    assert commented["reason"] == "unsure: from a letter"
    assert "reason" not in plain  # as it was before there were comments
    assert campaign.replay(campaign.number).history()[-2:] == [commented, plain]
    with pytest.raises(ParameterError, match="the comment"):
        campaign.tell([(*hole(campaign), 3.5)], unsolicited=True, reason=" ")


def test_a_contradicted_date_is_shown_as_the_user_writes_dates(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("visit,ill\n24.03.2022,yes\n,no\n01.04.2022,no\n")
    table = Table.read(path, target="ill", date_format="%d.%m.%Y")
    campaign = begin(table, prices=Prices.same(1.0), strategy="random")
    with pytest.raises(ConflictError, match=r"got '01\.02\.2024', but '24\.03\.2022' is known"):
        campaign.tell([("0", "visit", "2024-02-01")], unsolicited=True)


def test_answers_in_a_frame(campaign):
    batch = campaign.ask(count=3)
    frame = batch.to_frame()
    assert list(frame["row"]) == [each.row for each in batch]
    told = answers_to(batch)
    frame["value"] = [told[each.row, each.column] for each in batch]
    frame.loc[2, "value"] = None  # still to come
    assert campaign.tell(frame) == 2
    assert len(campaign.open_purchases()) == 1
    with pytest.raises(DataError, match="got none for 'row', 'column', 'value'"):
        campaign.tell(pandas.DataFrame({"age": [50]}))
