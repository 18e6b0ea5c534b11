"""The page of what runs where says what the parts' methods say, and each part says why it does not."""

import pytest

from tests.docs.what_runs_where import COMPLETERS, PAGE, SCORERS, SELECTORS, page, reason, runs

PARTS = [
    (kind, role)
    for role, kinds in (("completer", COMPLETERS), ("scorer", SCORERS), ("selector", SELECTORS))
    for kind in kinds
]


def test_the_page_is_up_to_date():
    assert PAGE.read_text("utf-8") == page(), "run python -m tests.docs.what_runs_where"


@pytest.mark.parametrize(("kind", "role"), PARTS, ids=lambda value: getattr(value, "__name__", value))
def test_what_does_not_run_on_blocks_says_why(kind, role):
    assert runs(kind, role) == (reason(kind) is None)
