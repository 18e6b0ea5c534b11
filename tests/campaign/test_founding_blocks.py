"""A founding table in row blocks: where it is, whether it was changed, and what is kept of it."""

import shutil
import tracemalloc
from contextlib import closing

import numpy as np
import pytest

from cellworth import Campaign, Table
from cellworth.blocks import ThreadEngine
from cellworth.campaign import maintenance
from cellworth.campaign.founding_blocks import FoundingBlocks
from cellworth.campaign.stores import MemoryStore, open_store
from cellworth.complete.gaussian import margins
from cellworth.errors import DataError, ParameterError
from tests.campaign.on_blocks import begin_both, make_tables, shown, values_for
from tests.strategy.test_block_batch import both_of, make_frame

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    return make_tables(tmp_path_factory.mktemp("campaigns"))


def check(url):
    """Return what a check of the campaign in a store finds."""
    with closing(open_store(url)) as store:
        return maintenance.check_campaign(store, "study")


def test_a_campaign_is_opened_again_without_its_files_until_they_are_needed(tables, tmp_path):
    frame = make_frame(np.random.default_rng(0))
    big, small = both_of(tmp_path, frame)
    store, url = MemoryStore(), f"sqlite:///{tmp_path / 'study.db'}"
    said = {"prices": 1.5, "budget": 90, "strategy": "posterior", "seed": 3}
    first = Campaign.create(big, store=url, **said)
    twin = Campaign.create(small, store=store, **said)
    batch = first.ask(count=6)
    answers = values_for(batch, small, np.random.default_rng(1))
    first.tell(answers)
    first.close()
    shutil.move(tmp_path / "big", tmp_path / "elsewhere")
    twin.ask(count=6)
    twin.tell(answers)
    with Campaign.open(url, engine=ThreadEngine(1, 37)) as again:
        assert again.totals() == twin.totals()
        assert again.tell(answers) == 0
        with pytest.raises(DataError, match=r"move_table.*new campaign"):
            again.ask(count=3)
        with pytest.raises(DataError, match="no such file"):
            again.move_table(tmp_path / "nowhere")
        assert again.move_table(tmp_path / "elsewhere", who="Bob")
        assert not again.move_table(tmp_path / "elsewhere")
        assert again.ask(count=3).cells == twin.ask(count=3).cells
        assert again.history()[-2]["kind"] == "table moved"
    assert check(url).problem is None
    part = next((tmp_path / "elsewhere").glob("*.parquet"))
    content = bytearray(part.read_bytes())
    content[100] ^= 1
    part.write_bytes(bytes(content))
    assert "another content" in check(url).problem
    with Campaign.open(url) as changed, pytest.raises(DataError, match="has another content"):
        changed.preview(count=1)


def test_backup_restore_dump_and_replay(tables, tmp_path):
    url = f"sqlite:///{tmp_path / 'study.db'}"
    with Campaign.create(tables["ids"][0], store=url, prices=1.5, strategy="random", seed=1) as campaign:
        batch = campaign.ask(count=5)
        campaign.tell(values_for(batch, tables["ids"][1], np.random.default_rng(1)))
        before = shown(campaign)
        assert campaign.replay(1).totals().bought == 0
        assert len(campaign.replay(1).open_purchases()) == 5
    maintenance.backup(url, tmp_path / "copy.db")
    with Campaign.open(f"sqlite:///{tmp_path / 'copy.db'}") as copy:
        assert shown(copy) == before
        maintenance.dump(copy._log.store, "study", tmp_path / "study.jsonl")
    other = MemoryStore()
    maintenance.load(tmp_path / "study.jsonl", other)
    assert shown(Campaign.open(other)) == before


def test_what_needs_all_cells_in_memory_says_so(tables):
    campaign, _ = begin_both(tables)
    assert campaign.number == 0
    with pytest.raises(ParameterError, match="row blocks"):
        begin_both(tables, strategy="qbc")
    with pytest.raises(DataError, match="every column needs a price; got none for 'visits'"):
        begin_both(tables, prices={"ill": 3.0, "weight": 1.0})
    array = Table.open(np.array([[1.0, np.nan], [2.0, 3.0]]))
    with pytest.raises(ParameterError, match="needs a table in files"):
        Campaign.create(array, store=MemoryStore())


def test_the_reference_is_small_and_comes_back(tables):
    founding = FoundingBlocks.of(tables["ids"][0])
    again = FoundingBlocks.unpack(founding.pack(), ThreadEngine(1, 37))
    assert again.content == founding.content
    one, other = (each.table.every(1) for each in (founding, again))
    assert np.array_equal(one.values, other.values, equal_nan=True)
    assert np.array_equal(one.y, other.y, equal_nan=True)
    assert one.row_ids == other.row_ids
    assert again.table.fineness == founding.table.fineness


class Cramped(ThreadEngine):
    """Threads that may keep nothing between two passes."""

    def room(self):
        return 0


def peak_memory(folder, n):
    """Return the most bytes that a campaign on n rows has held: asks, answers, a replay and a status."""
    rng = np.random.default_rng(0)
    (folder / str(n)).mkdir(parents=True)
    for k in range(n // 10_000):
        X = rng.normal(size=(10_000, 1)) + rng.normal(size=(10_000, 3))
        holes = rng.random(X.shape) < 0.3
        frame = {name: pa.array(X[:, j], mask=holes[:, j]) for j, name in enumerate("abc")}
        frame["ill"] = pa.array(X[:, 0] > 0)
        frame["id"] = pa.array([f"r{k}-{i}" for i in range(10_000)])
        pq.write_table(pa.table(frame), folder / str(n) / f"{k:03d}.parquet")
    table = Table.open(folder / str(n), target="ill", row_id="id", engine=Cramped(1, 10_000))
    tracemalloc.start()
    try:
        with Campaign.create(table, store=MemoryStore(), strategy="random-gaussian", seed=1) as campaign:
            for _ in range(2):
                asked = campaign.ask(count=50)
                campaign.tell({(each.row, each.column): 0.5 for each in asked})
            assert campaign.replay(1).totals().rows == n
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.slow
def test_memory_does_not_grow_with_the_rows(tmp_path, monkeypatch):
    """Four times the rows take as much, but for the 8 bytes a row by which ids are compared, and slack.

    The rows that margins are learned from are kept: at most 100,000, here fewer than either table has. The
    smaller table has more files than are read ahead, so that both hold as many of them at a time. The smaller
    of two runs counts: imports and growing tables of the interpreter's own take megabytes, once.
    """
    for name in ("SAMPLE_ROWS", "MOST_VALUES"):
        monkeypatch.setattr(margins, name, 5_000)
    small, large = (
        min(peak_memory(tmp_path / run, n) for run in ("first", "second")) for n in (40_000, 160_000)
    )
    assert large < 1.1 * small + 8 * 160_000
