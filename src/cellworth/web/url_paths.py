"""Any name as one segment of a URL path, and back."""

from __future__ import annotations

import re
from urllib.parse import quote

_ESCAPE = re.compile("~([0-9A-F]{2})")


def segment(name: str) -> str:
    """Encode any name as one segment of a URL path.

    Servers decode URLs before splitting paths, and some decode them twice, so slashes get an escape of their
    own.

    >>> segment("a study"), segment("a/b"), segment("..")
    ('a%20study', 'a~2Fb', '~2E~2E')
    """
    inner = name.replace("~", "~7E").replace("/", "~2F")
    if name in (".", ".."):
        inner = name.replace(".", "~2E")
    return quote(inner, safe="~", errors="replace")


def name_of(part: str) -> str:
    """Return the name that `segment` encoded, from a URL-decoded segment.

    >>> name_of("a~2Fb"), name_of("study")
    ('a/b', 'study')
    """
    return _ESCAPE.sub(lambda found: chr(int(found[1], 16)), part)
