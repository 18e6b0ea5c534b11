"""Pages from pieces: everything is escaped, and what a browser would refuse is left out."""

import base64
import hashlib
import re
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cellworth.errors import MissingDependencyError
from cellworth.report import figures, markup
from cellworth.report.markup import PRINT, STYLE
from tests.report.pages import Strict

TEXTS = st.text(st.characters(exclude_categories=()), max_size=30)


@given(TEXTS)
@settings(max_examples=150)
def test_any_text_comes_out_as_text(text):
    whole = markup.page(
        text,
        [
            markup.paragraph(text),
            markup.facts([(text, text)]),
            markup.tiles([(text, text, text)]),
            markup.table(text, (text, "b"), [(text, text)]),
            markup.picture(b"", "png", text or "-", text),
            markup.folded(text, [markup.section(text, [])]),
        ],
    )
    whole.encode("utf-8")
    reader = Strict()
    reader.feed(whole)
    reader.close()
    assert reader.open == []
    assert reader.rows[1] == [markup.clean(text)] * 2
    plain = Strict()
    plain.feed(markup.page("", [markup.paragraph("")]))
    assert set(reader.tags) - set(plain.tags) == {
        *("dl", "dt", "dd", "ul", "li", "span", "b", "div", "table", "caption", "thead", "tbody", "tr", "th"),
        *("td", "figure", "img", "figcaption", "details", "summary", "section", "h2"),
    }


def test_control_characters_and_turned_writing_are_marked():
    assert markup.clean("a\x00\x1b\u202eb\ud800\n") == "a���b�\n"


def test_the_policy_admits_the_style_and_nothing_else():
    whole = markup.page("t", [])
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', whole)[1]
    style = re.search(r"<style>(.*?)</style>", whole, re.DOTALL)[1]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert policy == f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:"
    assert style == STYLE + PRINT


def test_a_figure_gives_the_same_bytes_each_time():
    pytest.importorskip("matplotlib")

    def draw():
        figure = figures.new_figure(2, 2)
        figure.subplots().set_title("太 ñ")
        return figures.to_svg(figure)

    assert draw() == draw()
    assert "太 ñ".encode() in draw()


def test_without_matplotlib_the_remedy_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingDependencyError, match=r'pip install "cellworth\[plot\]"'):
        figures.new_figure(1, 1)
