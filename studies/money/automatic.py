"""What `auto` chooses on the development tables, and what that is worth; see PROTOCOL.md."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from cellworth.complete import GaussianCompleter, SupervisedCompleter
from cellworth.model.held_out_folds import fit_completer
from cellworth.strategy import get
from cellworth.strategy.auto_choice import BuyingTask, StrategyChoice
from cellworth.strategy.auto_strategy import FALLBACK, LINEAR, RIVAL, choose_on, decided
from studies.completion.report import markdown_table
from studies.money.development_tables import HALVES, NAMES, TUNING, half_of, start_of
from studies.money.kept_cases import CaseFolder, Record, Start, StartTask, start_tasks, what_was_run
from studies.money.money_ratios import BOOTSTRAPS, LEVEL, PurchaseCase, cases_of
from studies.money.purchases import FULL, RANDOM, Run, judge_of, play, records_of, score_of
from studies.money.purchases_page import ratios_table

AUTO = "auto"
NEVER = float("inf")
LEADS = (0.0, 0.5, 1.0, 1.5, 2.0, NEVER)
"""Leads in standard errors to choose among, on the tuning half."""
MARK = 0.8
CLEAR = 0.02
"""Completions further apart than this at the start are clearly different."""
INTRODUCTION = f"""## Strategy and completer chosen automatically

`auto` chooses once, at the start, between `{FALLBACK}`, which it falls back on, and `{RIVAL}`, by hiding
known cells and buying them back; and between the Gaussian and `SupervisedCompleter`. Every cell costs 1.
Aim, before it becomes the default: less money than `{FALLBACK}` for {MARK:.0%} of the way on both halves,
with an interval that ends below 1 over both together."""


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
    def start(self) -> Start:
        """The table, the share known, and the seed."""
        return self.table, self.observed, self.seed

    @property
    def is_linear(self) -> bool:
        """Whether the chosen model is linear."""
        return self.choice.model in LINEAR

    def strategy(self, linear: float, trees: float) -> str:
        """Return the strategy if these leads were asked for; see `LEADS`."""
        lead = self.choice.lead
        needed = linear if self.is_linear else trees
        return FALLBACK if lead is None or not lead.errors > needed else RIVAL


def chosen_cases(starts: Sequence[Start], folder: CaseFolder) -> list[ChosenCase]:
    """Choose at each start, by the thresholds of today: they may have been set since a choice was kept."""
    found = folder.records("choosing", start_tasks("choice", starts), _choose)
    return [_case_of(task, record) for task, (record,) in found.items()]


def _case_of(task: StartTask, record: Record) -> ChosenCase:
    choice = decided(StrategyChoice.from_json(record["choice"]))
    figures = {name: record[name] for name in ("gaussian", "supervised", "seconds")}
    return ChosenCase(*task.start, choice, **figures)


def _choose(task: StartTask, folder: Path) -> list[Record]:
    start = start_of(*task.start)
    world, begun = start.world, time.perf_counter()
    buying = BuyingTask(world.start, world.y, world.layout, world.target, start.prices, task.seed)
    choice, seconds = choose_on(buying), time.perf_counter() - begun
    judge = judge_of(Run(task.table, task.observed, "same", RANDOM.name, task.seed), folder)
    scores = [
        score_of(start, judge, fit_completer(each, world.start, world.y, buying.is_number), world.start)
        for each in (GaussianCompleter(label_trust=0.0), SupervisedCompleter())
    ]
    kept = {"choice": choice.to_json(), "gaussian": scores[0], "supervised": scores[1], "seconds": seconds}
    return [kept]


def automatic_records(chosen: ChosenCase, records: Iterable[Record], folder: CaseFolder) -> list[Record]:
    """Return the purchases of what was chosen: those of its base, played anew only for another completer."""
    at_start = {"table": chosen.table, "observed": chosen.observed, "prices": "same", "seed": chosen.seed}
    if chosen.choice.completer == "Gaussian":
        return [
            record | {"strategy": AUTO}
            for record in records
            if record["strategy"] == chosen.choice.strategy
            and all(record[name] == value for name, value in at_start.items())
        ]
    task = StartTask(f"{chosen.choice.strategy}-supervised", *chosen.start)
    kept = folder.records("buying", [task], _play_supervised)
    return [at_start | {"strategy": AUTO} | record for found in kept.values() for record in found]


def _play_supervised(task: StartTask, folder: Path) -> list[Record]:
    choice_task = StartTask("choice", *task.start)
    (record,) = json.loads(choice_task.file(folder).read_text())
    settled = get(AUTO).recalled(_case_of(choice_task, record).choice)
    return records_of(Run(task.table, task.observed, "same", AUTO, task.seed), folder, settled)


def _start_of(record: Record) -> Start:
    return record["table"], record["observed"], record["seed"]


def automatic_part(starts: Sequence[Start], folder: CaseFolder) -> str:
    """Return the section of the page."""
    chosen = chosen_cases(starts, folder)
    runs = [
        Run(each.table, each.observed, "same", strategy, each.seed)
        for each in chosen
        for strategy in (FULL, RANDOM.name, FALLBACK, RIVAL)
    ]
    records = play(runs, folder)
    played = {_start_of(record) for record in records}
    records += [record for each in chosen for record in automatic_records(each, records, folder)]
    done = played & {_start_of(record) for record in records if record["strategy"] == AUTO}
    chosen = [each for each in chosen if each.start in done]
    cases = cases_of([record for record in records if _start_of(record) in done])
    run = what_was_run(starts, {each.start for each in chosen})
    if not cases:
        return f"{INTRODUCTION}\n\n{run}"
    return "\n\n".join(
        [
            INTRODUCTION,
            run,
            ratios_table(cases, (AUTO, FALLBACK, RIVAL)),
            _fallback_table(against_fallback(cases)),
            _verdict(cases, chosen),
            f"Leads in standard errors that could be asked of `{RIVAL}`, and the mean ratio to random cells "
            f"for {MARK:.0%} of the way on the tuning half; with inf it is never chosen.",
            leads_table(cases, chosen),
            f"What was chosen at each start, and ratios to random cells for {MARK:.0%} of the way.",
            case_table(cases, chosen),
        ]
    )


def leads_table(cases: Sequence[PurchaseCase], chosen: Sequence[ChosenCase]) -> str:
    """Return the mean ratio on the tuning half for each lead that could be asked for."""
    counted = [case for case in cases if case.table in TUNING and case.counts]
    if not counted:
        return ""
    rows = []
    for linear in LEADS:
        means = []
        for trees in LEADS:
            logs = [np.log(_with_leads(case, chosen, linear, trees).ratio(AUTO, MARK)) for case in counted]
            means.append(f"{np.exp(np.mean(logs)):.3f}")
        rows.append([f"linear models: {linear:g}", *means])
    return markdown_table(["", *(f"trees: {trees:g}" for trees in LEADS)], rows)


def _with_leads(
    case: PurchaseCase, chosen: Sequence[ChosenCase], linear: float, trees: float
) -> PurchaseCase:
    """Return a case in which `auto` asks for other leads; its curves are sorted by seed."""
    here = [each for each in chosen if (each.table, each.observed) == (case.table, case.observed)]
    names = [each.strategy(linear, trees) for each in sorted(here, key=lambda each: each.seed)]
    curves = np.array([case.curves[name][k] for k, name in enumerate(names)])
    return replace(case, curves=case.curves | {AUTO: curves})


@dataclass(frozen=True)
class RatioToFallback:
    """The money of `auto` over that of its fallback: geometric mean over cases, interval over tables."""

    half: str
    cases: int
    value: float
    low: float
    high: float


def against_fallback(cases: Sequence[PurchaseCase]) -> list[RatioToFallback]:
    """Return the ratios of the halves, and of both together."""
    found = []
    for half, names in (*HALVES.items(), ("both", NAMES)):
        logs: dict[str, list[float]] = {}
        for case in cases:
            if case.table in names and case.counts:
                ratio = case.ratio(AUTO, MARK) / case.ratio(FALLBACK, MARK)
                logs.setdefault(case.table, []).append(float(np.log(ratio)))
        if not logs:
            continue
        tables, rng = sorted(logs), np.random.default_rng(0)
        drawn = [
            np.exp(
                np.mean([log for k in rng.integers(len(tables), size=len(tables)) for log in logs[tables[k]]])
            )
            for _ in range(BOOTSTRAPS)
        ]
        low, high = np.quantile(drawn, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
        every = [log for of_table in logs.values() for log in of_table]
        found.append(
            RatioToFallback(half, len(every), float(np.exp(np.mean(every))), float(low), float(high))
        )
    return found


def _fallback_table(ratios: Sequence[RatioToFallback]) -> str:
    rows = [[r.half, str(r.cases), f"{r.value:.3f} ({r.low:.3f} to {r.high:.3f})"] for r in ratios]
    return markdown_table(["half", "cases", f"money of `{AUTO}` / `{FALLBACK}`, to {MARK:.0%}"], rows)


def is_better(ratios: Sequence[RatioToFallback]) -> bool:
    """Return whether `auto` should be the default."""
    by_half = {ratio.half: ratio for ratio in ratios}
    return all(half in by_half and by_half[half].value < 1 for half in HALVES) and by_half["both"].high < 1


def _verdict(cases: Sequence[PurchaseCase], chosen: Sequence[ChosenCase]) -> str:
    """Return whether the aim is met, how often the fallback was left, and whether another completer pays."""
    left = [each for each in chosen if each.choice.strategy != FALLBACK]
    named = ", ".join(f"{each.table} ({each.observed:.0%})" for each in left) or "none"
    lost = [
        f"{case.table} ({case.observed:.0%})"
        for case in cases
        if case.counts and case.ratio(AUTO, MARK) > case.ratio(FALLBACK, MARK)
    ]
    leads = np.array([each.supervised - each.gaussian for each in chosen])
    met = "met" if is_better(against_fallback(cases)) else "missed"
    other = sum(each.choice.completer != "Gaussian" for each in chosen)
    return (
        f"The aim is {met}. `auto` left the fallback at {len(left)} of {len(chosen)} starts: {named}. Where "
        f"it needed more money than `{FALLBACK}`, of those that count: {', '.join(lost) or 'none'}. It chose "
        f"`SupervisedCompleter` at {other} starts. On the test rows at the start, that is {CLEAR} or more "
        f"above the Gaussian at {(leads >= CLEAR).sum()}, and as much below it at {(leads <= -CLEAR).sum()}."
    )


def case_table(cases: Sequence[PurchaseCase], chosen: Sequence[ChosenCase]) -> str:
    """Return what was chosen at each start, and the ratios there."""
    by_start = {(case.table, case.observed): case for case in cases}
    rows = []
    for each in chosen:
        case, choice = by_start[each.table, each.observed], each.choice
        lead = "none" if choice.lead is None else f"{choice.lead.errors:+.1f}"
        other = "none" if choice.completer_lead is None else f"{choice.completer_lead.errors:+.1f}"
        ratios = [f"{case.ratio(name, MARK):.2f}" for name in (AUTO, FALLBACK, RIVAL)]
        rows.append(
            [
                f"{each.table}{'' if case.counts else ' (too little to gain)'}",
                half_of(each.table),
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
