"""The gallery: each page has its program, its picture and its place. test_docs_run.py runs the programs."""

import re

import pytest

from tests.docs.pages import DOCS, ROOT, blocks

PAGES = [page for page in sorted((DOCS / "gallery").glob("*.md")) if page.stem != "index"]


def test_there_are_ten_tasks_or_more():
    assert len(PAGES) >= 10


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_has_one_program_that_draws_its_picture(page):
    text = page.read_text("utf-8")
    title = re.match(r"# (.+)\n", text)[1]
    assert f"![{title}]({page.stem}.png)" in text
    assert page.with_suffix(".png").read_bytes().startswith(b"\x89PNG")
    (block,) = blocks(text)
    assert block.code.count("plt.subplots(") == 1
    assert block.output


def test_all_pages_are_in_the_index_and_in_the_navigation():
    index = (DOCS / "gallery" / "index.md").read_text("utf-8")
    navigation = (ROOT / "mkdocs.yml").read_text("utf-8")
    for page in PAGES:
        assert index.count(f"]({page.name})") == 2
        assert f"gallery/{page.name}" in navigation
