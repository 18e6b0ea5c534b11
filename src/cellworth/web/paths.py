"""Names as parts of paths."""

from __future__ import annotations

import re
from urllib.parse import quote

_ESCAPE = re.compile("~([0-9A-F]{2})")


def segment(name: str) -> str:
    """Return a name as one part of a path, ready for a URL, whatever is in it.

    Servers undo the escapes of URLs before they take paths apart, and some undo them twice. So a slash is
    written in a way of our own.

    >>> segment("a study"), segment("a/b"), segment("..")
    ('a%20study', 'a~2Fb', '~2E~2E')
    """
    inner = name.replace("~", "~7E").replace("/", "~2F")
    if name in (".", ".."):
        inner = name.replace(".", "~2E")
    return quote(inner, safe="~", errors="replace")


def name_of(part: str) -> str:
    """Return the name that `segment` was given, from a part of a path whose usual escapes are undone.

    >>> name_of("a~2Fb"), name_of("study")
    ('a/b', 'study')
    """
    return _ESCAPE.sub(lambda found: chr(int(found[1], 16)), part)
