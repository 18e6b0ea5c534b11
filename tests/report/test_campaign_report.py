"""The report of a campaign: well-formed, self-contained, escaped, and its numbers are the campaign's."""

import base64
import re
import sys

import numpy as np
import pytest

from cellworth import Prices, Table
from cellworth.errors import DataError, MissingDependencyError
from cellworth.forecasting.curve_by_money import VISIBLE
from cellworth.report import write_report
from cellworth.report.campaign_report import LEDGER_HEADER, MOST_LEDGER_LINES, OUT_HEADER
from cellworth.table.files import FileBytes
from cellworth.table.text_file import TextFile
from tests.campaign.campaigns import answers_to, begin, gaussian_table, make_table, play
from tests.report.pages import read_page

pytest.importorskip("matplotlib")
pytestmark = pytest.mark.usefixtures("linear_model_in_use")


def report(campaign, tmp_path):
    path = tmp_path / "report.html"
    write_report(campaign, path, status=campaign.status(repeats=1))
    found = read_page(path)
    found.text = " ".join(found.texts)
    return found


def column_rows(found):
    return {row[0]: row for row in found.rows if len(row) == 11 and row[0] != "column"}


def ledger_rows(found):
    return [row for row in found.rows if len(row) == len(LEDGER_HEADER) and row[0] != "event"]


def test_the_ledger_writes_values_and_money_as_the_user_does(tmp_path):
    text = "id;seen;dose;ill\n" + "".join(
        f"p{row};{'' if row == 7 else f'{row + 1:02}.03.2021'};{row},50;{row % 2}\n" for row in range(20)
    )
    file = TextFile(FileBytes("t.csv", text.encode()), None, ";", ",", "DD.MM.YYYY")
    prices = Prices.same(2, currency="EUR")
    with begin(Table.read(file, target="ill", row_id="id"), prices=prices, strategy="random") as campaign:
        campaign.tell({("p7", "seen"): "8.3.2021"}, unsolicited=not campaign.ask())
        campaign.correct("p1", "dose", 2.5)
        found = report(campaign, tmp_path)
        path = tmp_path / "again.html"
        campaign.write_report(path)
        page = path.read_text("utf-8")
    assert "1 cell bought for 2,00 EUR" in found.text
    assert [row[6] for row in ledger_rows(found)] == ["1,50 → 2,50", "08.03.2021"]
    texts = re.sub(r"<style>.*?</style>|<[^>]*>|cellworth [0-9.]+", " ", page, flags=re.DOTALL)
    assert not re.findall(r"(?<![\w.,])\d+\.\d{1,2}(?![\w.])|\d\.\d{3}(?![\d.,])", texts)


def test_every_column_and_axis_of_money_has_its_currency(tmp_path):
    with begin(make_table(60), prices=Prices.same(2, currency="EUR")) as campaign:
        batch = campaign.ask(count=8)
        campaign.tell(answers_to(batch[:4]))
        found = report(campaign, tmp_path)
        page = (tmp_path / "report.html").read_text("utf-8")
    headers = {cell for row in found.rows for cell in row}
    assert {"price (EUR)", "money spent (EUR)"} <= headers
    assert not {"price", "money spent"} & headers
    pictures = [base64.b64decode(code).decode() for code in re.findall(r"svg\+xml;base64,([^\"]+)", page)]
    drawn = "".join(pictures)
    assert "money spent (EUR)" in drawn
    assert "price of one cell (EUR)" in drawn


def test_says_what_auto_chose(tmp_path):
    with begin(make_table(60), strategy="auto") as campaign:
        assert "auto chose recommended, its fallback: 60 labelled" in report(campaign, tmp_path).text


def test_numbers_are_those_of_the_campaign(tmp_path):
    campaign = begin(make_table(60), who="Ann")
    batch = campaign.ask(count=8, who="Ann")
    campaign.tell(answers_to(batch[:4]), who="Bob")
    campaign.refuse(batch[4:5], "the sample is lost", who="Cy")
    known = next(c for c in ("dose", "age") if not campaign.table.holes[0, campaign.table.column_index(c)])
    campaign.correct("p0", known, 33, who="Dee", reason="typing slip")
    campaign.extend(make_table(5, seed=9, start=60), who="Eve")
    found = report(campaign, tmp_path)
    for words in (f"{campaign.spent:.2f}", f"{campaign.left:.2f}", f"{campaign.reserved:.2f} reserved"):
        assert words in found.text
    assert "1 refused, 3 out" in found.text
    out = [row for row in found.rows if len(row) == len(OUT_HEADER) and row[2] == "Ann"]
    assert [(row[0], row[1], row[5]) for row in out] == [
        (p.row, p.column, f"{p.price:.2f}") for p in batch[5:]
    ]
    rows = ledger_rows(found)
    bought = [row for row in rows if row[3] == "bought"]
    assert {(row[4], row[5]) for row in bought} == {(p.row, p.column) for p in batch[:4]}
    assert sum(float(row[7]) for row in bought) == pytest.approx(campaign.spent, abs=0.03)
    assert {row[2] for row in bought} == {"Bob"}
    assert [row[3] for row in rows if row[2] == "Cy"] == ["refused: the sample is lost"]
    assert [row[3] for row in rows if row[2] == "Dee"] == ["corrected: typing slip"]
    assert [row[3] for row in rows if row[2] == "Eve"] == ["5 rows added"]
    table = campaign.table
    columns = column_rows(found)
    assert list(columns) == list(table.column_names)
    for j, name in enumerate(table.column_names):
        assert columns[name][4] == f"{table.holes[:, j].mean():.0%}"
        assert columns[name][5] == str(sum(p.column == name for p in batch[:4]))
    assert [columns[name][1] for name in ("dose", "hue")] == ["Of the first day", ""]
    assert "mg" in columns["dose"][8]
    assert "days" in columns["visit"][8]
    assert "wrong" in columns["hue"][8]
    assert len(found.pictures) == 3


def test_a_campaign_without_events(tmp_path):
    found = report(begin(make_table(40)), tmp_path)
    assert "Nothing has been bought yet." in found.text
    assert "of the cells known, the AUC on complete rows is about" in found.text
    assert len(found.pictures) == 2  # no curve of one point


def test_a_finished_campaign(tmp_path):
    found = report(play(*gaussian_table(), rounds=9, count=60), tmp_path)
    assert found.text.count("Nothing is left to buy.") == 2  # of the outlook, and of the worths
    assert len(found.pictures) == 2  # curve and map


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["several", "number"])
def test_several_classes_and_numbers(kind, tmp_path):
    campaign = play(*gaussian_table(kind=kind), rounds=5)
    found = report(campaign, tmp_path)
    assert ("each against the rest" in found.text) == (kind == "several")
    assert ("R2 now" in found.text) == (kind == "number")
    status = campaign.status(repeats=1)
    assert f"{status.score.value:.3f}" in found.text
    ahead = status.forecast.gain
    assert (f"{ahead.value:+.3f}" if ahead.value >= VISIBLE else f"below {ahead.high:.3f}") in found.text
    curve = [row[0] for row in found.rows if len(row) == 6 and row[3] != "taken by"]
    assert curve[1:] == [f"{m.spent:.2f}" for m in status.history]


def test_without_a_target_the_score_is_left_out_and_it_is_said_so(tmp_path):
    campaign = begin(gaussian_table(kind="none")[0], prices=Prices.same(1.0))
    found = report(campaign, tmp_path)
    assert "There is no score: the table has no target." in found.text
    assert "AUC" not in found.text


NASTY = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=y>',
    "a$x^{2}$&amp;",
    "\x1bcontrol\u202e",
    "太郎",
]


@pytest.mark.slow
def test_whatever_users_write_is_shown_as_text(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 5))
    y = np.where(X[:, 0] > 0, "<b>ill</b>", "well & good")
    X[rng.random(X.shape) < 0.4] = np.nan
    ids = [*NASTY, *(f"r{i}" for i in range(35))]
    table = Table.from_arrays(
        X,
        y,
        columns=NASTY,
        row_ids=ids,
        target="<i>target</i>",
        units={NASTY[0]: "<u>"},
        descriptions={NASTY[0]: "<u>why</u>"},
    )
    campaign = begin(table, prices=Prices.same(1.0), budget=None, name="<script>name</script>")
    for i, j in np.argwhere(table.holes[: len(NASTY)]):
        campaign.tell([(ids[i], NASTY[j], 1.0)], unsolicited=True, who="<em>who</em>")
    i, j = np.argwhere(campaign.table.holes)[0]
    campaign.refuse([(ids[i], NASTY[j])], "<style>reason", who="\x07bell")
    found = report(campaign, tmp_path)
    assert not {"i", "u", "em"} & set(found.tags)
    assert found.tags.count("img") == len(found.pictures) == 3
    assert "<u>why</u>" in column_rows(found)[NASTY[0]]
    names = {row[5] for row in ledger_rows(found)}
    assert "<script>alert(1)</script>" in names
    assert next(iter(column_rows(found))) == NASTY[0]
    drawn = " ".join("".join(picture.itertext()) for picture in found.pictures)
    assert "太郎" in drawn
    assert "a$x^{2}$" in drawn  # not set as mathematics


@pytest.mark.slow
def test_a_large_table_makes_a_page_of_bounded_size(tmp_path):
    rng = np.random.default_rng(0)
    n, p = 1200, 8
    X = rng.normal(size=(n, 4)) @ rng.normal(size=(4, p)) + rng.normal(size=(n, p))
    y = X[:, 0] > 0
    truth, X[rng.random(X.shape) < 0.4] = X.copy(), np.nan
    table = Table.from_arrays(X, y, row_ids=[f"a rather long name of row {i:05d}" for i in range(n)])
    campaign = begin(table, prices=Prices.same(1.0), budget=None, strategy="random-gaussian")
    holes = np.argwhere(table.holes)[:3000]
    campaign.tell(
        [(table.row_ids[i], table.column_names[j], truth[i, j]) for i, j in holes], unsolicited=True
    )
    found = report(campaign, tmp_path)
    assert (tmp_path / "report.html").stat().st_size < 3_000_000
    assert len(ledger_rows(found)) == MOST_LEDGER_LINES
    assert f"{3000 - MOST_LEDGER_LINES} still earlier entries" in found.text


def test_a_replay_has_the_report_of_its_time(tmp_path):
    campaign = begin(make_table(40))
    campaign.tell(answers_to(campaign.ask(count=3)))
    found = report(campaign.replay(until=0), tmp_path)
    assert "Nothing has been bought yet." in found.text


def test_the_report_leaves_the_campaign_as_it_is(tmp_path):
    one, other = begin(make_table(40)), begin(make_table(40))
    for campaign in (one, other):
        campaign.tell(answers_to(campaign.ask(count=3)))
    report(one, tmp_path)
    assert one.number == other.number
    assert one.ask(count=4) == other.ask(count=4)


def test_the_same_campaign_gives_the_same_bytes(tmp_path):
    campaign = begin(make_table(40))
    campaign.tell(answers_to(campaign.ask(count=3)))
    pages = []
    for name in ("one.html", "two.html"):
        write_report(campaign, tmp_path / name, status=campaign.status(repeats=1))
        pages.append((tmp_path / name).read_bytes())
    assert pages[0] == pages[1]


@pytest.mark.slow
@pytest.mark.parametrize("strategy", ["afasmc", "qbc"])
def test_a_completer_without_variances_is_said_so(strategy, tmp_path):
    campaign = begin(gaussian_table()[0], prices=Prices.same(1.0), strategy=strategy)
    assert "gives no uncertainty" in report(campaign, tmp_path).text


def test_an_old_report_survives_a_failure(tmp_path, monkeypatch):
    path = tmp_path / "report.html"
    path.write_text("old")
    campaign = begin(make_table(40))
    monkeypatch.setattr("cellworth.report.campaign_report._page", lambda *_: "\ud800")
    with pytest.raises(UnicodeEncodeError):
        write_report(campaign, path, status=campaign.status(repeats=1))
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_errors_are_in_words(tmp_path, monkeypatch):
    campaign = begin(gaussian_table(kind="none")[0], prices=Prices.same(1.0))
    told = []
    with pytest.raises(DataError, match=r"there is no folder .*nowhere"):
        write_report(campaign, tmp_path / "nowhere" / "report.html", progress=lambda *at: told.append(at))
    assert told == []  # before any work
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingDependencyError, match="cellworth"):
        write_report(campaign, tmp_path / "report.html")


@pytest.mark.slow
@pytest.mark.parametrize("at_hand", [False, True])
def test_progress_never_falls_and_ends_at_all(at_hand, tmp_path):
    campaign = play(*gaussian_table(), rounds=2)
    status = campaign.status() if at_hand else None
    told = []
    write_report(
        campaign, tmp_path / "report.html", status=status, progress=lambda *steps: told.append(steps)
    )
    done, total = zip(*told, strict=True)
    assert len(set(total)) == 1
    assert list(done) == sorted(done)
    assert done[-1] == total[-1]


def test_a_forecast_is_not_followed_by_too_early_to_tell(tmp_path):
    campaign = play(*gaussian_table(), rounds=1)
    found = report(campaign, tmp_path)
    assert campaign.status().prospect is not None
    assert "of the cells known, the AUC on complete rows is about" in found.text
    assert "oo early to tell" not in found.text


def test_the_map_says_that_labels_are_not_counted(tmp_path):
    table, _ = gaussian_table()
    labels = table.target.cells.copy()
    labels[:5] = np.nan
    holed = Table(table.columns, table.values, table.row_ids, table.target.with_cells(labels), table.row_id)
    name = table.target.name
    for prices, counted in ((Prices.per_column({name: 3.0}, default=1.0), False), (Prices.same(1.0), True)):
        found = report(begin(holed, prices=prices), tmp_path)
        assert ("estimated; labels are not counted." in found.text) is not counted
