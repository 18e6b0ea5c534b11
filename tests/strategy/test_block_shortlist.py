"""How often the files of a table are read for a batch, and what if less is on offer than expected."""

from collections import Counter

import numpy as np
import pytest

from cellworth import Campaign, Prices, Table, strategy
from cellworth.blocks import ThreadEngine
from cellworth.blocks.parquet_source import ParquetBlock
from cellworth.campaign.stores import MemoryStore
from cellworth.select import Draw, Poss, Top
from cellworth.strategy import block_shortlist
from cellworth.strategy.block_adviser import BlockAdviser
from cellworth.strategy.block_prices import BlockPrices
from tests.campaign.on_blocks import values_for
from tests.strategy.test_block_batch import make_frame

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


class Cramped(ThreadEngine):
    """Threads that may keep nothing between two passes."""

    def room(self):
        return 0


@pytest.fixture
def reads(monkeypatch):
    """The rows that were read, by the columns that were read of them."""
    found, real = Counter(), ParquetBlock.cells

    def cells(block, names):
        found[len(names)] += block.stop - block.start
        return real(block, names)

    monkeypatch.setattr(ParquetBlock, "cells", cells)
    return found


def passes(reads, table):
    """Return how often the cells of a table were read, on average."""
    width = len(table.columns) + 1
    total = sum(rows * names / width for names, rows in reads.items()) / table.n_rows
    reads.clear()
    return total


def write_table(folder, *, labelled):
    """Write a table of 900 rows, in two files."""
    frame = make_frame(np.random.default_rng(0), 900).drop_columns(["id"])
    if labelled:
        frame = frame.set_column(5, "ill", pa.array(np.random.default_rng(1).integers(0, 2, 900)))
    folder.mkdir()
    pq.write_table(frame[:400], folder / "a.parquet")
    pq.write_table(frame[400:], folder / "b.parquet")
    return folder, Table.from_frame(frame, target="ill")


@pytest.mark.parametrize("labelled", [True, False, "for sale"])
@pytest.mark.parametrize("kept", [True, False])
@pytest.mark.parametrize("name", ["posterior", "recommended", "labels-only", "random-gaussian"])
def test_an_ask_after_answers_reads_the_table_three_times(tmp_path, reads, name, kept, labelled):
    """The cells are kept for the steps of the fit, or read for each: two steps on a long table.

    The scorer of `recommended` gathers rows in one pass, whether labels are missing, and whether they can be
    bought. The last pass scores and chooses.
    """
    sells = labelled == "for sale"
    if name == "labels-only" and not sells:
        pytest.skip("it buys labels only")
    labelled = labelled is True
    folder, whole = write_table(tmp_path / "big", labelled=labelled)
    engine = ThreadEngine(1, 128) if kept else Cramped(1, 128)
    table = Table.open(folder, target="ill", engine=engine)
    prices = Prices.per_column({"ill": 2.0}, default=1.0) if sells else 1.0
    said = {"strategy": name, "seed": 1, "prices": prices}
    campaign = Campaign.create(table, store=MemoryStore(), **said)
    twin = Campaign.create(whole, store=MemoryStore(), **said)
    rng, gathered = np.random.default_rng(0), int(name in ("recommended", "labels-only"))
    for number in range(3):
        reads.clear()
        batch = campaign.ask(count=20)
        found = passes(reads, table)
        assert batch.cells == twin.ask(count=20).cells
        if number:
            steps = 1 if kept else campaign._asker._rounds._adviser.completer.n_iter_
            assert found == steps + gathered + 1
            assert not kept or found <= 3
        cells = [each for each in batch if each.column != "ill"]
        answers = values_for(cells, whole, rng)
        answers |= {(each.row, "ill"): int(each.row) % 2 for each in batch if each.column == "ill"}
        campaign.tell(answers)
        twin.tell(answers)
    assert campaign.ask(count=5).cells == twin.ask(count=5).cells
    reads.clear()
    assert campaign.ask(count=5).cells == twin.ask(count=5).cells  # the round is at hand
    assert passes(reads, table) == 1


def adviser_on(table, selector):
    adviser = BlockAdviser(strategy.Strategy("mine", *_parts(), selector), table, seed=4)
    adviser.run(table, Prices.same(1.0))
    return adviser


def _parts():
    given = strategy.get("posterior")
    return given.completer, given.scorer


@pytest.mark.parametrize("selector", [Draw(), Draw("price", by="auto"), Top(), Poss(200)], ids=repr)
def test_wrong_expectations_cost_a_pass_and_change_nothing(tmp_path, monkeypatch, reads, selector):
    folder, _ = write_table(tmp_path / "big", labelled=True)
    table = Table.open(folder, target="ill", engine=ThreadEngine(1, 128))
    adviser, prices = adviser_on(table, selector), BlockPrices.of(Prices.same(1.0), table)
    known = np.argwhere(~np.isnan(table.every(1).values))[:7]  # they are not on offer in any case
    reads.clear()
    first = adviser.choose(prices, count=9)
    in_one = 2 if isinstance(selector, Poss) else 1
    assert passes(reads, table) == in_one
    again = adviser.choose(prices, count=9, gone=known)
    assert passes(reads, table) == (2 if isinstance(selector, Draw) else in_one)
    real = block_shortlist.expected_cells
    monkeypatch.setattr(
        block_shortlist, "expected_cells", lambda *given: tuple((a, b + 1) for a, b in real(*given))
    )
    third = adviser.choose(prices, count=9)
    for other in (again, third):
        assert other.rows[other.selection.cells[:, 0]].tolist() == (
            first.rows[first.selection.cells[:, 0]].tolist()
        )
        assert other.selection.cells[:, 1].tolist() == first.selection.cells[:, 1].tolist()
