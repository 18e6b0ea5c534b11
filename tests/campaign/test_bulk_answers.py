"""A file told column by column is told as if line by line: the same event, result and errors."""

import gc
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cellworth import Prices, Table
from cellworth.campaign import answer_file, bulk_answers
from cellworth.campaign.stores.memory import MemoryStore
from cellworth.errors import CellworthError, ConflictError
from cellworth.table.files import FileBytes
from tests.campaign.campaigns import COLUMNS, VALUES, answers_to, begin, make_table

TABLE = make_table(n=16, seed=3)
good = st.tuples(
    st.sampled_from(TABLE.row_ids), st.sampled_from(COLUMNS).flatmap(lambda c: st.just((c, VALUES[c])))
).map(lambda pair: (pair[0], pair[1][0], str(pair[1][1])))
odd = st.tuples(
    st.sampled_from([*TABLE.row_ids, "p9", "", "'=p1"]),
    st.sampled_from([*COLUMNS, "Dose", "outcome", ""]),
    st.sampled_from(
        ["", "1", "1.0", "-0.0", "1e400", "1e40", "nan", "1_0", "II", "yes", "2024-02-03", "x", "200", "1e6"]
    ),
)


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(
    lines=st.lists(st.one_of(good, good, good, odd), min_size=1, max_size=8),
    unsolicited=st.booleans(),
    insist=st.booleans(),
    asked=st.integers(0, 40),
)
def test_it_is_the_same_column_by_column_and_line_by_line(lines, unsolicited, insist, asked):
    text = "row,column,value\n" + "".join(f"{row},{column},{value}\n" for row, column, value in lines)
    file = FileBytes("answers.csv", text.encode())
    quick, slow = (told(file, unsolicited, insist, asked, bulk) for bulk in (True, False))
    assert quick == slow


def told(file, unsolicited, insist, asked, bulk):
    """Return what comes of telling a file, and then of telling it again with a key."""
    found = []
    with pytest.MonkeyPatch.context() as patch:
        if not bulk:
            patch.setattr(bulk_answers, "read_bulk", lambda *_: None)
        campaign = begin(TABLE, strategy="random", budget=None)
        if asked:
            campaign.tell(answers_to(campaign.ask(count=asked)[: asked // 2]))
        for key in (None, "key"):
            try:
                found.append(campaign.tell_file(file, unsolicited=unsolicited, insist=insist, key=key))
            except CellworthError as error:
                found.append((type(error), str(error)))
    return found, campaign.events(), campaign.spent


def test_a_file_is_the_same_request_as_the_same_answers_in_a_list():
    campaign = begin(TABLE, strategy="random", budget=None, store=MemoryStore())
    answers = answers_to(campaign.ask(count=5))
    text = "row,column,value\n" + "".join(
        f"{row},{column},{value}\n" for (row, column), value in answers.items()
    )
    file = FileBytes("answers.csv", text.encode())
    assert campaign.tell_file(file, key="key").new == 5
    assert campaign.tell(answers, key="key") == 5
    assert campaign.number == 2
    with pytest.raises(ConflictError, match="for a different request"):
        campaign.tell_file(FileBytes("answers.csv", "\n".join(text.splitlines()[:-1]).encode()), key="key")


def test_one_value_that_is_questioned_stops_the_file_until_somebody_insists():
    campaign = begin(make_table(n=40), strategy="random", budget=None)
    rows = [p.row for p in campaign.ask(count=200) if p.column == "dose"]
    lines = "".join(f"{row},dose,{9e9 if row == rows[-1] else 21}\n" for row in rows)
    file = FileBytes("answers.csv", f"row,column,value\n{lines}".encode())
    with pytest.raises(CellworthError, match=f"line {len(rows) + 1}.*9000000000"):
        campaign.tell_file(file)
    assert campaign.number == 1
    assert campaign.tell_file(file, insist=True).new == len(rows)


def test_plain_files_are_read_column_by_column():
    campaign = begin(TABLE, strategy="random", budget=None)
    index = campaign._log.state.index
    text = "value,note,Row,column\nII,x,p1,stage\n,,p2,age\n47,,p2,age\n47,,p2,age\n,,,\n"
    found = bulk_answers.read_bulk(FileBytes("answers.csv", text.encode()), index, None)
    assert (found.rows.tolist(), found.columns.tolist(), found.numbers.tolist()) == (
        [1, 2],
        [2, 1],
        [1.0, 47.0],
    )
    assert found.blank == 1
    for wrong in ("47,,p2,age\n48,,p2,age\n", "47,,p77,age\n", "x,,p2,age\n", "1e31,,p2,dose\n"):
        file = FileBytes("answers.csv", f"value,note,row,column\n{wrong}".encode())
        assert bulk_answers.read_bulk(file, index, None) is None
    assert bulk_answers.read_bulk(FileBytes("answers.csv", b"value,row\n1,p1\n"), index, None) is None
    assert np.isfinite(found.numbers).all()


def test_a_plain_file_is_told_without_a_look_at_its_lines(monkeypatch):
    campaign = begin(TABLE, strategy="random", budget=None)
    lines = "".join(f"{p.row},{p.column},{VALUES[p.column]}\n" for p in campaign.ask(count=20))
    file = FileBytes("answers.csv", f"row,column,value\n{lines}".encode())
    monkeypatch.setattr(answer_file, "read_answers", None)
    assert campaign.tell_file(file).new == 20


@pytest.mark.parametrize("was_on", [True, False])
def test_the_collector_is_afterwards_as_it_was(was_on):
    before = gc.isenabled()
    try:
        (gc.enable if was_on else gc.disable)()
        with suppress(ZeroDivisionError), bulk_answers.without_collector():
            assert not gc.isenabled()
            raise ZeroDivisionError
        assert gc.isenabled() == was_on
    finally:
        (gc.enable if before else gc.disable)()


def test_marks_of_missing_values_are_no_answers(tmp_path):
    """As the founding table has them: here they are the same as a blank."""
    rows = "".join(f"r{place},{place % 7 + 0.5},-9,{place % 2}\n" for place in range(20))
    (tmp_path / "t.csv").write_text(f"id,a,b,y\n{rows}r20,?,1.5,1\nr21,2.5,2.5,0\n")
    table = Table.read(tmp_path / "t.csv", target="y", row_id="id", missing={"b": [-9], "a": ["?"]})
    campaign = begin(table, prices=Prices.same(1.0))
    file = FileBytes("a.csv", b"row,column,value\nr0,b,-9\nr1,b,-9.0\nr2,b,2.5\nr20,a,?\nr3,b,\n")
    assert campaign.tell_file(file, unsolicited=True) == answer_file.FileResult(1, 0, 4)
    assert campaign.check_file(file).blank == 4
