"""A shopping list for a table, without a campaign."""


def test_advise_lists_cells_within_the_budget_and_records_nothing(study):
    words = ["advise", "table.csv", *study.reading(), "--prices", "prices.csv", "--strategy", "random"]
    done = study(*words, "--budget", "6", "--json")
    assert done.code == 0
    assert sum(cell["price"] for cell in done.json["cells"]) == done.json["cost"] <= 6
    shown = study(*words, "--count", "3").out
    assert shown.splitlines()[0].split() == ["row", "column", "group", "price", "worth", "why"]
    assert shown.splitlines()[-1].startswith("3 cells for ")
    assert study(*words, "--count", "3", "--out", "list.csv").code == 0
    assert len(study.lines("list.csv")) == 3
    assert not (study.folder / "study.db").exists()


def test_advise_needs_a_limit(study):
    assert study("advise", "table.csv").code == 2


def test_a_strategy_that_is_chosen_comes_with_the_reason(study, monkeypatch):
    """How it is chosen is tested with the strategies; here, that the reason is printed."""
    import cellworth.strategy
    from cellworth.strategy import Batch

    class Chosen:
        sentence = "auto chose recommended, because."

    monkeypatch.setattr(cellworth.strategy, "advise", lambda *_, **__: Batch([], Chosen()))
    words = ["advise", "table.csv", *study.reading(), "--strategy", "auto", "--count", "1"]
    assert study(*words).out.splitlines() == ["auto chose recommended, because.", "0 cells for 0.00"]
    assert study(*words, "--json").json["choice"] == "auto chose recommended, because."
