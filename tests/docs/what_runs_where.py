"""The page that says what runs on row blocks, made from the methods of the parts and their docstrings.

``python -m tests.docs.what_runs_where`` writes it.
"""

import inspect
import re

from cellworth import complete, select, strategy
from cellworth.complete.committee_completer import CommitteeCompleter
from cellworth.complete.paired_completer import PairedCompleter
from cellworth.score.committee_scorers import CommitteeStability, QueryByCommittee
from cellworth.score.expected_utility import ExpectedUtility
from cellworth.score.label_scorers import ErrorReduction, LabelUncertainty
from cellworth.score.posterior_scores import PosteriorImpact, PosteriorVariance
from cellworth.score.random_scorer import Random
from cellworth.score.training_gain import TrainingGain
from cellworth.score.variance import Variance
from tests.docs.pages import DOCS

PAGE = DOCS / "reference" / "what-runs-where.md"
COMPLETERS = [getattr(complete, name) for name in complete.__all__ if name.endswith("Completer")]
COMPLETERS += [CommitteeCompleter, PairedCompleter]
SCORERS = [
    *(Variance, PosteriorVariance, PosteriorImpact, TrainingGain, Random),
    *(QueryByCommittee, CommitteeStability, ExpectedUtility, LabelUncertainty, ErrorReduction),
]
SELECTORS = [select.Top, select.Ratio, select.Draw, select.Knapsack, select.Poss]
METHODS = {
    "completer": ("fit_blocks", "complete_rows"),
    "scorer": ("score_blocks",),
    "selector": ("shortlist",),
}
REASON = re.compile(r"Not on row blocks: (.*?)(?:\n\n|\Z)", re.DOTALL)

TOP = """# What runs where

<!-- Written by python -m tests.docs.what_runs_where -->

Everything runs on tables in memory. On [tables in row blocks](../howto/tables-larger-than-memory.md), from
`Table.open`, runs what has the methods for it: this page is made from them, and a test compares the two.

"""


def runs(part, role):
    """Return whether a part, or its class, has the methods that row blocks need."""
    return all(hasattr(part, method) for method in METHODS[role])


def reason(part):
    """Return why a part does not run on row blocks, as its docstring says it; None if it does not say."""
    found = REASON.search(inspect.getdoc(part) or "")
    return None if found is None else " ".join(found[1].split()).replace("``", "`")


def page():
    """Return the page."""
    parts = [TOP]
    for role, kinds in (("completer", COMPLETERS), ("scorer", SCORERS), ("selector", SELECTORS)):
        methods = " and ".join(f"`{method}`" for method in METHODS[role])
        parts.append(f"## {role.capitalize()}s\n\nBy {methods}.\n\n")
        rows = [(f"`{kind.__name__}`", runs(kind, role), reason(kind) or "") for kind in kinds]
        parts.append(table(role, rows))
    parts.append("## Strategies\n\nA strategy runs on row blocks if its three parts do.\n\n")
    parts.append(table("strategy", [strategy_row(name) for name in strategy.names()]))
    parts.append(REST)
    return "".join(parts)


def strategy_row(name):
    """Return the row of a strategy: its name, whether it runs on blocks, and which part does not."""
    made = strategy.get(name)
    roles = {"completer": made.completer, "scorer": made.scorer, "selector": made.selector}
    lacking = [f"`{type(part).__name__}`" for role, part in roles.items() if not runs(part, role)]
    note = (
        f"because of {', '.join(lacking)}"
        if lacking
        else "on every k-th of many rows"
        if made.is_open
        else ""
    )
    return f"`{name}`", not lacking, note


def table(what, rows):
    """Return a table of (name, runs on blocks, note)."""
    lines = [f"| {what} | on row blocks | |", "|---|---|---|"]
    lines += [f"| {name} | {'yes' if on_blocks else 'no'} | {note} |" for name, on_blocks, note in rows]
    return "\n".join(lines) + "\n\n"


REST = """## Functions

| | on row blocks |
|---|---|
| `fill`, `cellworth fill` | yes, with intervals |
| `advise`, `cellworth advise` | yes, with all prices, labels for sale and refused cells |
| `advise` on sparse matrices, `.npz` files | yes, with `SparseCompleter` in every strategy; not "auto" |
| `Campaign`: ask, tell, refuse, correct, take, of cells and labels | yes |
| `Campaign`: rows, search_rows, extend, fill, replay, check, backup, export | yes |
| `Campaign.status`, `forecast`, `advice` | on every k-th row, 4,000 to 8,000 in all, and say so |
| `Campaign.model` | on the same rows, with their answers, and warns of it |
| `Campaign.write_report` | yes, with scores and fill errors of the same rows, and a map of 400 rows |
| `Campaign.policy`, `next_cell` | for any row, by a model of the same rows, and warn of it |
| `Campaign.undecided`, `cellworth next` | likewise, for the first 1,000 rows without a label |
| `Campaign.cells` | yes, 4,000,000 cells at a time: `cells(first, last)` |
| pages and REST: queue, grid, rows, columns, money, history | yes |
| pages and REST: rows by a text in their id, by missing cells | yes, 1,000,000 rows in a request |
| pages and REST: rows with cells that are bought, out or refused | yes |
| pages and REST: rows sorted by a column | yes, the first 10,000, of up to 20,000,000 |
| pages and REST: whole files; `cellworth export` | yes, a part at a time; workbooks to 1,048,575 rows |
| pages and REST: guesses and worths of single cells | yes, from the row's block; ranks to 5 digits of worth |
| pages and REST: the map, columns by worth | yes, of all rows; fill errors of the same rows as the status |
| pages and REST: what a batch's money could have bought | no; `preview` says what a budget buys now |
| `simulate`, `forecast`; `cellworth model` | on such rows, and warn of it; money is that of all |
| `Policy`; `cellworth next --table` | learns from such rows, and warns of it |
| `CompletingClassifier`, `CompletingRegressor` | no; on a sample, `Table.open(...).every(k)` |
"""


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
