"""``cellworth forecast``, and the rules of ``cellworth ask``."""

import pytest

LIGHT = ["--model", "logistic regression"]


def test_a_table_is_forecast_without_a_campaign(study):
    done = study("forecast", "table.csv", *study.reading(), *LIGHT, "--score", "0.99")
    assert (done.code, done.err) == (0, "")
    first, second = done.out.splitlines()
    assert "of the cells known, the AUC on complete rows is about" in first
    assert "AUC 0.99" in first
    assert second.startswith(("Go on: the next", "Stop: the next"))


def test_a_campaign_is_forecast_as_json_and_drawn(begun):
    pytest.importorskip("matplotlib").use("Agg")
    done = begun("forecast", *LIGHT, "--json", "--score", "0.9", "--plot", "ahead.png")
    assert done.code == 0, done.err
    assert done.json["costs"]["score"] == 0.9
    assert done.json["points"][-1]["money"] == done.json["cost"]
    assert (begun.folder / "ahead.png").stat().st_size > 1000
    again = begun("forecast", *LIGHT, "--plot", "ahead.png")
    assert (again.code, again.out) == (3, "")
    assert "ahead.png already exists. Give another --plot, or replace it with --force." in again.err


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["forecast", "table.csv"], 2, "needs --target"),
        (["forecast", "table.csv", "--target", "outcome", "--model", "forest"], 2, "no candidate 'forest'"),
        (["forecast", "--seconds", "3"], 2, "--seconds needs a TABLE"),
        (["ask", "--until-gain", "0.1", "--until-reach", "0.9"], 2, "only one of"),
        (["ask", "--until-reach", "9"], 2, "--until-reach must be"),
        (["ask", "--point-worth", "-1"], 2, "--point-worth must be"),
    ],
)
def test_what_is_refused(begun, words, code, message):
    done = begun(*words)
    assert done.code == code
    assert message in done.err


def test_an_ask_stops_when_the_rule_says_so(begun):
    done = begun("ask", "--count", "3", "--until-gain", "1")
    assert (done.code, begun.kinds()) == (0, [])
    assert done.out.startswith("0 cells; 0.00 spent")  # the reason is the rule's alone
    assert done.err.startswith("Stop: the next")
    assert begun("ask", "--count", "3", "--until-gain", "0.0000001", "--json").json["cells"]


def test_a_campaign_has_one_forecast(begun):
    said = begun("status", "--json").json
    ahead = begun("forecast", "--json").json
    assert ahead["model"] == said["prospect"]["model"]
    assert ahead["points"] == said["prospect"]["points"]
    assert ahead["advice"] == said["advice"]
