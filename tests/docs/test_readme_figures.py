"""The figures of the README and of the first page are those of the generated page that they name."""

import re

import pytest

from tests.docs.pages import DOCS, README

TEXT = " ".join(README.read_text().split())
FIRST_PAGE = " ".join((DOCS / "index.md").read_text().split())
PAGE = (DOCS / "results" / "money.md").read_text()
AIM = re.compile(
    r"on the tuning half \((?P<tuning>[\d.]+),.*?on the report half \((?P<report>[\d.]+), (?P<ends>[^)]*)\)"
)


def section(title: str) -> str:
    """Return the text under a heading of the page, up to the next of any level."""
    found = re.search(rf"^#+ {re.escape(title)}$(.*?)(?=^#|\Z)", PAGE, re.DOTALL | re.MULTILINE)
    assert found is not None, f"the page has no section {title!r}"
    return found[1]


def number(pattern: str, text: str = TEXT) -> str:
    found = re.search(pattern, text)
    assert found is not None, pattern
    return found[1]


def rows(text: str, first: str) -> list[list[str]]:
    """Return the cells of the table rows whose first cell begins like this."""
    return [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in text.splitlines()
        if line.startswith(f"| {first}")
    ]


@pytest.mark.parametrize(("column", "words"), [(5, r"has an AUC of ([\d.]+) on"), (3, r"SVM ([\d.]+)\. On")])
def test_mean_scores_of_models(column, words):
    text = section("The model that is trained on the holes")
    halves = rows(text, "tuning, AUC") + rows(text, "report, AUC")
    starts = [int(row[2]) for row in halves]
    mean = sum(n * float(row[column]) for n, row in zip(starts, halves, strict=True)) / sum(starts)
    assert number(words) == f"{mean:.2f}"
    assert number(r"On (\d+) tables with classes") == str(sum(starts))


def test_tables_on_which_the_model_beats_all_cells():
    text = section("The model that is trained on the holes")
    above, of = number(r"at (\d+) it is above", text), number(r"linear one at \d+ of (\d+) starts", text)
    assert f"On {above} of {of} tables it is better than that SVM with all cells known" in TEXT


def test_money_of_chosen_cells():
    same = section("Every cell costs 1")
    (image,) = (row for row in rows(same, "image") if row[2] == "20%")
    for text in (TEXT, FIRST_PAGE):
        assert number(r"full information for ([\d.]+) of the money", text) == image[-1].split()[0]
    aim = AIM.search(same)
    assert aim is not None
    said = f"used for tuning is {aim['tuning']}, over those kept apart {aim['report']} ({aim['ends']})"
    assert said in TEXT
    assert f"{aim['tuning']} on those used for tuning and {aim['report']} on those kept apart" in FIRST_PAGE
    assert f"In {number(r'than random cells: ([0-9]+ of [0-9]+)', same)} cases" in TEXT
    visits = AIM.search(section("Every cell costs 1, every row touched in a batch 5 more"))
    assert visits is not None
    assert f"every visit costs extra, {visits['tuning']} and {visits['report']}." in TEXT
