"""Reproduce the paper's experiments and write the results as one page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cellworth.errors import ParameterError
from cellworth.report import markup
from studies.paper import report
from studies.paper.experiments import ONE_TABLE
from studies.paper.report import WRITERS, Part
from studies.paper.runs import carry_out
from studies.paper.settings import Schedule, Settings
from studies.paper.verdict import Check, Claim

PARTS = tuple(WRITERS)
"""The tables and figures of the paper that can be reproduced."""

_EXPERIMENT_OF = {
    "table1": "table1",
    "table2": "curves",
    "figure1": "curves",
    "figure2": "prices",
    "figure3": "windows",
}
_ON_ONE_TABLE = ("figure2", "figure3")


@dataclass(frozen=True)
class Reproduction:
    """The results of a reproduction.

    Attributes
    ----------
    page : path
        The report, a self-contained HTML file.
    files : list of paths
        Tables (CSV, LaTeX) and figures (PNG, SVG).
    claims : list of Claim
        Each with its cases and its outcome.
    checks : list of Check
        Whether our figures are close enough to the paper's.
    left_out : list of str
        Requested parts that need a table that was not requested.
    warning : str
        Why the figures should not be compared with the paper's; empty if they can be.
    """

    page: Path
    files: list[Path]
    claims: list[Claim]
    checks: list[Check]
    left_out: list[str]
    warning: str


def reproduce(
    parts: Sequence[str] = PARTS,
    settings: Settings | None = None,
    out: Path | str = "paper-results",
    *,
    jobs: int = 1,
    progress: bool = False,
    command: str = "",
) -> Reproduction:
    """Run the paper's experiments and write the results next to the paper's.

    Parameters
    ----------
    parts : names, default=all of `PARTS`
        Tables and figures. Figures 2 and 3 use HTRU2 and are left out if the settings do not include it;
        ParameterError if nothing else was requested.
    settings : Settings, optional
        By default the paper's settings, with ten repeats.
    out : path, default="paper-results"
        Folder for the results. A Parquet file per experiment holds every result of every seed; runs already
        in it are not repeated, so interrupted work resumes where it stopped.
    jobs : int, default=1
        Processes. Results do not depend on it.
    progress : bool, default=False
        Show a bar with the time left on standard error.
    command : str, optional
        The command to name on the page.

    Returns
    -------
    Reproduction
        The page is ``report.html`` for all parts, otherwise named after the parts.

    Notes
    -----
    All parts with ten repeats take some 50 minutes of processor time.
    """
    settings = settings or Settings()
    chosen, left_out = _choose(parts, settings)
    folder = Path(out)
    experiments = list(dict.fromkeys(_EXPERIMENT_OF[part] for part in chosen))
    rows = carry_out(experiments, settings, folder, jobs=jobs, progress=progress)
    written = [WRITERS[part](rows[_EXPERIMENT_OF[part]], folder) for part in chosen]
    name = "report" if set(parts) == set(PARTS) else "-".join(chosen)
    path = folder / f"{name}.html"
    facts = markup.facts(_facts(chosen, settings, command, left_out))
    path.write_text(_page(written, facts, _warning(settings)), encoding="utf-8")
    return Reproduction(
        path,
        [file for part in written for file in part.files],
        [claim for part in written for claim in part.claims],
        [check for part in written for check in part.checks],
        left_out,
        _warning(settings),
    )


def describe(done: Reproduction) -> str:
    """Return the results as lines of text: bounds, verdicts, and the path of the page."""
    lines = [
        f"{'met' if check.passed else 'NOT MET':<16}{check.text} ({check.counts})" for check in done.checks
    ]
    lines += [f"{claim.outcome:<16}{claim.part}: {claim.text} ({claim.counts})" for claim in done.claims]
    if done.left_out:
        lines.append(f"Left out, because they use {ONE_TABLE}: {', '.join(done.left_out)}")
    return "\n".join([*[done.warning] * bool(done.warning), *lines, "", f"The report is {done.page}"])


def _choose(parts: Sequence[str], settings: Settings) -> tuple[list[str], list[str]]:
    unknown = [part for part in parts if part not in PARTS]
    if unknown or not parts:
        raise ParameterError(f"parts must be among {', '.join(PARTS)}; got {', '.join(parts) or 'none'}")
    left_out = [part for part in parts if part in _ON_ONE_TABLE and ONE_TABLE not in settings.datasets]
    chosen = [part for part in PARTS if part in parts and part not in left_out]
    if not chosen:
        raise ParameterError(
            f"{' and '.join(left_out)} is on {ONE_TABLE}, as in the paper; add it to the data sets, which "
            f"are {', '.join(settings.datasets)}"
        )
    return chosen, left_out


def _page(parts: Sequence[Part], facts: str, warning: str) -> str:
    claims = [claim for part in parts for claim in part.claims]
    checks = [check for part in parts for check in part.checks]
    pieces = [markup.paragraph(warning, "warning")] if warning else []
    pieces += [facts, _protocol()]
    if checks:
        note = markup.paragraph("Bounds on the distance of our AFASMC to the paper's figures.")
        pieces.append(markup.section("How near the figures are", [note, report.check_table(checks)]))
    of_paper = report.claim_table([claim for claim in claims if not claim.ours])
    pieces.append(markup.section("What the paper claims", [markup.paragraph(report.rule()), of_paper]))
    if ours := [claim for claim in claims if claim.ours]:
        pieces.append(markup.section("Further questions, and our methods", [report.claim_table(ours)]))
    pieces += [markup.section(part.heading, part.html) for part in parts]
    return report.whole_page(
        "Active feature acquisition with supervised matrix completion, run again", pieces
    )


def _warning(settings: Settings) -> str:
    if settings.rows is None:
        return ""
    return f"A quick look at {settings.rows} rows of each table: do not compare it with the paper's figures."


def _facts(
    chosen: Sequence[str], settings: Settings, command: str, left_out: Sequence[str]
) -> list[tuple[str, str]]:
    from cellworth import __version__

    pairs = [
        ("made by", f"cellworth {__version__}" + (f", {command}" if command else "")),
        ("data sets", ONE_TABLE if set(chosen) <= set(_ON_ONE_TABLE) else ", ".join(settings.datasets)),
        ("seeds", f"0 to {settings.repeats - 1}" if settings.repeats > 1 else "0"),
    ]
    if {"table2", "figure1"} & set(chosen):
        pairs.append(("Table 2, Figure 1", f"{_words(settings.curves)} of the missing cells"))
        pairs.append(("committee", ", ".join(settings.committee)))
    if "figure2" in chosen:
        pairs.append(("Figure 2", f"{_words(settings.prices)} of the price of all missing cells"))
    if "figure3" in chosen:
        pairs.append(("Figure 3", f"{_words(settings.windows)} of the missing cells"))
    if left_out:
        pairs.append(("left out", f"{', '.join(left_out)}: on {ONE_TABLE} only, which was not asked for"))
    return pairs


def _words(schedule: Schedule) -> str:
    return f"{schedule.rounds} rounds of {100 * schedule.batch:g} %"


def _protocol() -> str:
    return markup.paragraph(
        "Columns are scaled to [0, 1] over the whole table; 70 % of the rows, drawn by class, train and the "
        "others test. Cells of the training rows are hidden at random, test rows are complete. A linear SVM "
        "(C = 1) is trained on the filled rows. The reconstruction error is the norm of the difference over "
        "the norm of the complete training table, observed cells kept. In the experiments on buying, 60 % of "
        "the cells are known at the start. The paper does not say which version of HillValley it took, and "
        "its accuracy there is at chance: the version with noise is the main one here."
    )
