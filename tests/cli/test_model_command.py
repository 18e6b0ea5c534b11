"""``cellworth model``."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from cellworth import CompletingClassifier, Table
from cellworth.cli import main
from tests.model.holed_tables import mixed_table


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    mixed_table().write("train.csv")
    new = mixed_table(n=12, seed=5)
    Table(new.columns, new.values, new.row_ids).write("new.csv")
    new.write("labelled.csv")
    return new


LIGHT = ["model", "train.csv", "--target", "target", "--model", "logistic regression"]


def test_the_choice_is_said_in_a_sentence(files, capsys):
    assert main(LIGHT) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["candidate", "complete", "rows", "rows", "as", "they", "are"]
    assert lines[1].startswith("logistic regression")
    assert lines[2].startswith("Chosen: logistic regression, with an estimated AUC of 0.")


@pytest.mark.parametrize("path", ["new.csv", "labelled.csv"])
def test_new_rows_are_predicted(files, capsys, path):
    new = files
    assert main([*LIGHT, "--predict", path, "--out", "out.csv", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert (printed["chosen"], printed["predicted"], printed["metric"]) == ("logistic regression", 12, "AUC")
    with open("out.csv", encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    assert list(lines[0]) == ["row", "target", "P(ill)", "P(well)"]
    again = Table.read("train.csv", target="target")
    model = CompletingClassifier(model="logistic regression").fit(again)
    assert printed["at_hand"]["value"] == model.at_hand_score_.value
    assert [line["target"] for line in lines] == model.predict(new.encode().X).tolist()


def test_wrong_new_rows_are_told_before_the_model_is_trained(files, capsys, monkeypatch):
    monkeypatch.setattr("cellworth.model.model_of", lambda *rows, **settings: pytest.fail("trained first"))
    Path("new.csv").write_text("nothing\n2\n")
    assert main([*LIGHT, "--predict", "new.csv", "--out", "out.csv"]) == 3
    assert "There is no column 'nothing'" in capsys.readouterr().err


def _predicted(target, *options):
    said = ["model", "train.csv", "--target", target, "--model", "logistic regression"]
    if target != "target":
        said[-1] = "ridge regression"
    assert main([*said, "--predict", "new.csv", "--out", "out.csv", "--force", *options]) == 0
    return Path("out.csv").read_text("utf-8").splitlines()


@pytest.mark.parametrize("target", ["target", "number"])
def test_predictions_are_written_as_the_files_are(files, target):
    if target == "number":
        rng = np.random.default_rng(0)
        X, y = rng.normal(size=(60, 3)), rng.normal(size=60)
        tables = [Table.from_arrays(X, y, target="number"), Table.from_arrays(X[:9])]
    else:
        tables = [mixed_table(), Table(files.columns, files.values, files.row_ids)]
    for table, path in zip(tables, ("train.csv", "new.csv"), strict=True):
        table.write(path)
    plain = _predicted(target)
    for table, path in zip(tables, ("train.csv", "new.csv"), strict=True):
        table.write(path, delimiter=";", decimal=",")
    comma = _predicted(target, "--delimiter", ";", "--decimal", ",")
    assert comma[0] == plain[0].replace(",", ";")
    assert comma[1:] == [line.replace(",", ";").replace(".", ",") for line in plain[1:]]
    assert "," in comma[1]


@pytest.mark.parametrize("first", ["blank", "left out"])
def test_new_rows_may_lack_a_column(files, capsys, first):
    lines = [line.split(",") for line in Path("new.csv").read_text().splitlines()]
    cut = [["", *rest] if first == "blank" and k else [name, *rest] for k, (name, *rest) in enumerate(lines)]
    if first == "left out":
        cut = [rest for _, *rest in lines]
    Path("cut.csv").write_text("".join(",".join(line) + "\n" for line in cut))
    assert main([*LIGHT, "--predict", "cut.csv", "--out", "out.csv"]) == 0
    assert len(Path("out.csv").read_text().splitlines()) == 13


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["--predict", "new.csv"], 2, "go together"),
        (["--model", "forest"], 2, "no candidate 'forest'"),
        (["--target", "nothing"], 3, "nothing"),
    ],
)
def test_what_is_refused(files, capsys, words, code, message):
    assert main([*LIGHT, *words]) == code
    assert message in capsys.readouterr().err


@pytest.mark.slow
def test_a_search_with_a_limit(files, capsys):
    assert main(["model", "train.csv", "--target", "target", "--seconds", "0", "--rows", "as-they-are"]) == 0
    assert "Left out for lack of time: joint Gaussian" in capsys.readouterr().out


def test_without_a_table_it_learns_from_the_campaign(files, capsys):
    assert main(["init", "train.csv", "--target", "target", "--strategy", "random", "--budget", "9"]) == 0
    capsys.readouterr()
    assert main(["model", "--model", "logistic regression", "--json"]) == 0
    of_campaign = json.loads(capsys.readouterr().out)
    assert main([*LIGHT, "--json"]) == 0
    of_table = json.loads(capsys.readouterr().out)
    for name in ("target", "chosen", "complete_rows", "at_hand"):
        assert of_campaign[name] == of_table[name]


def test_a_table_needs_a_target(files, capsys):
    assert main(["model", "train.csv"]) == 2
    assert "--target" in capsys.readouterr().err
