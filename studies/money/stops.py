"""The section of the page on when to stop: the rules compared, and where the default stopped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from studies.completion.report import markdown_table
from studies.money.development_tables import HALVES, NAMES, half_of
from studies.money.kept_cases import CaseFolder, Record, Start, StartTask, start_tasks, what_was_run
from studies.money.stop_candidates import (
    CHANCES,
    DEFAULT,
    ENOUGH,
    GAINS,
    REACHES,
    PointRule,
    best_candidate,
    change_of_cost,
    cheapest,
    stop_figures,
)
from studies.money.stop_runs import StopRun, point_of, run_table

SHOWN = (DEFAULT, PointRule(least_gain=0.01), PointRule(0.98), PointRule(0.99))
"""Shown for both halves, besides the best on the tuning half."""
AIM_REACHED, AIM_TIMES = 0.9, 1.5
INTRODUCTION = f"""## When to stop

The table is bought up with `recommended`. After each purchase the rest is forecast as in a campaign's status,
and the rules are asked. *Enough* is {ENOUGH:.0%} of the reachable score, that with all cells, or of
the best score on the way; the best possible stop is the cheapest purchase that reaches it. Aim: enough in
{AIM_REACHED:.0%} of the runs, for at most {AIM_TIMES} times the money of the best stop, in the median.
Rules stop when a share of the reachable score *is reached* by the median of the forecast, or with a chance by
its draws; when the next *tenth* of the remaining cost brings less than a gain by the upper end of its 90 %
interval; or in either case."""


def stops_part(starts: Sequence[Start], folder: CaseFolder) -> str:
    """Return the section of the page."""
    found = folder.records("stops", start_tasks("stops", starts), _points)
    runs = [[point_of(record) for record in records] for records in found.values()]
    run = what_was_run(starts, {task.start for task in found})
    if not runs:
        return f"{INTRODUCTION}\n\n{run}"
    parts = [_summary_table(runs), _choice(runs), _verdict(runs), *_candidates(runs), _run_table(runs)]
    return "\n\n".join([INTRODUCTION, run, *(part for part in parts if part)])


def _points(task: StartTask, folder: Path) -> list[Record]:
    return [asdict(point) for point in run_table(*task.start)]


def _halves(runs: Sequence[StopRun]) -> dict[str, list[StopRun]]:
    """Return the runs of each half, and of both, where there are any."""
    halves = {
        half: [run for run in runs if run[0].table in names]
        for half, names in (*HALVES.items(), ("both", NAMES))
    }
    return {half: some for half, some in halves.items() if some}


def _summary_table(runs: Sequence[StopRun]) -> str:
    halves = _halves(runs)
    best = [best_candidate(halves["tuning"])] if "tuning" in halves else []
    rows = []
    for rule in dict.fromkeys([*SHOWN, *best]):
        for half, some in halves.items():
            of_all = stop_figures(rule, some)
            of_best = stop_figures(rule, some, of_best=True)
            texts = [f"{each.reached:.0%}, {each.times:.1f} times" for each in (of_all, of_best)]
            change = "{:.2f} ({:.2f} to {:.2f})".format(*change_of_cost(rule, some))
            rows.append([str(rule), half, str(len(some)), f"{of_all.spent:.0%}", *texts, change])
    header = ["stop when", "half", "runs", "money spent, median"]
    wanted = [f"{ENOUGH:.0%} of {what}, and its cost" for what in ("the reachable score", "the best score")]
    return markdown_table([*header, *wanted, "money / that of the default"], rows)


def _choice(runs: Sequence[StopRun]) -> str:
    """Return which candidate the tuning half chooses, and whether it is taken; see PROTOCOL.md."""
    tuning = _halves(runs).get("tuning")
    if tuning is None:
        return ""
    best = best_candidate(tuning)
    if best == DEFAULT:
        return "No candidate that reaches enough as often on the tuning half is cheaper than the default."
    clearly = change_of_cost(best, tuning)[2] < 1
    reached, before = (stop_figures(rule, runs).reached for rule in (best, DEFAULT))
    taken = "it is to be taken" if clearly and reached >= before else "so the default stays"
    return (
        f"Of the candidates that reach enough at least as often as the default on the tuning half, the "
        f"cheapest there is *{best}*. It is {'' if clearly else 'not '}clearly cheaper there, and over all "
        f"runs it reaches enough in {reached:.0%}, the default in {before:.0%}: {taken}."
    )


def _verdict(runs: Sequence[StopRun]) -> str:
    """Return whether the default rule meets the aim, and why it cannot save where nothing was to gain."""
    figures = stop_figures(DEFAULT, runs)
    reached = "met" if figures.reached >= AIM_REACHED else "missed"
    saved = "met" if figures.times <= AIM_TIMES else "missed"
    enough = [run for run in runs if run[0].score >= ENOUGH * run[-1].score]
    short = [run for run in runs if DEFAULT.stop(run).score < ENOUGH * run[-1].score]
    fallen = [run for run in short if DEFAULT.stop(run).score < run[0].score]
    early = [run for run in short if run not in fallen]
    return (
        f"With the default, *{DEFAULT}*, the aim for the score is {reached} ({figures.reached:.0%} of "
        f"the runs), that for the money {saved} ({figures.times:.1f} times). It stopped too early on "
        f"{_tables(early) or 'no table'}; on {_tables(fallen) or 'none'} the score had fallen since the "
        f"start, which more money does not mend. Where it does not pay: in {len(enough)} of {len(runs)} runs "
        f"the cells known at the start were enough, and any purchase is money lost: "
        f"{_tables(enough) or 'none'}."
    )


def _tables(runs: Sequence[StopRun]) -> str:
    """Return the names of the tables, and in how many runs each, if in more than one."""
    names = [run[0].table for run in runs]
    counts = {name: names.count(name) for name in names}
    return ", ".join(name if count == 1 else f"{name} ({count} times)" for name, count in counts.items())


def _candidates(runs: Sequence[StopRun]) -> list[str]:
    """Return for each half what all candidates reach and cost."""
    texts = []
    for half, some in _halves(runs).items():
        if half == "both":
            continue

        def text(rule: PointRule, some: Sequence[StopRun] = some) -> str:
            figures = stop_figures(rule, some)
            return f"{figures.reached:.0%}, {figures.times:.1f}"

        gains = markdown_table(
            ["a tenth brings less than", *(f"{gain:g}" for gain in GAINS)],
            [["alone", *(text(PointRule(least_gain=gain)) for gain in GAINS)]],
        )
        rows = [
            [
                " or ".join([f"{reach:.1%}", *also]),
                *(text(PointRule(reach, chance, gain)) for chance in CHANCES),
            ]
            for gain, also in ((None, []), (0.003, ["0.003"]), (0.005, ["0.005"]))
            for reach in REACHES
        ]
        reaches = markdown_table(
            ["reached, with a chance of", *(f"{chance:.0%}" for chance in CHANCES)], rows
        )
        texts += [f"All candidates on the {half} half, enough and times the best stop:", gains, reaches]
    return texts


def _run_table(runs: Sequence[StopRun]) -> str:
    rows = []
    seed = min(run[0].seed for run in runs)
    for run in (each for each in runs if each[0].seed == seed):
        first, stop = run[0], DEFAULT.stop(run)
        scores = [f"{value:.3f}" for value in (first.score, run[-1].score, max(p.score for p in run))]
        least = f"{cheapest(run, run[-1].score):.0%}"
        start = [first.table, half_of(first.table), f"{first.observed:.0%}"]
        rows.append([*start, *scores, f"{stop.share:.0%}", f"{stop.score:.3f}", least])
    header = ["table", "half", "known", "start", "all cells", "best", "stopped at", "score there"]
    return f"By the default rule, seed {seed}:\n\n{markdown_table([*header, 'best possible stop'], rows)}"
