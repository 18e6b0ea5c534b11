"""Whether German pages say in German what the library says in English."""

import re

import pytest

from cellworth.errors import CellworthError
from cellworth.setting_names import speaking
from cellworth.web.pages.library_texts import said

ENGLISH = re.compile(r"\b(the|got|expected|is|are|and|of|for|but|row|cell|hole|no|to|must|with|or|not|may)\b")
QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"|/\S+")


def english_in(text):
    """Return the English words that are left of a message in German; names, values and paths do not count."""
    return ENGLISH.findall(QUOTED.sub("", said(text, "de")))


def message_of(act):
    """Return what the library says on a page if something is refused."""
    with speaking("pages"), pytest.raises(CellworthError) as caught:
        act()
    return str(caught.value)
