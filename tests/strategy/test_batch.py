import pytest

from cellworth.strategy import Batch, Purchase

ONE, OTHER = Purchase("p1", "age", 0.1, 3.0), Purchase("p2", "age", 0.2, 1.0)


def test_a_batch_is_a_sequence_of_purchases():
    batch = Batch([ONE, OTHER])
    assert len(batch) == 2
    assert list(batch) == [ONE, OTHER]
    assert batch[0] == ONE
    assert batch[-1] == OTHER
    assert batch[1:] == [OTHER]
    assert isinstance(batch[1:], Batch)
    assert ONE in batch
    assert batch + batch[:1] == [ONE, OTHER, ONE]
    with pytest.raises(IndexError):
        batch[2]


def test_a_batch_equals_a_list_of_the_same_purchases():
    assert Batch([ONE, OTHER]) == [ONE, OTHER]
    assert Batch([ONE, OTHER]) == [ONE, OTHER]
    assert Batch([ONE]) == (ONE,)
    assert Batch([ONE]) != [OTHER]
    assert Batch() == []
    assert not Batch()
    assert Batch([ONE]) != "p1"
