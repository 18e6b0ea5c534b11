"""One chooser: the same question gets the same list through every door."""

import json
import re

import numpy as np
import pytest

from cellworth import Campaign, Prices, Table, advise, strategy
from cellworth.campaign.stores.memory import MemoryStore
from cellworth.cli import main
from cellworth.simulation.hidden_truth import make_world
from cellworth.simulation.simulator import Settings, play
from tests.strategy.tables import small_table

# Bit for bit: with NumPy 1.26 the same fit, repeated, may differ in the last digits.
pytestmark = pytest.mark.latest

PRICES = Prices.per_column({"a": 3.0, "b": 1.0, "c": 2.5, "d": 1.0, "e": 7.0})
BUDGET, SEED = 20.0, 3
QUICK = {"afasmc", "stability", "random-gaussian", "recommended", "auto"}
LABELS_ONLY = {"labels-only", "label-uncertainty", "label-error-reduction"}  # these have no price here
BUYING = [name for name in strategy.names() if name not in LABELS_ONLY]
NAMES = [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in BUYING]


@pytest.fixture(scope="module")
def truth():
    """A table without holes for the simulator to hide cells of, in units that differ by column."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(90, 2)) @ rng.normal(size=(2, 5)) + 0.3 * rng.normal(size=(90, 5))
    X = X * [1.0, 250.0, 0.01, 3.0, 1.0] + [0.0, 4000.0, 0.0, -7.0, 1.0]
    return Table.from_arrays(X, X[:, 0] > 0, columns=list("abcde"))


def as_lists(batch):
    """Return what every door shows, to the last bit."""
    return [[each.row, each.column, each.price, each.worth] for each in batch]


def campaign_on(table, name, store=None, seed=SEED, campaign="study"):
    return Campaign.create(
        table,
        prices=PRICES,
        strategy=name,
        seed=seed,
        budget=1000.0,
        store=store or MemoryStore(),
        name=campaign,
    )


@pytest.mark.parametrize("name", NAMES)
def test_advice_preview_ask_and_command_line_agree(name, tmp_path, monkeypatch, capsys):
    table = small_table()
    expected = as_lists(advise(table, prices=PRICES, budget=BUDGET, strategy=name, seed=SEED))
    assert expected
    with campaign_on(table, name) as campaign:
        assert as_lists(campaign.preview(BUDGET)) == expected
        assert as_lists(campaign.ask(BUDGET)) == expected
    monkeypatch.chdir(tmp_path)
    table.write(tmp_path / "table.csv")
    PRICES.write(tmp_path / "prices.csv")
    settings = ["--prices", "prices.csv", "--strategy", name, "--seed", str(SEED)]
    columns = ["--target", table.target.name, "--row-id", table.row_id or "row_id"]
    assert main(["init", "table.csv", *columns, *settings]) == 0
    capsys.readouterr()
    assert main(["ask", "--budget", str(BUDGET), "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)["cells"]
    assert [[each["row"], each["column"], each["price"], each["worth"]] for each in shown] == expected


@pytest.mark.service
def test_the_pages_and_the_rest_interface_agree(tmp_path, monkeypatch):
    pytest.importorskip("fastapi")
    from starlette.testclient import TestClient

    from cellworth.web import create_app, jobs
    from tests.web.quick import quicken

    quicken(monkeypatch.setattr)
    monkeypatch.setattr(jobs, "WANTED", 0.0)  # nobody looks at the summaries of the pages

    table, url = small_table(), f"sqlite:///{tmp_path}/study.db"
    advised = {}
    for name in BUYING:
        campaign_on(table, name, url, campaign=name).close()
        advised[name] = as_lists(advise(table, prices=PRICES, budget=BUDGET, strategy=name, seed=SEED))
    with TestClient(create_app(url), base_url="http://127.0.0.1") as client:
        for name, expected in advised.items():
            page = client.get(f"/campaigns/{name}", params={"preview": 1, "budget": BUDGET}).text
            listed = re.findall(r'<th scope="row">(r\d+)</th><td data-label="column">(\w)</td>', page)
            assert listed == [(row, column) for row, column, *_ in expected], name
            for door in ("preview", "ask"):
                shown = client.post(f"/api/v1/campaigns/{name}/{door}", json={"budget": BUDGET}).json()
                cells = [[c["row"], c["column"], c["price"], c["worth"]] for c in shown["purchases"]]
                assert cells == expected, (name, door)


@pytest.mark.parametrize("name", NAMES)
def test_a_simulation_buys_what_a_campaign_asks_for_round_after_round(name, truth):
    settings = Settings(PRICES, BUDGET, None, rounds=3, observed=0.6, train=0.7, model=_model())
    world = make_world(truth, observed=0.6, train=0.7, seed=SEED)
    names = [truth.row_ids[row] for row in world.rows]
    table = Table.from_arrays(world.start, world.y, columns=list("abcde"), row_ids=names)
    first = as_lists(advise(table, prices=PRICES, budget=BUDGET, strategy=name, seed=SEED))
    with campaign_on(table, name) as campaign:
        for number, played in enumerate(play(truth, strategy.get(name), SEED, settings)):
            if played.selection is None:
                break
            bought = [
                [names[i], "abcde"[j], price, worth]
                for (i, j), price, worth in zip(
                    played.selection.cells.tolist(),
                    played.selection.prices.tolist(),
                    played.selection.scores.tolist(),
                    strict=True,
                )
            ]
            if number == 0:
                assert bought == first
            asked = campaign.ask(BUDGET)
            assert as_lists(asked) == bought
            campaign.tell({(p.row, p.column): _value(truth, p) for p in asked})
        assert number == 3


def test_further_asks_of_a_round_do_not_depend_on_how_the_campaign_is_opened():
    table, store = small_table(), MemoryStore()
    with campaign_on(table, "recommended") as whole:
        expected = [as_lists(whole.ask(BUDGET)) for _ in range(3)]
    campaign_on(table, "recommended", store).close()
    for batch in expected:
        with Campaign.open(store) as campaign:
            assert as_lists(campaign.preview(BUDGET)) == batch
            assert as_lists(campaign.ask(BUDGET)) == batch


def _model():
    from sklearn.svm import LinearSVC

    return LinearSVC(random_state=0)


def _value(truth, purchase):
    return truth.values[truth.row_index(purchase.row), truth.column_index(purchase.column)]
