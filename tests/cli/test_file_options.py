"""Options that say how files are written, the same for every command that reads one."""

import numpy as np
import pytest

from cellworth.blocks import row_sample
from tests.cli.commands import every_command
from tests.strategy.test_block_batch import make_frame

WRITING = {"--encoding", "--delimiter", "--decimal", "--date-format"}
GERMAN = ["--decimal", ",", "--delimiter", ";", "--date-format", "DD.MM.YYYY"]


def test_every_command_that_reads_a_file_has_them():
    commands = dict(every_command())
    for name in (
        "init",
        "simulate",
        "model",
        "forecast",
        "advise",
        "fill",
        "tell",
        "refuse",
        "cancel",
        "extend",
        "take",
        "give-back",
    ):
        offered = {word for parameter in commands[(name,)].params for word in parameter.opts}
        assert offered >= WRITING, name


def test_a_campaign_in_the_german_way(study):
    rows = "".join(f"p{k};{k},5;{'' if k % 2 else k};0{k % 9 + 1}.03.2020;{'ab'[k % 2]}\n" for k in range(12))
    (study.folder / "t.csv").write_text("id;dose;age;seen;grade\n" + rows, "cp1252")
    (study.folder / "p.csv").write_text("column;price\nage;1,50\n(other columns);2\n")
    done = study("init", "t.csv", "--row-id", "id", "--prices", "p.csv", "--strategy", "random", *GERMAN,
                 "--order", 'grade=b,"a"', "--store", "my study.db", "--name", "one")  # fmt: skip
    assert (done.code, done.err) == (0, "")  # and without a target
    assert "cellworth tell asks.csv --store 'my study.db' --name one" in done.out
    same = ["--store", "my study.db", "--name", "one"]
    asked = study("ask", "--count", "1", "--out", "asks.csv", *same)
    assert "cellworth tell asks.csv --store 'my study.db' --name one" in asked.out
    line = (study.folder / "asks.csv").read_text().splitlines()[1].split(";")
    row = line[0]
    assert "1,5" in line
    (study.folder / "answers.csv").write_text(f"row;column;value\n{row};age;1.000\n")
    assert study("tell", "answers.csv", "--yes", *same).code == 0  # nobody has to say it again
    (study.folder / "new.csv").write_text("id;dose;age;seen\nq1;1,25;7;26.08.2020\n")
    assert study("extend", "new.csv", *same).code == 0
    assert study("correct", "q1", "dose", "2,75", *same).code == 0
    (study.folder / "dearer.csv").write_text("column;price\nage;2,50\n(other columns);2\n")
    assert study("prices", "dearer.csv", *same).code == 0
    exported = study("export", *same).out
    assert "q1;2,75;7;26.08.2020;" in exported
    assert f"\n{row};" in exported
    assert ";1000;" in exported
    assert study("export", "--out", "now.csv", *same).code == 0
    assert (study.folder / "now.csv").read_text() == exported
    assert study("fill", "now.csv", "--row-id", "id", "--out", "filled.csv", *GERMAN).code == 0
    assert "q1;2,75;7;26.08.2020;" in (study.folder / "filled.csv").read_text()


def test_a_guessed_encoding_is_one_line_on_standard_error(study):
    (study.folder / "t.csv").write_bytes("city,x\nKöln,1\nBonn,\nBonn,2\nUlm,3\n".encode("cp1252"))
    done = study("init", "t.csv", "--strategy", "random")
    assert done.code == 0
    assert done.err.startswith("cellworth: t.csv is not UTF-8")
    assert done.err.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "message"), [(["--decimal", "x"], "decimal"), (["--date-format", "x"], "DD.MM.YYYY")]
)
def test_wrong_ways_are_wrong_usage(study, words, message):
    done = study("init", "table.csv", *words)
    assert done.code == 2
    assert message in done.err


def test_what_looks_at_a_sample_of_a_folder_says_so(study, monkeypatch, tmp_path):
    """The rows and the money are tested with the sample; here, that the commands take a folder."""
    parquet = pytest.importorskip("pyarrow.parquet")
    monkeypatch.setattr(row_sample, "SAMPLE_ROWS", 200)
    (tmp_path / "big").mkdir()
    parquet.write_table(make_frame(np.random.default_rng(0), 600), tmp_path / "big" / "a.parquet")
    common = ["big", "--target", "ill", "--row-id", "id"]
    done = study("model", *common, "--model", "logistic regression")
    assert "the model looks at a sample of the rows, every 3rd row, 200 of 600" in done.err
    assert "Chosen: logistic regression" in done.out
    done = study("forecast", *common, "--model", "logistic regression", "--json")
    assert "the forecast looks at a sample" in done.err
    assert done.json["model"] == "logistic regression"
    done = study("simulate", *common, "--rounds", "1", "--count-per-round", "5", "--seeds", "1")
    assert "the simulation looks at a sample" in done.err
    assert "recommended" in done.out


def test_new_rows_are_read_as_the_table_of_the_campaign_was(study):
    """By `next` and `model` as by `extend`: separator, decimal mark and marks of holes are remembered."""
    lines = (study.folder / "table.csv").read_text().splitlines()
    (study.folder / "german.csv").write_text("\n".join(lines).replace(",", ";").replace(".", ",") + "\n")
    way = ["--delimiter", ";", "--decimal", ",", "--missing", "?", "--strategy", "random", "--budget", "50"]
    assert study("init", "german.csv", *study.reading(), *way).code == 0
    (study.folder / "new.csv").write_text(f"{study.row_id};dose;age\nq1;1,5;61\nq2;?;44\n")
    light = ["--model", "logistic regression"]
    done = study("next", "new.csv", *light, "--budget", "5", "--json")
    assert (done.code, done.err) == (0, "")
    assert [step["row"] for step in done.json] == ["q1", "q2"]
    done = study("model", *light, "--predict", "new.csv", "--out", "out.csv")
    assert (done.code, done.err) == (0, "")
    assert "2 rows predicted" in done.out
    header, *rows = (line.split(";") for line in (study.folder / "out.csv").read_text().splitlines())
    assert header[0] == study.row_id
    assert [row[0] for row in rows] == ["q1", "q2"]
