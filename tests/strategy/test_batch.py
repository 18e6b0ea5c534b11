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


BLOOD = Purchase("p2", "chol", 1.5, 2.0, "blood", "known only to ±3")


def test_a_batch_shows_itself_by_row():
    batch = Batch([OTHER, ONE, BLOOD])
    assert repr(batch).splitlines() == [
        "Batch of 3 cells in 2 rows for 1.80",
        "row  column  price  worth  why",
        "p2   age      0.20  1",
        "     chol     1.50  2      known only to ±3",
        "p1   age      0.10  3",
    ]
    assert repr(Batch()) == "Batch of 0 cells in 0 rows for 0.00"
    assert list(batch.by_row()) == ["p2", "p1"]
    assert batch.by_row()["p2"] == [OTHER, BLOOD]
    many = Batch(Purchase(f"p{k}", "<b>", 1.0, 1.0) for k in range(25))
    assert repr(many).splitlines()[-1] == "... and 5 more"
    assert "&lt;b&gt;" in many._repr_html_()
    assert many._repr_html_().count("<tr>") == 21


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_a_batch_is_a_frame(library):
    frame = Batch([ONE, BLOOD], row_labels={"p1": 7, "p2": 8}, library=library).to_frame()
    assert type(frame).__module__.startswith(library)
    names = frame.column_names if library == "pyarrow" else frame.columns
    columns = {name: frame[name].to_pylist() if library == "pyarrow" else list(frame[name]) for name in names}
    assert columns["row"] == [7, 8]
    assert columns["price"] == [0.1, 1.5]
    assert list(columns) == ["row", "column", "group", "price", "worth", "why"]


def test_a_batch_is_a_shopping_list(tmp_path):
    Batch([ONE, Purchase("=1", "age", 2.5, 1 / 3)]).write(tmp_path / "list.csv")
    assert (tmp_path / "list.csv").read_text() == (
        "row,column,group,price,worth,why,until,value\np1,age,,0.1,3,,,\n'=1,age,,2.5,0.333333,,,\n"
    )
