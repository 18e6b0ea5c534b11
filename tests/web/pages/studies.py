"""Small stores with campaigns for the tests of the pages."""

import csv
import importlib.util
import io
from dataclasses import replace
from pathlib import Path

import numpy as np

from cellworth import Group, Prices, Table
from cellworth.campaign import Campaign
from cellworth.campaign.stores import open_store
from cellworth.table.files import FileBytes
from tests.campaign.campaigns import PRICES, VALUES, answers_to, make_table

CLINIC = Path(__file__).parents[3] / "docs" / "data" / "clinic.csv"
CLINIC_PRICES = Prices.per_column(
    {"pressure": 1.0, "culture": 18.0, "age": 0.5, "sex": 0.5, "stage": 0.5, "visit": 0.5},
    groups=[Group("blood", ["cholesterol", "glucose"], first=7.25, then=5.0)],
)
HOSTILE = "<script>alert(1)</script>"


def begin(url, name="study", *, table=None, **keywords):
    """Begin a campaign in a store, by its address."""
    keywords = {"prices": PRICES, "budget": 200.0, "who": "Ann", **keywords}
    return Campaign.create(make_table(60) if table is None else table, store=url, name=name, **keywords)


def answered(url, name="study", rounds=3, count=8, **keywords):
    """Begin a campaign, play some rounds, and leave some cells open."""
    with begin(url, name, **keywords) as campaign:
        for _ in range(rounds):
            batch = campaign.ask(count=count, who="Ann")
            campaign.tell(answers_to(batch[: count - 2]), who="Bea")
            campaign.refuse(batch[count - 2 : count - 1], "the sample is lost", who="Bea")
        campaign.ask(count=count, who="Ann")
        campaign.take(1, who="Bob")


def clinic(row_word="id"):
    """Return the table of the tutorial; its rows may be called something else."""
    stages = {"stage": ["I", "II", "III", "IV"]}
    named = CLINIC.read_bytes().replace(b"id,", row_word.encode() + b",", 1)
    return Table.read(
        FileBytes(CLINIC.name, named),
        target="outcome",
        row_id=row_word,
        missing=["?"],
        categories=stages,
        kinds={"stage": "ordered"},
        units={"cholesterol": "mg/dl", "glucose": "mg/dl", "pressure": "mmHg", "age": "years"},
        descriptions={
            "pressure": "Systolic, sitting, after five minutes of rest",
            "glucose": "Fasting, from the same blood as the cholesterol",
        },
        bounds={"cholesterol": (50, 500), "glucose": (20, 600), "pressure": (50, 260), "age": (0, 120)},
    )


def clinic_values():
    """Return a function that looks up the value of a cell of the clinic, as the patient's file has it."""
    path = CLINIC.with_name("make_clinic.py")
    spec = importlib.util.spec_from_file_location("make_clinic", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.SHARE_OF_HOLES = {}
    places = {name: place for place, name in enumerate(module.HEADER)}
    rows = {row[0]: row for row in module.rows()}
    return lambda row, column: rows[row][places[column]]


def begin_clinic(url, name="clinic", rounds=6, budget=45.0, left_open=60.0, row_word="id", currency=None):
    """Begin the campaign of the tutorial, play some rounds of it, and leave a batch open."""
    value = clinic_values()
    prices = replace(CLINIC_PRICES, currency=currency)
    with begin(url, name, table=clinic(row_word), prices=prices, budget=500.0) as campaign:
        for _ in range(rounds):
            batch = campaign.ask(budget, who="Ann")
            answers = [(each.row, each.column, value(each.row, each.column)) for each in batch[:-1]]
            campaign.tell(answers, who="Bea")
            campaign.refuse(batch[-1:], "the sample is lost", who="Bea")
        if left_open:
            campaign.ask(left_open, who="Ann")


HOSTILE_NAME = f"{HOSTILE}/..'\"&~"


def begin_hostile(url, name=HOSTILE_NAME):
    """Begin a campaign whose names are all made to do harm."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3))
    X[rng.random(X.shape) < 0.4] = np.nan
    y = np.where(rng.random(30) < 0.5, HOSTILE, "=1+1")
    names = [f"{HOSTILE}{j}" for j in range(2)] + ["=cmd|' /C calc'!A0"]
    ids = [f"{HOSTILE}{i}" for i in range(29)] + ["</script><img src=x onerror=alert(2)>"]
    table = Table.from_arrays(X, y, columns=names, row_ids=ids, target=f"{HOSTILE}y")
    how = {"prices": Prices.same(1.0), "strategy": "linear-impact"}  # asks for cells of all columns
    with begin(url, name, table=table, who=HOSTILE, **how) as campaign:
        batch = campaign.ask(count=6, who=HOSTILE)
        campaign.tell([(each.row, each.column, 0.5) for each in batch[:2]], who="=1+1")
        campaign.refuse(batch[2:3], HOSTILE, who=HOSTILE)
        campaign.take(1, who=HOSTILE)
    return name


def names_in(url):
    store = open_store(url)
    try:
        return store.names()
    finally:
        store.close()


def fill_in(text, values=None, wrong=0):
    """Return a downloaded list with its values filled in; the first ``wrong`` lines with nonsense."""
    lines = list(csv.DictReader(io.StringIO(text)))
    for k, line in enumerate(lines):
        line["value"] = "nonsense" if k < wrong else {**VALUES, **(values or {})}[line["column"]]
    out = io.StringIO()
    writer = csv.DictWriter(out, lines[0].keys())
    writer.writeheader()
    writer.writerows(lines)
    return out.getvalue()
