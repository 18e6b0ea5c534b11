"""Tables, pictures and page: the paper's figures, escapes, and HTML that needs nothing else."""

import csv
import io
import re
from pathlib import Path

import pytest

from studies.paper import report, tables
from studies.paper.claims_on_completion import checks, claims
from studies.paper.experiments import FROM_RATIOS, PUBLISHED_CURVES, PUBLISHED_RIVALS
from studies.paper.report import WRITERS
from studies.paper.tables import Grid, escape_latex, to_csv, to_html, to_latex
from studies.published import SHARES, TABLE_2
from tests.report.pages import Strict
from tests.studies.made_up import buying_rows, completion_rows

METHODS = ("Supervised", "OptSpace", "LMaFit", "NNLS", "SoftImpute", "Gaussian")


def check_page(text):
    """Assert that a page is well-formed and refers to nothing outside itself; return its tags."""
    reader = Strict()
    reader.feed(text)
    reader.close()
    assert reader.open == []
    assert all(address.startswith("data:") for address in reader.addresses)
    assert not re.search(r"@import|url\(|https?://", text)
    assert {"html", "head", "title", "style", "main"} <= set(reader.tags)
    return reader.tags


def error_grid(**changes):
    rows = completion_rows(dict.fromkeys(METHODS, 0.1) | {"NNLS": 0.05, "Gaussian": 0.04} | changes)
    found = tables.table_1(rows, "reconstruction_error")
    return Grid("error", "Error (50 % & more)", found, 1, 3, 2, "method", "observed")


def test_the_papers_table_2():
    assert len(TABLE_2) == 6 * 4 * 7
    assert TABLE_2["abalone", "afasmc", 0.05] == (0.862, 0.009, True)
    assert TABLE_2["HTRU2", "stability", 0.8] == (0.975, 0.002, False)
    assert TABLE_2["HillValley", "random", 0.4] == (0.445, 0.090, True)
    assert all(TABLE_2[d, "afasmc", s].bold for d in ("abalone", "chess", "HTRU2") for s in SHARES)


def test_the_best_of_the_paper_and_of_all():
    by_method = {e.method: e for e in error_grid().entries if (e.dataset, e.share) == ("abalone", 0.6)}
    assert [m for m, e in by_method.items() if e.best] == ["NNLS"]
    assert [m for m, e in by_method.items() if e.best_of_all] == ["Gaussian"]
    assert by_method["Supervised"].paper == 0.13
    assert by_method["Supervised"].off == pytest.approx(-0.03, abs=0.002)
    assert by_method["Gaussian"].paper is None


def test_csv_has_a_line_per_entry():
    grid = error_grid()
    lines = list(csv.DictReader(io.StringIO(to_csv(grid))))
    assert len(lines) == 2 * 2 * 6
    first = lines[0]
    assert (first["dataset"], first["share"], first["method"]) == ("abalone", "0.6", "Supervised")
    assert float(first["off"]) == pytest.approx(float(first["mean"]) - 0.13, abs=2e-6)
    assert [line["ours"] for line in lines[:6]] == ["false"] * 4 + ["true"] * 2
    assert lines[5]["paper"] == ""


def test_latex_escapes():
    assert escape_latex("a_b & 5% of $1 #2 {x} ~ ^ \\ ± <>") == (
        r"a\_b \& 5\% of \$1 \#2 \{x\} \textasciitilde{} \textasciicircum{} \textbackslash{} $\pm$ "
        r"\textless{}\textgreater{}"
    )


def test_latex_has_as_many_cells_in_each_line():
    text = to_latex(error_grid())
    lines = [line for line in text.splitlines() if line.endswith(r"\\")]
    assert {len(re.findall(r"(?<!\\)&", line)) for line in lines} == {7}
    assert "abalone & 60\\% &" in lines[1]
    assert r"\textbf{0.05" in lines[1]
    assert "[0.13]" in lines[1]
    assert r"\underline{0.04" in lines[1]


def test_html_escapes_and_marks():
    text = to_html(error_grid())
    assert "Error (50 % &amp; more)" in text
    assert 'class="best"' in text
    assert 'class="top ours"' in text
    assert 'rowspan="2">abalone' in text
    check_page(report.whole_page("x < y", [text]))


def test_shares_beyond_the_curves_are_not_drawn_out():
    heights = {"last 2": 0.8, "last 4": 0.8, "last 8": 0.8, "last 16": 0.8, "all completions": 0.8}
    found = tables.figure_3(buying_rows(heights, datasets=["HTRU2"], end=0.3))
    assert max(e.share for e in found) == 0.3
    short = buying_rows({"afasmc": 0.8, "afasmc-ratio": 0.8}, datasets=["HTRU2"], end=0.5)
    short += buying_rows({"afasmc-poss": 0.9}, datasets=["HTRU2"], end=0.2)
    by_share = {}
    for entry in tables.figure_2(short):
        by_share.setdefault(entry.share, []).append(entry.method)
    assert by_share[0.2] == ["afasmc", "afasmc-ratio", "afasmc-poss"]
    assert by_share[0.3] == ["afasmc", "afasmc-ratio"]


def test_claims_and_checks_as_html():
    rows = completion_rows(dict.fromkeys((*METHODS, *PUBLISHED_RIVALS), 0.1))
    text = report.whole_page(
        "t",
        [
            report.claim_table(claims(rows)),
            report.check_table(checks(rows, version=lambda _: True)),
        ],
    )
    assert "details" in check_page(text)
    assert "does not hold" in text


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    pytest.importorskip("matplotlib")
    return tmp_path_factory.mktemp("parts")


PRICED = ("afasmc", "afasmc-ratio", "afasmc-poss", FROM_RATIOS, "afasmc-knapsack", "linear-impact")
STRATEGIES = (
    *("random", "qbc", "stability", "afasmc", "em-inference", "linear-impact", "random-gaussian"),
    *PUBLISHED_CURVES,
)


@pytest.mark.parametrize(
    ("part", "methods", "datasets"),
    [
        ("table2", STRATEGIES, ["letter"]),
        ("figure1", STRATEGIES, ["letter", "image"]),
        ("figure2", PRICED, ["HTRU2"]),
        ("figure3", ("last 2", "last 4", "last 8", "last 16", "all completions"), ["HTRU2"]),
    ],
)
def test_parts_are_written_the_same_each_time(part, methods, datasets, folder):
    heights = {method: 0.8 + 0.01 * place for place, method in enumerate(methods)}
    rows = buying_rows(heights, datasets=datasets)
    first = WRITERS[part](rows, folder)
    contents = [path.read_bytes() for path in first.files]
    again = WRITERS[part](rows, folder)
    assert [path.read_bytes() for path in again.files] == contents
    assert {path.suffix for path in first.files} >= {".csv", ".tex"}
    check_page(report.whole_page(first.heading, first.html))


def test_pictures_are_part_of_the_page(tmp_path):
    (tmp_path / "a.svg").write_text("<svg/>")
    text = report.picture_of(Path(tmp_path / "a.svg"), 'a "quoted" text', "caption")
    assert 'alt="a &quot;quoted&quot; text"' in text
    check_page(report.whole_page("t", [text]))
