"""Messages name settings in the language of the door."""

import ast
import re
import threading
from pathlib import Path

import pytest

import cellworth
from cellworth import Table
from cellworth.errors import DataError
from cellworth.setting_names import (
    FIELDS,
    JSON_FIELDS,
    by_door,
    in_language,
    in_this_language,
    named,
    setting,
    speaking,
    spoken,
)
from cellworth.table.files import FileBytes

SRC = Path(cellworth.__file__).parent

TABLES = {
    b"a,b\n1,x\nsoon,x\n2,y\n": ("missing=['soon']", "--missing soon"),
    b"a,b\n01.02.2020,x\n": ("date_format='DD.MM.YYYY'", "--date-format DD.MM.YYYY"),
    b"a;b\n1;2\n": ("delimiter=';'", "--delimiter ';'"),
}


@pytest.mark.parametrize("content", TABLES)
def test_the_same_error_in_two_languages(content):
    in_python, in_the_shell = TABLES[content]
    with pytest.raises(DataError) as error:
        Table.read(FileBytes("t.csv", content))
    assert in_python in str(error.value)
    with speaking("command line"), pytest.raises(DataError) as error:
        Table.read(FileBytes("t.csv", content))
    assert in_the_shell in str(error.value)
    assert in_python not in str(error.value)


def test_a_door_speaks_for_its_own_thread():
    said = []
    with speaking("command line"):
        thread = threading.Thread(target=lambda: said.append(setting("row_id", "id")))
        thread.start()
        thread.join()
        said.append(setting("row_id", "id"))
    assert said == ["row_id='id'", "--row-id id"]
    assert setting("unsolicited", True) == "unsolicited=True"


def test_each_door_has_its_words():
    words = {}
    for door in ("python", "command line", "pages", "rest"):
        with speaking(door):
            words[door] = (setting("lease", "8h"), setting("bounds", column="age"), named("lease"), spoken())
    assert words == {
        "python": ("lease='8h'", "bounds={'age': (lowest, highest)}", "lease", "python"),
        "command line": ("--lease 8h", "--bounds age=LOW,HIGH", "--lease", "command line"),
        "pages": (
            "'8h' in the field 'Reserved for'",
            "the least and most of 'age'",
            "the field 'Reserved for'",
            "pages",
        ),
        "rest": ('"lease": "8h"', "--bounds age=LOW,HIGH on the command line", '"lease"', "rest"),
    }
    assert (setting("order", column="stage"), named("order")) == ("categories={'stage': [...]}", "categories")
    with speaking("pages"):
        assert (by_door(python="a", command_line="b"), named("date_format")) == ("b", "the field 'Dates'")


def test_a_language_goes_with_the_work():
    assert in_language("rest", setting, "count") == '"count"'
    with speaking("pages"):
        work = in_this_language(setting)
    assert work("count") == "the field 'Values, at most'"
    assert spoken() == "python"


def test_fields_are_those_of_the_pages_and_of_rest():
    pages = " ".join(path.read_text("utf-8") for path in (SRC / "web/pages/templates").glob("*.html"))
    assert [label for label in FIELDS.values() if f'{{{{ _("{label}") }}}}' not in pages] == []
    models = pytest.importorskip("cellworth.web.api.json_bodies")
    known = {name for each in vars(models).values() for name in getattr(each, "model_fields", {})}
    assert known >= JSON_FIELDS


ONLY_PYTHON = {
    "complete": "estimators",
    "model": "estimators",
    "score": "parts of strategies",
    "select": "parts of strategies",
    "simulation": "plays with estimators",
    "testing": "contracts for programmers",
    "strategy/registry.py": "registers strategies",
    "prices/group.py": "shows itself in Python",
    "prices/cell_prices.py": "shows itself in Python",
    "table/read_arrays.py": "arrays",
    "table/frames.py": "frames",
    "table/any_table.py": "frames and arrays",
    "table/table.py": "frames and arrays",
    "table/target.py": "target_kind has no option",
    "table/keywords.py": "keywords",
    "web/app.py": "for programmers",
    "web/pages/library_texts.py": "the library's own sentences, to be recognised and translated",
    "web/pages/value_sentences.py": "the library's own sentences, to be recognised and translated",
    "web/pages/campaign_sentences.py": "the library's own sentences, to be recognised and translated",
    "setting_names.py": "the catalogue",
}
"""Files that also speak to those who write Python, who alone can get their messages."""
SETTINGS = (
    "bounds|budget|categories|count|date_format|decimal|default|delimiter|encoding|key|kinds|lease|least_gain|"
    "missing|order|point_worth|price|prices|reach|row_id|seconds|seed|strategy|target|target_kind|units|"
    "unsolicited|until|who"
)
PYTHON = re.compile(
    rf"\b(?:{SETTINGS})=|(?:^|: )(?:{SETTINGS}) must |Table\.(?:read|from_)|timedelta|"
    r"Campaign\.(?:create|open)|\bpass (?:True|None)"
)


def messages(path):
    """Yield the texts that people may see, with their lines; not docstrings, nor those for Python."""
    tree = ast.parse(path.read_text("utf-8"))
    hidden = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            hidden.add(id(node.value))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "by_door":
            said = next(each.value for each in node.keywords if each.arg == "python")
            hidden |= {id(each) for each in ast.walk(said)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in hidden:
            yield node.lineno, node.value


def test_no_message_speaks_python_past_the_catalogue():
    """Name settings by `setting` and `named`; put other advice for each door into `by_door`."""
    found = []
    for path in sorted(SRC.rglob("*.py")):
        name = path.relative_to(SRC).as_posix()
        if name.split("/")[0] in ONLY_PYTHON or name in ONLY_PYTHON:
            continue
        found += [f"{name}:{line}: {text}" for line, text in messages(path) if PYTHON.search(text)]
    assert found == []


def test_the_scan_finds_what_it_looks_for(tmp_path):
    path = tmp_path / "some.py"
    path.write_text(
        '"""default=1"""\nraise E(f"give budget= to {x}")\nby_door(python="seed=", command_line="")\n'
    )
    assert [line for line, text in messages(path) if PYTHON.search(text)] == [2]
