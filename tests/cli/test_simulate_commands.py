"""Simulations from the shell."""

import pytest

from cellworth.cli import simulate_commands


@pytest.mark.slow
def test_simulate_draws_writes_and_tells(study):
    pytest.importorskip("pandas")
    pytest.importorskip("matplotlib")
    words = ["simulate", "table.csv", *study.reading(), "--prices", "prices.csv", "--seeds", "2"]
    words += [
        "--rounds",
        "2",
        "--budget-per-round",
        "10",
        "--strategy",
        "recommended",
        "--strategy",
        "random",
    ]
    done = study(*words, "--out", "curves.csv", "--plot", "curves.png")
    assert (done.code, done.err) == (0, "")
    assert [line.split()[0] for line in done.out.splitlines()[:3]] == ["strategy", "recommended", "random"]
    lines = study.lines("curves.csv")
    assert len(lines) == 2 * 2 * 3
    assert max(float(line["money"]) for line in lines) <= 20
    assert (study.folder / "curves.png").read_bytes().startswith(b"\x89PNG")
    curves = study(*words, "--json").json["curves"]
    assert [(line["strategy"], line["round"]) for line in curves] == [
        (line["strategy"], int(line["round"])) for line in lines
    ]


def test_strategies_are_compared_seed_by_seed(capsys):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {
            "strategy": ["a"] * 6 + ["b"] * 6 + ["c"] * 6,
            "seed": [0, 0, 1, 1, 2, 2] * 3,
            "money": [0.0, 10.0] * 9,
            "auc": [
                0.5,
                0.7,
                0.6,
                0.81,
                0.8,
                0.99,
                0.5,
                0.6,
                0.6,
                0.7,
                0.8,
                0.9,
                0.5,
                0.6,
                0.6,
                0.9,
                0.8,
                1.0,
            ],
        }
    )
    simulate_commands._describe(frame, "auc")
    than_b, than_c = capsys.readouterr().out.splitlines()[-2:]
    assert than_b.startswith("a minus b, seed by seed, averaged over the money: +0.050 auc (+0.0")
    assert than_b.endswith("): a is better.")
    assert than_c.endswith("): no clear difference; more --seeds narrow the interval.")


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        ([], 2, "give budget_per_round"),
        (["--budget-per-round", "5", "--strategy", "rndom"], 2, "Did you mean 'random'?"),
        (["--budget-per-round", "5", "--plot", "x.doc"], 2, "ends in .png"),
        (["--budget-per-round", "5", "--out", "x.doc"], 2, "ends in .csv"),
        (["--budget-per-round", "5", "--observed", "0"], 2, "expected a share"),
    ],
)
def test_what_simulate_refuses(study, words, code, message):
    done = study("simulate", "table.csv", *study.reading(), *words)
    assert (done.code, done.out) == (code, "")
    assert message in done.err
