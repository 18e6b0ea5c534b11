"""The model that is trained on the holes: the chosen one beside each candidate, on complete test rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from cellworth.complete import GaussianCompleter
from cellworth.model import average_names
from cellworth.model.candidates import candidate_named, default_models
from cellworth.model.model_search import choose_model
from studies.completion.report import markdown_table
from studies.money.development_tables import HALVES, half_of, start_of
from studies.money.kept_cases import CaseFolder, Record, Start, StartTask, start_tasks, what_was_run
from studies.money.purchases import SVM, score_of

RIDGE = "ridge regression"
"""Stands beside the chosen model where the target is a number, as the linear SVM does for classes."""
INTRODUCTION = """## The model that is trained on the holes

From the same cells and completion: a linear SVM like the paper's (ridge regression for a number);
the best of the candidates of `CompletingClassifier` and `CompletingRegressor`, which nobody can know without
the test rows; and the model that these choose by the training rows alone. Then the first and the last
with all cells known. AUC, or R2 for a number, on complete test rows. *Lost* is how far the chosen model is
below the best candidate; less than 0 if it is above. The rule of choice was set on the tuning half."""


@dataclass(frozen=True)
class ModelChoiceCase:
    """The models of one start.

    Attributes
    ----------
    table : str
    observed : float
    seed : int
    is_number : bool
    linear, best, chosen : float
        Scores on the test rows of the linear model, the best candidate and the chosen model.
    linear_full, chosen_full : float
        The same if all training cells were known.
    best_name, chosen_name : str
    """

    table: str
    observed: float
    seed: int
    is_number: bool
    linear: float
    best: float
    chosen: float
    linear_full: float
    chosen_full: float
    best_name: str
    chosen_name: str


def run_start(table: str, observed: float, seed: int) -> ModelChoiceCase:
    """Choose a model at a start, and score it and all candidates on the test rows."""
    start = start_of(table, observed, seed)
    world, is_number = start.world, start.world.target == "number"
    completer = GaussianCompleter(label_trust=0.0).fit(world.start)
    scores = {
        each.name: score_of(start, each, completer, world.start)
        for each in default_models(is_number=is_number)
    }
    linear = candidate_named(RIDGE if is_number else SVM, is_number=is_number)
    chosen = choose_model(world.start, world.y, is_number=is_number, seed=seed).candidate
    full = GaussianCompleter(label_trust=0.0).fit(world.truth)
    best = max(scores, key=lambda name: scores[name])
    return ModelChoiceCase(
        table,
        observed,
        seed,
        is_number,
        scores[linear.name],
        scores[best],
        score_of(start, chosen, completer, world.start),
        score_of(start, linear, full, world.truth),
        score_of(start, chosen, full, world.truth),
        best,
        chosen.name,
    )


def model_choice_part(starts: Sequence[Start], folder: CaseFolder) -> str:
    """Return the section of the page."""
    found = folder.records("models", start_tasks("models", starts), _cases)
    cases = [ModelChoiceCase(**record) for records in found.values() for record in records]
    run = what_was_run(starts, {task.start for task in found})
    if not cases:
        return f"{INTRODUCTION}\n\n{run}"
    return "\n\n".join([INTRODUCTION, run, _summary_table(cases), _verdict(cases), _case_table(cases)])


def _cases(task: StartTask, folder: Path) -> list[Record]:
    try:
        return [asdict(run_start(*task.start))]
    except ValueError:  # too few labels of a class to choose on
        return []


def _summary_table(cases: Sequence[ModelChoiceCase]) -> str:
    rows = []
    for half, names in HALVES.items():
        for is_number in (False, True):
            some = [case for case in cases if case.table in names and case.is_number is is_number]
            for observed in sorted({case.observed for case in some}):
                part = [case for case in some if case.observed == observed]
                means = [
                    np.mean([getattr(case, name) for case in part])
                    for name in ("linear", "best", "chosen", "linear_full", "chosen_full")
                ]
                lost = np.array([case.best - case.chosen for case in part])
                rows.append(
                    [
                        f"{half}, {'R2' if is_number else 'AUC'}",
                        f"{observed:.0%}",
                        str(len(part)),
                        *(f"{mean:.3f}" for mean in means),
                        f"{lost.mean():.3f}",
                        f"{lost.max():.3f}",
                    ]
                )
    header = ["half", "known", "starts", "linear", "best candidate", "chosen", "linear, all cells"]
    return markdown_table([*header, "chosen, all cells", "lost, mean", "lost, most"], rows)


def _verdict(cases: Sequence[ModelChoiceCase]) -> str:
    """Return on how many starts the chosen model from few cells beats the linear one with all of them."""
    beats = sum(case.chosen > case.linear_full for case in cases)
    above = sum(case.chosen > case.linear for case in cases)
    return (
        f"The chosen model is above the linear one at {above} of {len(cases)} starts; at {beats} it is above "
        "the linear one with all cells known: there the model brings more than any purchase could."
    )


def _case_table(cases: Sequence[ModelChoiceCase]) -> str:
    rows = [
        [
            case.table,
            half_of(case.table),
            f"{case.observed:.0%}",
            *(
                f"{value:.3f}"
                for value in (case.linear, case.best, case.chosen, case.linear_full, case.chosen_full)
            ),
            case.best_name,
            average_names.shown(case.chosen_name),
        ]
        for case in cases
        if case.seed == 0
    ]
    header = ["table", "half", "known", "linear", "best candidate", "chosen", "linear, all cells"]
    return "With the first seed:\n\n" + markdown_table(
        [*header, "chosen, all cells", "the best candidate", "the chosen model"], rows
    )
