"""All texts of the pages are in one catalogue, and the second language is complete."""

import re
from datetime import date
from html.parser import HTMLParser

import pytest

from cellworth.table import Column
from cellworth.web.pages.language import LANGUAGES, ReaderNumbers, catalogue, chosen_language, shown_value
from tests.web.pages.catalogue import LOCALE, PAGES, read, texts

SPOKEN = ("title", "aria-label", "placeholder", "alt", "data-busy", "data-label", "aria-roledescription")
# Names of keys, files and currencies, the product's own, and patterns that are the same in all languages.
NAMES = {"cellworth", "Alt", "Ctrl", "Enter", "J", "K", "T", "R", "U", "j", "k", "g", "o", "q", "t", "c", "l"}
NAMES |= {"m", "csv", "html", "EUR", "DD", "MM", "YYYY", "UTC"}


def test_dates_are_written_as_in_the_file_or_as_the_language_does():
    own = Column("seen", "date", whole_days=True, date_format="%m/%d/%Y")
    iso = Column("seen", "date", whole_days=True)
    for language, usual in (("en", "2020-07-30"), ("de", "30.07.2020")):
        assert shown_value("2020-07-30", own, language) == "07/30/2020"
        assert shown_value(date(2020, 7, 30), own, language) == "07/30/2020"
        assert shown_value("2020-07-30", iso, language) == usual


class Literal(HTMLParser):
    """Collects the words of a template that no call of the catalogue has taken out."""

    def __init__(self, text):
        super().__init__()
        self.words, self.inside = [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.inside.append(tag)
        self.words += [value or "" for name, value in attributes if name in SPOKEN]

    def handle_endtag(self, tag):
        if tag in self.inside:
            while self.inside.pop() != tag:
                pass

    def handle_data(self, data):
        if not {"script", "style"} & set(self.inside):
            self.words.append(data)


@pytest.mark.parametrize("path", sorted((PAGES / "templates").glob("*.html")), ids=lambda path: path.name)
def test_no_template_has_a_text_outside_the_catalogue(path):
    text = path.read_text("utf-8")
    text = re.sub(r"{%-?\s*trans\b.*?endtrans\s*-?%}", "", text, flags=re.DOTALL)
    # What only names classes, or is set for attributes, is no text.
    text = re.sub(r"{% block width %}.*?{% endblock %}", "", text)
    text = re.sub(r"{% set (more|vals) %}.*?{% endset %}", "", text, flags=re.DOTALL)
    text = re.sub(r"{#.*?#}|{{.*?}}|{%.*?%}", "", text, flags=re.DOTALL)
    text = text.replace("&nbsp;", " ").replace("&amp;", "&")
    words = {word for each in Literal(text).words for word in re.findall(r"[^\W\d_]+", each)}
    assert words - NAMES == set()


@pytest.mark.parametrize("language", sorted(set(LANGUAGES) - {"en"}))
def test_the_second_language_is_complete(language):
    spoken = catalogue(language)
    written = read(LOCALE / language / "LC_MESSAGES" / "pages.po")
    assert set(written) - {""} == {text[0] if isinstance(text, tuple) else text for text in texts()}
    for text in texts():
        one = text[0] if isinstance(text, tuple) else text
        assert all(written[one]), f"not translated: {one}"
        # What is compiled is what is written.
        if isinstance(text, tuple):
            assert [spoken.ngettext(*text, n) for n in (1, 2)] == written[one]
        else:
            assert [spoken.gettext(text)] == written[one]
        names = re.compile(r"%\(\w+\)s|\{\w+\}")
        for translated in written[one]:
            assert sorted(names.findall(translated)) == sorted(names.findall(one)), one


@pytest.mark.parametrize(
    ("cookies", "accepted", "language"),
    [
        ({}, "", "en"),
        ({}, "de", "de"),
        ({}, "fr, de;q=0.3, en;q=0.5", "en"),
        ({}, "de;q=nonsense, en", "en"),
        ({"cellworth_language": "de"}, "en", "de"),
        ({"cellworth_language": "<b>"}, "en", "en"),
    ],
)
def test_the_language_is_the_readers(cookies, accepted, language):
    assert chosen_language(cookies, accepted) == language


@pytest.mark.parametrize("zero", [0.0, -0.0, -0.0004, 0.0004])
def test_zero_has_no_sign(zero):
    numbers = ReaderNumbers("en")
    assert numbers.signed(zero) == numbers.score(zero) == "0.000"


def test_numbers_as_readers_write_them():
    assert ReaderNumbers("en", "JPY").money(1234567) == "1,234,567 JPY"
    assert ReaderNumbers("de", "EUR").money(-1234.5) == "-1.234,50 EUR"
    assert ReaderNumbers("en").money(-0.5) == "-0.50"
    assert ReaderNumbers("de").signed(0.0125) == "+0,013"
    assert ReaderNumbers("de").count(65000) == "65.000"
    assert ReaderNumbers("en").short(1234.5) == "1,234"
    assert ReaderNumbers("en").money(None) == ""
