"""A shopping list for a table, without a campaign."""

import numpy as np
import pytest
from scipy.sparse import csr_array, save_npz


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
    assert study(*words).out.splitlines()[-2:] == ["auto chose recommended, because.", "0 cells for 0.00"]
    assert study(*words, "--json").json["choice"] == "auto chose recommended, because."


def test_a_folder_is_read_in_blocks_and_gives_the_same_list(study):
    parquet = pytest.importorskip("pyarrow.parquet")
    from cellworth import Table

    whole = Table.read(study.folder / "table.csv", missing=["?"], row_id=study.row_id)
    (study.folder / "big").mkdir()
    whole.write(study.folder / "all.parquet")
    frame = parquet.read_table(study.folder / "all.parquet")
    for number, rows in enumerate((slice(0, 11), slice(11, None))):
        part = frame.slice(rows.start, None if rows.stop is None else rows.stop - rows.start)
        parquet.write_table(part, study.folder / "big" / f"{number}.parquet")
    words = ["--strategy", "random-gaussian", "--count", "4", "--json"]
    in_memory, in_blocks = (study("advise", name, *words).json for name in ("all.parquet", "big"))
    assert [cell["row"] for cell in in_blocks["cells"]] == [cell["row"] for cell in in_memory["cells"]]
    assert in_blocks["cost"] == in_memory["cost"] == 4


def test_a_sparse_matrix_is_a_table_to_advise_on(study):
    rng = np.random.default_rng(0)
    ratings = rng.integers(1, 6, (50, 8)) * (rng.random((50, 8)) < 0.4)
    save_npz(study.folder / "ratings.npz", csr_array(ratings.astype(float)))
    done = study("advise", "ratings.npz", "--count", "3", "--out", "list.csv")
    assert (done.code, done.err) == (0, "")
    assert done.out == "3 cells for 3.00; the list is in list.csv\n"
    refused = study("advise", "ratings.npz", "--count", "3", "--target", "1")
    assert refused.code != 0
    assert "a sparse table has no target" in refused.err


def test_nothing_for_the_money_is_said(study):
    done = study("advise", "table.csv", *study.reading(), "--budget", "0.5")
    why = "No cell that is left costs less than 1.00, and only 0.50 can be spent."
    assert (done.code, done.out) == (0, f"There is nothing to buy. {why}\n0 cells for 0.00\n")
