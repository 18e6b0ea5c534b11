"""What commands print, for people and for programs."""

import io
import json

import rich.console
import rich.table
import rich.text
from hypothesis import given, settings
from hypothesis import strategies as st

from cellworth.cli.output import plain_lines


def test_a_json_document_holds_names_in_any_script(study):
    (study.folder / "t.csv").write_text("id,größe,y\nä,1.5,0\nβ,,1\nc,2.5,1\n")
    done = study("init", "t.csv", "--target", "y", "--row-id", "id", "--json")
    assert done.out.isascii()
    assert json.loads(done.out)["columns"][0]["name"] == "größe"


@given(
    rows=st.integers(1, 4).flatmap(
        lambda width: st.lists(
            st.lists(
                st.text("ab [/]c1", min_size=1, max_size=9).map(lambda text: text.strip() or "x"),
                min_size=width,
                max_size=width,
            ),
            min_size=1,
            max_size=4,
        )
    )
)
@settings(max_examples=25)
def test_plain_tables_look_like_those_of_rich(rows):
    shown = io.StringIO()
    table = rich.table.Table(box=None, pad_edge=False, show_header=False)
    for place in range(len(rows[0])):
        table.add_column(justify="right" if place == 0 else "left")
    for row in rows:
        table.add_row(*map(rich.text.Text, row))
    rich.console.Console(file=shown, width=200, highlight=False).print(table)
    assert plain_lines(rows, {0}) == [line.rstrip() for line in shown.getvalue().splitlines()]


def test_what_may_be_wide_is_left_to_rich():
    assert plain_lines([["a", "größe"]]) is None
    assert plain_lines([["a", "b\tc"]]) is None
