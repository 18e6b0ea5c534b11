"""Texts, counted once, against plain Python."""

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cellworth.table.raw_cells import LazyTexts, TextCells, count_texts

cells = st.lists(st.sampled_from(["", "a", "b", "c", "dd"]), max_size=12)


@given(cells)
def test_a_tally_is_what_counting_gives(texts):
    found = count_texts(texts)
    observed = [text for text in texts if text]
    assert found.distinct == tuple(dict.fromkeys(observed))
    assert found.counts == Counter(observed)
    assert list(found.counts) == list(Counter(observed))
    assert found.counts.most_common() == Counter(observed).most_common()
    assert found.total == len(observed)
    assert found.texts() == texts
    lengths = found.spread(np.array([len(text) for text in found.distinct], dtype=float))
    assert [0 if np.isnan(length) else length for length in lengths] == list(map(len, texts))


@given(cells, st.dictionaries(st.sampled_from("abc"), st.sampled_from(["", "a", "new"])))
def test_renaming_merges_and_opens_holes(texts, names):
    found = count_texts(texts)
    renamed = found.renamed([names.get(text, text) for text in found.distinct])
    plain = count_texts([names.get(text, text) for text in texts])
    assert renamed.distinct == plain.distinct
    assert renamed.codes.tolist() == plain.codes.tolist()


def test_rows_of_some_texts():
    assert count_texts(["b", "", "a", "b"]).rows_of([0]).tolist() == [0, 3]


def test_texts_are_read_when_looked_at():
    reads = []

    def read():
        reads.append(1)
        return ["a", "", "b"]

    lazy = LazyTexts(3, read)
    assert len(lazy) == 3
    assert not reads
    assert (list(lazy), lazy[2], list(lazy[:1])) == (["a", "", "b"], "b", ["a"])
    assert len(reads) == 1


def test_counted_cells_are_those_they_were_counted_from():
    counted = TextCells.counted(count_texts(["a", "", "a"]))
    assert list(counted.texts) == ["a", "", "a"]
    assert counted.holes.tolist() == TextCells(["a", "", "a"]).holes.tolist() == [False, True, False]
