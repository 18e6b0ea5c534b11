"""What `auto` chooses on the development tables, and what that is worth; see PROTOCOL.md.

`python -m studies.money.automatic --seeds 1 --runs runs/money` reads the finished purchases of
`recommended`, `linear-impact` and random cells, plays what is missing, and prints the figures.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from sklearn.exceptions import ConvergenceWarning

from cellworth.blocks.threads import worker_threads
from cellworth.complete import GaussianCompleter, SupervisedCompleter
from cellworth.model.held_out_folds import fit_completer
from cellworth.strategy import get
from cellworth.strategy.automatic import FALLBACK, LINEAR, RIVAL, choose_on, decided
from cellworth.strategy.buying_task import BuyingTask
from cellworth.strategy.strategy_choice import StrategyChoice
from studies.completion.report import markdown_table
from studies.money.development_tables import NAMES, REPORT, TUNING, start_of
from studies.money.money_ratios import BOOTSTRAPS, LEVEL, MARKS, PurchaseCase, cases_of, geometric_mean
from studies.money.purchases import FULL, RANDOM, Record, Run, judge_of, play, records_of, score_of

AUTO = "auto"
HALVES = {"tuning": TUNING, "report": REPORT}
NEVER = float("inf")
LEADS = (0.0, 0.5, 1.0, 1.5, 2.0, NEVER)
"""Leads in standard errors to choose among, on the tuning half."""
MARK = 0.8


@dataclass(frozen=True)
class ChosenCase:
    """What was chosen at one start.

    Attributes
    ----------
    table : str
    observed : float
    seed : int
    choice : StrategyChoice
    gaussian, supervised : float
        Score on the test rows at the start, after training on either completion.
    seconds : float
        What the choice took, on one core.
    """

    table: str
    observed: float
    seed: int
    choice: StrategyChoice
    gaussian: float
    supervised: float
    seconds: float

    @property
    def is_linear(self) -> bool:
        """Whether the chosen model is linear."""
        return self.choice.model in LINEAR

    def strategy(self, linear: float, trees: float) -> str:
        """Return the strategy if these leads were asked for; see `LEADS`."""
        lead = self.choice.lead
        needed = linear if self.is_linear else trees
        return FALLBACK if lead is None or not lead.errors > needed else RIVAL


def chosen_case(table: str, observed: float, seed: int, folder: Path) -> ChosenCase:
    """Choose at one start; what was chosen is kept in a folder."""
    file = folder / f"{table}-{observed:g}-{seed}.choice"
    if not file.exists():
        with worker_threads(1), warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            file.write_text(json.dumps(_choose(table, observed, seed, folder)))
    kept = json.loads(file.read_text())
    choice = StrategyChoice.from_json(kept.pop("choice"))
    return ChosenCase(table, observed, seed, choice, **kept)


def _choose(table: str, observed: float, seed: int, folder: Path) -> Record:
    start = start_of(table, observed, seed)
    world, begun = start.world, time.perf_counter()
    task = BuyingTask(world.start, world.y, world.layout, world.target, start.prices, seed)
    choice, seconds = choose_on(task), time.perf_counter() - begun
    judge = judge_of(Run(table, observed, "same", RANDOM.name, seed), folder)
    scores = [
        score_of(start, judge, fit_completer(each, world.start, world.y, task.is_number), world.start)
        for each in (GaussianCompleter(label_trust=0.0), SupervisedCompleter())
    ]
    return {
        "choice": choice.to_json(),
        "gaussian": scores[0],
        "supervised": scores[1],
        "seconds": seconds,
    }


def automatic_records(chosen: ChosenCase, records: Iterable[Record], folder: Path) -> list[Record]:
    """Return the purchases of what was chosen: those of its base, played anew only for another completer."""
    at_start = {"table": chosen.table, "observed": chosen.observed, "prices": "same", "seed": chosen.seed}
    if chosen.choice.completer == "Gaussian":
        return [
            record | {"strategy": AUTO}
            for record in records
            if record["strategy"] == chosen.choice.strategy
            and all(record[name] == value for name, value in at_start.items())
        ]
    file = folder / f"{chosen.table}-{chosen.observed:g}-{chosen.seed}-{chosen.choice.strategy}.supervised"
    if not file.exists():
        settled = get(AUTO).recalled(chosen.choice)
        found = records_of(Run(chosen.table, chosen.observed, "same", AUTO, chosen.seed), folder, settled)
        file.write_text(json.dumps([at_start | {"strategy": AUTO} | record for record in found]))
    kept: list[Record] = json.loads(file.read_text())
    return kept


def leads_table(cases: Sequence[PurchaseCase], chosen: Sequence[ChosenCase]) -> str:
    """Return the mean ratio on the tuning half for each lead that could be asked for."""
    by_start = {(each.table, each.observed): each for each in chosen}
    counted = [case for case in cases if case.table in TUNING and case.counts]
    rows = []
    for linear in LEADS:
        means = []
        for trees in LEADS:
            logs = [
                np.log(case.ratio(by_start[case.table, case.observed].strategy(linear, trees), MARK))
                for case in counted
            ]
            means.append(f"{np.exp(np.mean(logs)):.3f}")
        rows.append([f"linear: {linear:g}", *means])
    return markdown_table(["", *(f"trees: {trees:g}" for trees in LEADS)], rows)


def summary_table(cases: Sequence[PurchaseCase]) -> str:
    """Return the mean ratios of all strategies, by half and share known."""
    rows = []
    for half, names in HALVES.items():
        for observed in sorted({case.observed for case in cases}):
            some = [case for case in cases if case.table in names and case.observed == observed]
            for strategy in (AUTO, FALLBACK, RIVAL):
                means = [geometric_mean(some, strategy, mark) for mark in MARKS]
                found = [mean for mean in means if mean is not None]
                if found:
                    texts = [f"{mean.value:.2f} ({mean.low:.2f} to {mean.high:.2f})" for mean in found]
                    rows.append([strategy, half, f"{observed:.0%}", str(found[0].tables), *texts])
    header = ["strategy", "half", "known at the start", "tables", *(f"to {mark:.0%}" for mark in MARKS)]
    return markdown_table(header, rows)


def against_fallback(cases: Sequence[PurchaseCase]) -> str:
    """Return the ratio of the money of `auto` to that of its fallback, with its interval over tables."""
    rows = []
    for half, names in (*HALVES.items(), ("both", NAMES)):
        counted = [case for case in cases if case.table in names and case.counts]
        tables = sorted({case.table for case in counted})
        if not tables:
            continue
        logs = {
            table: [
                np.log(case.ratio(AUTO, MARK) / case.ratio(FALLBACK, MARK))
                for case in counted
                if case.table == table
            ]
            for table in tables
        }
        rng = np.random.default_rng(0)
        drawn = [
            np.exp(
                np.mean([log for k in rng.integers(len(tables), size=len(tables)) for log in logs[tables[k]]])
            )
            for _ in range(BOOTSTRAPS)
        ]
        low, high = np.quantile(drawn, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
        value = np.exp(np.mean([log for of_table in logs.values() for log in of_table]))
        rows.append([half, str(len(counted)), f"{value:.3f} ({low:.3f} to {high:.3f})"])
    return markdown_table(["half", "cases", f"auto / {FALLBACK}, to {MARK:.0%}"], rows)


def case_table(cases: Sequence[PurchaseCase], chosen: Sequence[ChosenCase]) -> str:
    """Return what was chosen at each start, and the ratios there."""
    by_start = {(case.table, case.observed): case for case in cases}
    rows = []
    for each in chosen:
        case, choice = by_start[each.table, each.observed], each.choice
        lead = "none" if choice.lead is None else f"{choice.lead.errors:+.1f}"
        other = "none" if choice.completer_lead is None else f"{choice.completer_lead.errors:+.1f}"
        half = next(name for name, names in HALVES.items() if each.table in names)
        ratios = [f"{case.ratio(name, MARK):.2f}" for name in (AUTO, FALLBACK, RIVAL)]
        rows.append(
            [
                f"{each.table}{'' if case.counts else ' (too little to gain)'}",
                half,
                f"{each.observed:.0%}",
                choice.model or "none",
                lead,
                choice.strategy,
                other,
                choice.completer,
                f"{each.supervised - each.gaussian:+.3f}",
                *ratios,
                f"{each.seconds:.0f}",
            ]
        )
    header = [
        "table",
        "half",
        "known",
        "model",
        "lead in errors",
        "chosen",
        "lead of supervised",
        "completer",
    ]
    return markdown_table(
        [*header, "supervised at the start", AUTO, FALLBACK, RIVAL, "seconds"],
        rows,
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study from the command line."""
    parser = argparse.ArgumentParser(prog="python -m studies.money.automatic", description=__doc__)
    parser.add_argument("--tables", nargs="+", default=list(NAMES), choices=NAMES, metavar="TABLE")
    parser.add_argument(
        "--observed", nargs="+", type=float, default=[0.1, 0.2], help="shares known (0.1 0.2)"
    )
    parser.add_argument("--jobs", type=int, default=1, help="processes (1)")
    parser.add_argument("--runs", type=Path, default=Path("runs/money"), help="finished runs (runs/money)")
    options = parser.parse_args(arguments)
    options.runs.mkdir(parents=True, exist_ok=True)
    starts = [(table, observed, 0) for table in options.tables for observed in options.observed]
    chosen = list(
        Parallel(n_jobs=options.jobs)(delayed(chosen_case)(*start, options.runs) for start in starts)
    )
    runs = [
        Run(table, observed, "same", strategy, seed)
        for table, observed, seed in starts
        for strategy in (FULL, RANDOM.name, FALLBACK, RIVAL)
    ]
    records = play(runs, options.runs, jobs=options.jobs)
    # Thresholds may have been set since a choice was kept: apply those of today.
    chosen = [_as_of_today(each) for each in chosen]
    records += [record for each in chosen for record in automatic_records(each, records, options.runs)]
    cases = cases_of(records)
    for title, text in (
        ("Leads that could be asked for: mean ratio on the tuning half", leads_table(cases, chosen)),
        ("Money as a ratio to random cells", summary_table(cases)),
        ("Money as a ratio to the fallback", against_fallback(cases)),
        (f"Choices, and ratios to random cells at {MARK:.0%}", case_table(cases, chosen)),
    ):
        print(f"## {title}\n\n{text}\n")


def _as_of_today(each: ChosenCase) -> ChosenCase:
    return replace(each, choice=decided(each.choice))


if __name__ == "__main__":
    main()
