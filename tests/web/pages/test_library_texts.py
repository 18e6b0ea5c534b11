"""What the library says is said on the pages in their words and their language."""

import re

import pytest

from cellworth.errors import ReadWarning
from cellworth.messages import shorten
from cellworth.setting_names import speaking
from cellworth.table import Table
from cellworth.table.files import FileBytes
from cellworth.web.pages.language import translated
from cellworth.web.pages.library_texts import LISTS, NUMBERS, PHRASES, SENTENCES, SHAPES, said, said_or_none
from cellworth.web.pages.value_sentences import STRATEGIES
from tests.web.pages.german import english_in
from tests.web.pages.library_messages import (
    NEVER_ON_PAGES,
    ONLY_IN_PYTHON,
    PRINTED,
    ROOT,
    SPEAKING,
    messages,
    phrases,
)


@pytest.mark.parametrize("module", sorted({each.module for each in messages()}))
def test_every_message_of_the_library_is_said_in_german(module):
    """A new message needs a pattern and a translation, unless no page can show it."""
    found = [each for each in messages() if each.module == module]
    english, untranslated = [], []
    for each in found:
        if each.text.startswith(ONLY_IN_PYTHON):
            continue
        if said_or_none(each.text, "de") is None and translated(each.text, "de") == each.text:
            untranslated.append((each.line, each.text))
        elif said_or_none(each.text, "de") is not None and english_in(each.text):
            english.append((each.line, each.text, said(each.text, "de")))
    assert untranslated == []
    assert english == []


def test_the_messages_are_found():
    """Of about as many places as have one; else the test above would prove little."""
    assert len({each[:2] for each in messages()}) > 280
    texts = {each.text for each in messages()}
    assert "a.csv, column 'Xyz': expected numbers, got 'Xyz' in row 'Xyz' (line 7). Split it." in texts
    assert "row 'Xyz', column 'Xyz' already has a value, so there is nothing to take." in texts


def test_what_no_page_can_show_is_still_there():
    for beginning in ONLY_IN_PYTHON:
        assert any(each.text.startswith(beginning) for each in messages()), beginning
    for module in NEVER_ON_PAGES:
        assert any(path.relative_to(ROOT).as_posix().startswith(module) for path in ROOT.rglob("*.py")), (
            module
        )


@pytest.mark.parametrize("module", SPEAKING)
def test_what_the_library_says_besides_errors_has_patterns(module):
    known = [*SENTENCES, *STRATEGIES]
    found = phrases(module)
    assert found
    for text in found:
        assert any(text.strip(" ") in each for each in known) or text in PRINTED, text


def test_numbers_are_written_as_readers_do_and_dates_as_the_table_does():
    place = "row 'a', column 'x': "
    known = "got {}, but {} is known, as an answer. Use correct to change it."
    for one, two, shown in [
        ("1234.5", "-2.25", ("1234,5", "-2,25")),
        ("1,234,567", "7", ("1.234.567", "7")),
        ("31.12.2020", "30.12.2020 07:30", ("31.12.2020", "30.12.2020 07:30")),
        ("12/31/2020", "2020-12-30", ("12/31/2020", "30.12.2020")),
    ]:
        words = said(place + known.format(one, two), "de")
        assert words.split(": ", 1)[1].startswith(f"{shown[0]} ")
        assert f" {shown[1]} " in words
    seen = said(place + "got 17125.0, but the 115 values known there are from 150.9 to 185.4.", "de")
    assert "17125,0, aber die 115 bekannten Werte reichen von 150,9 bis 185,4." in seen


def test_long_names_are_cut_in_every_language():
    column = f"C-reactive protein, high sensitivity, {'fasting ' * 9}"
    for words in (
        f"column {shorten(column)}: expected a number, got 'abc'.",
        f"There is no column {shorten(column)}.",
    ):
        found = said_or_none(words, "de")
        assert found is not None
        assert f"'{column[:40]}…'" in found


def test_names_are_never_translated():
    text = "row 'from the start', column 'a number': expected one of 'yes or no', got 'as an answer'."
    assert said(text, "de") == (
        "'a number' von 'from the start': erwartet wird einer von diesen: 'yes or no', nicht 'as an answer'."
    )
    assert said("something nobody has foreseen", "de") == "something nobody has foreseen"


def test_every_part_of_a_sentence_is_in_its_text():
    """A text may leave a part out, but not name one that is not there."""
    for sentence, words in SENTENCES.items():
        parts = set(re.findall(r"\{(\w+)\}", sentence))
        assert set(re.findall(r"\{(\w+)\}", words)) <= parts, sentence
    used = {part for sentence in SENTENCES for part in re.findall(r"\{(\w+)\}", sentence)}
    assert {*PHRASES, *LISTS, *NUMBERS, *SHAPES} <= used


@pytest.mark.parametrize("marks", [["?"], ["?", "unknown"]])
def test_what_the_reader_doubts_is_said_in_german(marks):
    """Each warning that a person at the page of a new campaign can meet has a translation."""
    cells = [*marks, "Ja", "ja", *["nein"] * 20]
    doses = [-999, -999, *range(10, len(cells) + 8)]
    lines = [f"P{k},{dose},{cell},{k % 12}" for k, (dose, cell) in enumerate(zip(doses, cells, strict=True))]
    text = "\n".join(["id,dose,smoker,days", *lines]).encode()
    with speaking("pages"), pytest.warns(ReadWarning) as caught:
        Table.read(FileBytes("t.csv", text), target="days", row_id="id")
    found = [said_or_none(str(each.message), "de") for each in caught]
    assert len(found) == 4
    assert not [str(each.message) for each, text in zip(caught, found, strict=True) if text is None]
    assert not any(word in text for text in found for word in (" or ", " if ", " are ", "categories"))
