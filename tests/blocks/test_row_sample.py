"""What needs rows in memory looks at every k-th row of a table in row blocks, and says so."""

import warnings

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from cellworth import Campaign, Prices, Table, forecast, simulate
from cellworth.blocks import ThreadEngine, row_sample
from cellworth.blocks.row_sample import RowSample, in_memory, stride
from cellworth.campaign.stores import MemoryStore
from cellworth.errors import SampleWarning
from cellworth.model import model_of
from tests.strategy.test_block_batch import make_frame

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

N = 600


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a table of 600 rows in two files."""
    place = tmp_path_factory.mktemp("sampled") / "big"
    place.mkdir()
    frame = make_frame(np.random.default_rng(0), N)
    pq.write_table(frame[:250], place / "a.parquet")
    pq.write_table(frame[250:], place / "b.parquet")
    return place


@pytest.fixture
def big(folder, monkeypatch):
    """The table, of which 200 rows are a sample."""
    monkeypatch.setattr(row_sample, "SAMPLE_ROWS", 200)
    return Table.open(folder, target="ill", row_id="id", engine=ThreadEngine(1, 100))


@pytest.mark.parametrize(
    ("every", "words"), [(2, "2nd"), (3, "3rd"), (4, "4th"), (11, "11th"), (21, "21st"), (1012, "1,012th")]
)
def test_words(every, words):
    table = Table.from_arrays(np.ones((5, 1)))
    assert RowSample(table, 5 * every, every, np.zeros(1)).words == f"every {words} row, 5 of {5 * every:,}"


def test_the_sample_has_its_size_whatever_the_table():
    for n, p in ((1, 1), (7_999, 5), (8_001, 5), (10**8, 20), (10**6, 1000)):
        rows = -(-n // stride(n, p))
        most = min(8_000, 2_000_000 // p)
        assert min(n, most / 2) <= rows <= most


def test_a_forecast_is_that_of_the_rows_and_its_money_that_of_the_table(big):
    prices = Prices.per_column({"weight": 2.0, "hue": 5.0}, default=1.0)
    with pytest.warns(SampleWarning, match=r"the forecast .* every 3rd row, 200 of 600; its intervals"):
        found = forecast(big, prices=prices, model="logistic regression")
    of_rows = forecast(big.every(3), prices=prices, model="logistic regression")
    assert found.now == of_rows.now
    each = [prices.cells.prices.get(name, 1.0) for name in big.column_names]
    assert found.cost == float(big.holes_by_column @ each)  # to the cell
    ratio = found.cost / of_rows.cost
    assert found.at(money=10 * ratio).value == pytest.approx(of_rows.at(money=10).value)


@pytest.mark.latest  # with NumPy 1.26 the last bits of a sum depend on where its memory lies
def test_models_and_simulations_are_those_of_the_rows(big):
    with pytest.warns(SampleWarning, match="the model looks at a sample"):
        fitted = model_of(big, model="logistic regression")
    expected = model_of(big.every(3), model="logistic regression")
    assert fitted.complete_rows_score_ == expected.complete_rows_score_
    said = {"budget_per_round": 20, "rounds": 1, "seed": 0, "classifier": LogisticRegression()}
    with pytest.warns(SampleWarning, match="the simulation looks at a sample"):
        found = simulate(big, "random", **said)
    same = simulate(big.every(3), "random", **said)
    assert found.drop(columns="seconds").equals(same.drop(columns="seconds"))


def test_a_small_table_is_no_sample(folder):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        table, sample = in_memory(Table.open(folder, target="ill", row_id="id"), "the model")
        assert len(table.row_ids) == N
        assert sample.weight == 1
        assert in_memory(table, "the model") == (table, None)


def test_the_model_of_a_campaign_knows_its_answers(big):
    with Campaign.create(big, store=MemoryStore(), strategy="random-gaussian", prices=1.0) as campaign:
        batch = [p for p in campaign.ask(count=300) if p.column == "weight"]
        campaign.tell({(p.row, p.column): 70.0 for p in batch})
        with pytest.warns(SampleWarning, match="the model looks at a sample of the rows, 200 of 600 rows"):
            fitted = campaign.model(model="logistic regression")
        rows = {p.row for p in batch} & set(big.every(3).row_ids)
        assert rows
        now = campaign.table.every(3)
        expected = model_of(now, model="logistic regression")
        assert (
            fitted.at_hand_score_
            == expected.at_hand_score_
            != model_of(big.every(3), model="logistic regression").at_hand_score_
        )
