"""Any name can stand in an address."""

from urllib.parse import unquote

from hypothesis import example, given
from hypothesis import strategies as st

from cellworth.web.url_paths import name_of, segment


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1))
@example("..")
@example("a~2Fb/c")
@example("50 %")
def test_any_name_is_one_segment_and_comes_back(name):
    part = segment(name)
    assert part.isascii()
    assert "/" not in unquote(part)
    assert unquote(part) not in (".", "..")
    assert name_of(unquote(part)) == name
