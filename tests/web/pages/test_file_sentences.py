"""German pages say in German why a table cannot be read."""

import gzip

import pytest

from cellworth.table import Table
from cellworth.table.files import FileBytes
from cellworth.web.pages.library_texts import said
from tests.web.pages.german import english_in, message_of

ROWS = "id,age,sex,seen,out\n"
ROWS += "".join(f"p{i},{30 + i},{'mf'[i % 2]},2020-01-{i + 1:02},{i % 2}\n" for i in range(12))
WRONG = {
    "an empty file": ("", {}),
    "no rows": ("id,age\n", {}),
    "too few fields": ("id,age\np1\np2,3,4\n", {}),
    "open quotes": ('id,age\n"p1,3\n', {}),
    "another separator": ("id;age;seen\np1;3,5;31.12.2020\n", {}),
    "a name twice": ("id,age,age\np1,3,4\n", {}),
    "no name": ("id,,age\np1,3,4\n", {}),
    "a row twice": ("id,age\np1,3\np1,4\n", {"row_id": "id"}),
    "a row without a name": ("id,age\np1,3\n,4\n", {"row_id": "id"}),
    "text among numbers": (ROWS.replace(",31,", ",lots,"), {}),
    "another mark": (ROWS, {"kinds": {"sex": "number"}}),
    "no such day": (ROWS.replace("2020-01-02", "2020-02-31"), {}),
    "days that may be months": (ROWS.replace("2020-01-02", "01/02/2020"), {"kinds": {"seen": "date"}}),
    "days and months": ("id,seen\np1,01/02/2020\np2,03/04/2020\n", {}),
    "decimal commas": ('id,age\np1,"3,5"\np2,"4,25"\n', {}),
    "names": ("id,who\n" + "".join(f"{i},name{i}\n" for i in range(999)), {}),
    "fractions": (ROWS.replace(",31,", ",31.5,"), {"kinds": {"age": "integer"}}),
    "out of bounds": (ROWS, {"bounds": {"age": (0, 40)}}),
    "bounds the wrong way": (ROWS, {"bounds": {"age": (40, 0)}}),
    "too large": (ROWS.replace(",31,", ",123456789012345678901,"), {}),
    "infinite": (ROWS.replace(",31,", ",inf,"), {}),
    "not a category": (ROWS, {"categories": {"sex": ["m", "w"]}}),
    "a category twice": (ROWS, {"categories": {"sex": ["m", "m", "f"]}}),
    "a blank category": (ROWS, {"categories": {"sex": ["m", "f", ""]}}),
    "no order": (ROWS, {"kinds": {"sex": "ordered"}}),
    "no such column": (ROWS, {"target": "sax"}),
    "both": (ROWS, {"target": "id", "row_id": "id"}),
    "dates to predict": (ROWS, {"target": "seen"}),
    "one label": (ROWS.replace(",1\n", ",0\n"), {"target": "out"}),
    "no label": ("id,age,out\np1,3,\np2,4,\n", {"target": "out"}),
    "nothing measured": ("id,age,out\np1,,1\np2,,0\n", {}),
    "unknown categories": ("id,age,out\np1,,1\np2,,0\n", {"kinds": {"age": "category"}}),
    "nothing to predict from": ("id,out\np1,1\np2,0\n", {"target": "out", "row_id": "id"}),
    "a decimal mark": (ROWS, {"decimal": ";"}),
    "a format of dates": (ROWS, {"date_format": "day"}),
    "an encoding": (ROWS, {"encoding": "klingon"}),
    "another encoding": (ROWS.replace("p1,", "p\xfc,"), {"encoding": "utf-8"}),
    "UTF-16": (ROWS, {"encoding": "utf-16"}),
    "half a character": (ROWS + "p\xc3", {"encoding": "utf-8"}),
    "not text": ("id,age\np\0,1\n", {}),
    "an unmeasured column without bounds": ("id,age,out\np1,,1\np2,,0\n", {"kinds": {"age": "number"}}),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_table_is_refused_in_german(what):
    text, keywords = WRONG[what]
    message = message_of(lambda: Table.read(FileBytes("kranke.csv", text.encode("latin-1")), **keywords))
    assert said(message, "de") != message
    assert english_in(message) == []


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.xlsx", b"nonsense"),
        ("a.parquet", b"nonsense"),
        ("a.csv.gz", b"nonsense"),
        pytest.param("a.csv.gz", gzip.compress(b"id,age\n" * 99)[:-9], id="a.csv.gz-cut-off"),
        ("a.pdf", b"nonsense"),
        ("a", b"nonsense"),
    ],
)
def test_another_file_is_refused_in_german(name, content):
    message = message_of(lambda: Table.read(FileBytes(name, content)))
    assert said(message, "de") != message
    assert english_in(message) == []


def test_fields_are_named_as_on_the_page():
    message = message_of(lambda: Table.read(FileBytes("a.csv", b"id,size\np1,3\np2,4\np3,lots\n")))
    assert said(message, "de") == (
        "a.csv, Spalte 'size': erwartet werden Zahlen wie im Großteil der Spalte, nicht 'lots' bei '2' "
        "(Zeile 4). Berichtigen Sie es, tragen Sie 'lots' im Feld 'Zeichen für fehlende "
        "Werte, außer leeren Feldern' ein, wenn es einen fehlenden Wert bezeichnet, oder wählen "
        "Sie 'Kategorien' als Art von 'size', wenn die Spalte Text enthält."
    )
    assert "choose 'categories' as the kind of 'size'" in said(message, "en")
