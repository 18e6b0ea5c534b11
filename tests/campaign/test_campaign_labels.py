"""Labels in a campaign: asked for, told, refused, corrected, leased and paid for like any cell."""

import numpy as np
import pytest

from cellworth import Prices, Table, advise
from cellworth.campaign import Campaign
from cellworth.campaign.cell_values import CellStatus
from cellworth.campaign.state import State
from cellworth.campaign.stores.memory import MemoryStore
from cellworth.errors import ConflictError, DataError, OverspentWarning, QuestionedError, WrongAnswersError
from tests.campaign.campaigns import Clock

PRICES = Prices.per_column({"state": 3.0}, default=1.0)
LABELS_ONLY = "label-error-reduction"


def lacking(labels=("ill", "well"), n=40, seed=0, **keywords):
    """Return a table that lacks a third of its cells and half of its labels."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=n)
    X = np.column_stack([z + 0.5 * rng.normal(size=n), rng.normal(size=n)])
    X[rng.random(X.shape) < 0.33] = np.nan
    y = np.array(labels, dtype=object)[
        np.digitize(z, np.linspace(-0.5, 0.5, len(labels) - 1) * (len(labels) > 2))
    ]
    y[rng.random(n) < 0.5] = None
    y[: len(labels)] = labels
    ids = [f"p{i}" for i in range(n)]
    return Table.from_arrays(X, y.tolist(), columns=["a", "b"], row_ids=ids, target="state", **keywords)


def begin(table=None, **keywords):
    keywords = {"prices": PRICES, "strategy": LABELS_ONLY, "budget": 60.0, "clock": Clock(), **keywords}
    return Campaign.create(lacking() if table is None else table, store=MemoryStore(), **keywords)


@pytest.mark.parametrize("strategy", ["recommended", LABELS_ONLY, "random-gaussian"])
def test_advice_preview_and_ask_agree(strategy):
    table = lacking()
    with begin(table, strategy=strategy) as campaign:
        expected = advise(table, prices=PRICES, budget=20.0, strategy=strategy)
        assert {each.column for each in expected} >= {"state"}
        assert campaign.preview(20.0) == expected
        assert [each[:4] for each in map(_plain, campaign.ask(20.0))] == [
            each[:4] for each in map(_plain, expected)
        ]


def _plain(each):
    return each.row, each.column, each.price, each.worth, each.why


def test_a_told_label_is_in_the_table_and_costs_what_was_asked():
    with begin() as campaign:
        batch = campaign.ask(9.0)
        assert (len(batch), campaign.reserved, campaign.totals().open) == (3, 9.0, 3)
        before = campaign.totals()
        assert campaign.tell({(batch[0].row, "state"): "ill", (batch[1].row, "state"): "well"}) == 2
        assert (campaign.spent, campaign.reserved, campaign.left) == (6.0, 3.0, 51.0)
        after = campaign.totals()
        assert (after.bought, after.missing) == (before.bought + 2, before.missing - 2)
        table = campaign.table
        assert table.target.values[table.row_index(batch[0].row)] == table.target.classes.index("ill")
        assert (
            campaign.original.target.values[table.row_index(batch[0].row)]
            != table.target.values[table.row_index(batch[0].row)]
        )
        assert campaign.tell({(batch[0].row, "state"): "ill"}) == 0
        assert campaign.row(batch[0].row).label.status == "bought"
        assert campaign.row(batch[2].row).label.status == "out"
        assert campaign.cells().bought[:, -1].sum() == 2


def test_a_label_that_is_known_contradicts_and_can_be_corrected():
    with begin() as campaign:
        known = campaign.original.row_ids[0]
        with pytest.raises(
            ConflictError, match="row 'p0', column 'state': got 'well', but 'ill' is known, from"
        ):
            campaign.tell({(known, "state"): "well"})
        assert [event.kind for event in campaign.events()] == ["contradicted"]
        with pytest.raises(ConflictError, match="cannot be refused"):
            campaign.refuse([(known, "state")], "no consent")
        assert campaign.correct(known, "state", "well", reason="a slip")
        assert campaign.table.target.values[0] == campaign.table.target.classes.index("well")
        assert campaign.original.target.values[0] == campaign.original.target.classes.index("ill")


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("sick", "expected one of 'ill', 'well', got 'sick'"),
        (3, "expected one of 'ill', 'well', got 3"),
        ("", "expected one of 'ill', 'well', got ''"),
        (None, "got None"),
    ],
)
def test_a_wrong_label_is_refused_and_nothing_is_recorded(value, message):
    with begin() as campaign:
        batch = campaign.ask(6.0)
        answers = {(batch[0].row, "state"): "ill", (batch[1].row, "state"): value}
        with pytest.raises(DataError, match=f"row '{batch[1].row}', column 'state': .*{message}"):
            campaign.tell(answers)
        assert [event.kind for event in campaign.events()] == ["asked"]
        assert campaign.spent == 0


def test_numbers_are_classes_only_if_they_were_seen_or_the_bounds_say_so():
    seen = begin(lacking((0, 1)))
    row = seen.ask(3.0)[0].row
    with pytest.raises(DataError, match="expected one of the classes 0, 1, got 2"):
        seen.tell({(row, "state"): 2})
    bounded = begin(lacking((0, 1, 2), bounds={"state": (0, 4)}))
    row = bounded.ask(3.0)[0].row
    with pytest.raises(DataError, match="from 0 to 4, got 5"):
        bounded.tell({(row, "state"): 5})
    bounded.tell({(row, "state"): 4})
    assert bounded.table.target.classes == (0, 1, 2, 4)


@pytest.mark.parametrize("strategy", ["recommended", "afasmc", LABELS_ONLY, "random-gaussian"])
def test_a_class_that_nobody_had_may_be_told_if_the_table_admits_it(strategy):
    table = lacking(categories={"state": ["dead", "ill", "well"]})
    assert (table.target.classes, table.target.kind) == (("ill", "well"), "two classes")
    with begin(table, strategy=strategy) as campaign:
        batch = campaign.ask(12.0)
        rows = [row for row, y in zip(table.row_ids, table.target.values, strict=True) if np.isnan(y)]
        campaign.tell({(row, "state"): "dead" for row in rows[:3]}, unsolicited=True)
        assert (campaign.table.target.classes, campaign.table.target.kind) == (
            ("dead", "ill", "well"),
            "several classes",
        )
        # Known labels keep their class, whatever its number.
        known = [i for i, y in enumerate(table.target.values) if not np.isnan(y)]
        for i in known:
            was = table.target.classes[int(table.target.values[i])]
            assert campaign.table.target.classes[int(campaign.table.target.values[i])] == was
        assert len(batch)
        assert len(campaign.ask(12.0))
        campaign.extend({"q1": {"a": 1.0, "state": "dead"}})
        assert campaign.row("q1").label.value == "dead"


def test_a_label_that_is_a_number_is_told_and_questioned_like_any_number():
    table = lacking()
    rng = np.random.default_rng(0)
    y = [None if rng.random() < 0.5 else float(value) for value in rng.normal(20, 2, size=40)]
    table = Table.from_arrays(table.values, y, columns=["a", "b"], row_ids=table.row_ids, target="state")
    with begin(table) as campaign:
        row = campaign.ask(3.0)[0].row
        with pytest.raises(DataError, match="expected a number, got 'high'"):
            campaign.tell({(row, "state"): "high"})
        with pytest.raises(QuestionedError, match="column 'state'"):
            campaign.tell({(row, "state"): 20000.0})
        assert campaign.tell({(row, "state"): 21.5}) == 1
        assert campaign.table.target.values[table.row_index(row)] == 21.5


def test_refused_cancelled_taken_and_released_labels():
    clock = Clock()
    with begin(clock=clock) as campaign:
        batch = campaign.ask(12.0, lease="7d")
        gone, back, mine, late = batch
        assert campaign.refuse([gone], "no consent") == 1
        assert campaign.cancel([back]) == 1
        assert (campaign.reserved, campaign.totals().refused) == (6.0, 1)
        [taken] = campaign.take([mine], who="ann")
        assert (taken.column, taken.holder) == ("state", "ann")
        with pytest.raises(ConflictError, match="is with 'ann'"):
            campaign.take([mine], who="bob")
        assert [each.column for each in campaign.open_purchases()] == ["state", "state"]
        assert campaign.open_counts().columns == {"state": 2}
        clock.advance(days=8)
        assert campaign.reserved == 0
        with pytest.raises(DataError, match="never asked for"):
            campaign.tell(
                {("p0", "a"): 1.0} if np.isnan(campaign.table.values[0, 0]) else {_hole(campaign): 1.0}
            )
        campaign.tell({(late.row, "state"): "ill"})
        assert campaign.spent == 3.0  # it arrived late, and still costs
        again = campaign.ask(40.0)
        assert (gone.row, "state") not in again.cells
        assert (back.row, "state") in campaign.preview(40.0).cells + again.cells


def _hole(campaign):
    i, j = np.argwhere(campaign.table.holes)[0].tolist()
    return campaign.table.row_ids[i], campaign.table.column_names[j]


def test_a_label_that_nobody_asked_for_is_recorded_only_on_request():
    with begin(prices=Prices.same(1.0), strategy="random-gaussian") as campaign:
        row = next(
            row
            for row, y in zip(campaign.table.row_ids, campaign.table.target.values, strict=True)
            if np.isnan(y)
        )
        before = campaign.totals()
        assert {each.column for each in campaign.preview(1000.0)} == {"a", "b"}
        with pytest.raises(DataError, match="was never asked for"):
            campaign.tell({(row, "state"): "ill"})
        assert campaign.tell({(row, "state"): "ill"}, unsolicited=True, price=5.0) == 1
        after = campaign.totals()
        assert (campaign.spent, after.bought) == (5.0, before.bought + 1)


def test_budgets_count_labels():
    with begin(budget=7.0) as campaign:
        assert campaign.ask().cost == 6.0
        assert len(campaign.ask()) == 0
        batch = campaign.open_purchases()
        with pytest.warns(OverspentWarning):
            campaign.tell({(batch[0].row, "state"): "ill"}, price=100.0)


def test_prices_of_labels_may_come_and_go():
    with begin(prices=Prices.same(1.0), strategy="random-gaussian") as campaign:
        campaign.ask(3.0)
        campaign.change_prices(PRICES)
        campaign.tell({each: 1.0 for each in campaign.ask(2.0).cells if each[1] != "state"})
        bought = campaign.ask(50.0)
        assert "state" in {each.column for each in bought}
        campaign.change_prices(Prices.same(1.0))
        campaign.cancel(bought)
        assert {each.column for each in campaign.preview(20.0)} <= {"a", "b"}


def test_a_file_of_asks_comes_back_with_labels(tmp_path):
    with begin() as campaign:
        batch = campaign.ask(9.0)
        batch.write(tmp_path / "asks.csv")
        text = (tmp_path / "asks.csv").read_text("utf-8-sig").splitlines()
        answered = [text[0], *(line + word for line, word in zip(text[1:], ["ill", "sick", ""], strict=True))]
        (tmp_path / "asks.csv").write_text("\n".join(answered))
        with pytest.raises(
            WrongAnswersError, match=r"line 3, column 'value'.*column 'state': expected one of"
        ):
            campaign.tell_file(tmp_path / "asks.csv")
        assert campaign.spent == 0
        (tmp_path / "asks.csv").write_text("\n".join(answered).replace("sick", "well"))
        assert vars(campaign.tell_file(tmp_path / "asks.csv")) == {"new": 2, "known": 0, "blank": 1}
        assert campaign.table.target.values[campaign.table.row_index(batch[1].row)] == 1.0


def everything(clock=None):
    """Return a campaign in which all that can happen to a label has happened."""
    campaign = begin(
        lacking(categories={"state": ["dead", "ill", "well"]}), budget=None, clock=clock or Clock()
    )
    asked = campaign.ask(18.0)
    campaign.tell({(asked[0].row, "state"): "dead", (asked[1].row, "state"): "ill"})
    campaign.refuse([asked[2]], "no consent")
    campaign.take([asked[3]], who="ann")
    campaign.correct(asked[1].row, "state", "well")
    campaign.extend({"q1": {"a": 1.0, "state": "dead"}, "q2": {"b": 2.0}})
    campaign.tell({("q2", "state"): "well"}, unsolicited=True)
    campaign.ask(6.0)
    return campaign


def test_replays_snapshots_and_reopened_campaigns_have_the_same_labels():
    campaign = everything()
    replayed = [campaign.replay(number) for number in range(campaign.number + 1)]
    assert replayed[0].table.equals(campaign.original)
    for each in replayed:
        state = State(campaign.original)
        for event in campaign.events(most=each.number) if each.number else []:
            state.apply(event)
        restored = State.restored(campaign.original, state.to_plain())
        for mine in (state, restored):
            assert mine.table().equals(each.table)
        np.testing.assert_array_equal(state.status, restored.status)
        for status in CellStatus:
            for labels in (False, True):
                part = state.status[:, -1:] if labels else state.status[:, :-1]
                counted = {each.count(status, labels=labels) for each in (state, restored)}
                assert counted == {int((part == status).sum())}
    last = campaign.replay(campaign.number)
    assert last.table.target.values.tolist()[-2:] == [0.0, 2.0]  # dead, well


def test_a_campaign_without_told_labels_packs_as_it_always_did():
    campaign = begin(prices=Prices.same(1.0), strategy="random-gaussian")
    campaign.tell(dict.fromkeys(campaign.ask(3.0).cells, 1.0))
    campaign.extend({"q1": {"a": 1.0, "state": "ill"}})
    state = State(campaign.original)
    for event in campaign.events():
        state.apply(event)
    plain = state.to_plain()
    assert "labels" not in plain
    values, status, labels = plain["added"]
    assert (values.shape, status.shape, labels.tolist()) == ((1, 2), (1, 2), [0.0])


@pytest.mark.usefixtures("linear_model_in_use")
def test_the_learning_curve_trains_on_labels_known_at_the_time():
    with begin(lacking(n=160), strategy="random-gaussian", budget=None) as campaign:
        truth = np.random.default_rng(0).normal(size=160)
        rows = {row: i for i, row in enumerate(campaign.table.row_ids)}
        missing = [row for row in rows if np.isnan(campaign.table.target.values[rows[row]])]
        campaign.tell(
            {(row, "state"): "well" if truth[rows[row]] > 0 else "ill" for row in missing}, unsolicited=True
        )
        status = campaign.status(model="logistic regression", folds=3)
        assert len(status.history) == 2
        start = campaign.replay(0).status(model="logistic regression", folds=3)
        assert start.history[0].score is not None
        assert status.history[0].score != status.history[1].score


@pytest.mark.slow
@pytest.mark.usefixtures("linear_model_in_use")
def test_the_report_counts_labels_like_any_column(tmp_path):
    from cellworth.report import columns_summary

    with everything() as campaign:
        [label] = [each for each in columns_summary(campaign).columns if each.name == "state"]
        assert (label.bought, label.refused, label.price) == (3, 1, 3.0)
        assert label.out == len([each for each in campaign.open_purchases() if each.column == "state"])
        campaign.write_report(tmp_path / "report.html")
        assert "state" in (tmp_path / "report.html").read_text("utf-8")


def test_the_next_cell_of_a_row_is_never_its_label():
    with begin(strategy="random-gaussian") as campaign:
        row = next(
            row
            for row, y in zip(campaign.table.row_ids, campaign.table.target.values, strict=True)
            if np.isnan(y)
        )
        step = campaign.next_cell(row, budget=5.0, model="logistic regression")
        assert {each.column for each in step.cells} <= {"a", "b"}
