"""In a campaign with decimal commas, no command shows a number with a point; JSON has points only."""

import json
import re

import numpy as np
import pytest

WITH_POINT = re.compile(r"(?<![\w.])\d+\.\d{1,2}(?![\w.])|\d\.\d\d\d(?![\d.,])")
HOW = ("--delimiter", ";", "--decimal", ",", "--row-id", "id", "--target", "out")


@pytest.fixture
def commas(study):
    """Return the commands on a campaign of 40 rows with decimal commas, with 10 answers and a correction."""
    rng = np.random.default_rng(3)
    z = rng.normal(size=40)
    cells = np.column_stack([5 + z, 100 + 10 * z + rng.normal(size=40), rng.normal(size=40)])
    holes = rng.random(cells.shape) < 0.4
    lines = ["id;dose;size;noise;out"]
    for i, row in enumerate(cells):
        texts = ["" if hole else f"{x:.2f}".replace(".", ",") for x, hole in zip(row, holes[i], strict=True)]
        lines.append(";".join([f"p{i}", *texts, "yes" if z[i] > 0 else "no"]))
    (study.folder / "t.csv").write_text("\n".join(lines) + "\n")
    (study.folder / "p.csv").write_text("column;price\n(other columns);1,25 \u20ac\n", encoding="utf-8")
    begun = study("init", "t.csv", *HOW, "--prices", "p.csv", "--budget", "60.5", "--bounds", "dose=0,99.5")
    assert begun.code == 0
    assert "a number from 0 to 99,5" in begun.out
    assert "Budget: 60,50 EUR" in begun.out
    assert study("ask", "--count", "10", "--out", "asks.csv").code == 0
    _, *asked = (study.folder / "asks.csv").read_text(encoding="utf-8-sig").splitlines()
    answers = [f"{line.split(';')[0]};{line.split(';')[1]};5,25" for line in asked]
    (study.folder / "a.csv").write_text("\n".join(["row;column;value", *answers]) + "\n")
    assert not [line for line in asked if WITH_POINT.search(line)]
    study.cell = answers[0].replace(";", ":", 1).split(";")[0]
    assert study("tell", "a.csv", "--yes").code == 0
    assert study("correct", study.cell, "5,75", "--yes").code == 0
    return study


def test_every_command_has_commas(commas):
    for words in (
        ("ask", "--count", "2"),
        ("ask", "--open"),
        ("take", "--count", "1", "--who", "Ann"),
        ("status",),
        ("log",),
        ("list",),
        ("forecast", "--score", "0.9"),
        ("model", "--model", "logistic regression"),
        ("next", "t.csv", "--error-cost", "100"),
        ("budget", "70.25"),
        ("budget", "0.5"),
        ("correct", commas.cell, "99000,5"),
        ("correct", commas.cell, "drei"),
        ("tell", "a.csv"),
        ("advise", "t.csv", *HOW, "--count", "2"),
        ("model", "t.csv", *HOW, "--model", "logistic regression"),
    ):
        done = commas(*words)
        said = done.out + done.err
        assert not WITH_POINT.search(said), (words, said)
        assert re.search(r"\d,\d", said) or words[-1] == "drei", (words, said)


def test_json_has_points(commas):
    for words in (("status",), ("forecast",), ("ask", "--open"), ("log",)):
        said = json.loads(commas(*words, "--json").out)
        assert not re.search(r"\d,\d\d\d? ", json.dumps(said)), words
