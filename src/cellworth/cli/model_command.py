"""The model command: chooses and trains a model on a table with holes, and predicts new rows."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cellworth.cli import options
from cellworth.cli.build_command import Argument, Option, WrongUsage
from cellworth.cli.file_options import NO_TARGET, NeededTarget, TableOptions, warnings_shown
from cellworth.cli.options import usage
from cellworth.cli.output import Force, count, make_way, print_json, print_table, working
from cellworth.shown_numbers import shown

if TYPE_CHECKING:
    from cellworth.table import Table
    from cellworth.table.text_file import TextFile


class RowsName(StrEnum):
    """The rows to choose a model for."""

    COMPLETE = "complete"
    AS_THEY_ARE = "as-they-are"


def model(
    *,
    table: Annotated[
        Path | None,
        Argument(metavar="[TABLE]", help="A table with holes. By default, the campaign's table."),
    ] = None,
    target: NeededTarget = None,
    rows: Annotated[
        RowsName,
        Option(help="Choose for future rows that are complete, or for rows with holes as they are."),
    ] = RowsName.COMPLETE,
    seconds: options.Seconds = None,
    only: options.Candidate = None,
    predict: Annotated[
        Path | None,
        Option(metavar="FILE", help="Predict the rows of this file, with holes or not; needs --out."),
    ] = None,
    out: Annotated[
        Path | None, Option(metavar="FILE", help="Write the predictions to this .csv or .tsv file.")
    ] = None,
    force: Force = False,
    seed: options.FoldSeed = 0,
    reading: TableOptions,
    on: options.CampaignOptions,
    as_json: options.Json = False,
) -> None:
    """Train the model that suits a table with holes best.

    Candidates are cross-validated on the rows of the table. Each gets two scores, AUC or R2, with 95 %
    intervals: on future rows that are completely known, which is an estimate, and on rows with holes as they
    are. With --predict, new rows are predicted by the best one. Without TABLE, the model learns from the
    campaign's table as it is now, and new rows are read as that table was.

    Example: cellworth model clinic.csv --target outcome --predict new.csv --out predicted.csv
    """
    if (predict is None) != (out is None):
        raise WrongUsage("--predict and --out go together: give both, or neither.")
    make_way(out, force=force)
    settings: dict[str, Any] = {
        "model": only or "auto",
        "rows": "complete" if rows is RowsName.COMPLETE else "as they are",
        "seconds": seconds,
        "random_state": seed,
    }
    file = None if predict is None else reading.file(predict)
    new: Any = None  # read before the model is trained, which takes long
    if table is None:
        with on.campaign() as campaign, usage(), warnings_shown():
            known: Any = campaign.table
            if predict is not None:
                file = reading.file_like(campaign, predict)
                new = _new_rows(file, known, reading.marks_like(campaign))
            with working("Choosing a model") as progress:
                settings["callback"] = lambda done: progress(done.done, done.total)
                fitted: Any = campaign.model(**settings)
    else:
        if target is None:
            raise WrongUsage(NO_TARGET)
        with usage():
            known = reading.rows(table, target, "the model")
            if file is not None:
                new = _new_rows(file, known, list(reading.missing or ()))
            from cellworth.model import model_of

            with working("Choosing a model") as progress:
                settings["callback"] = lambda done: progress(done.done, done.total)
                fitted = model_of(known, **settings)
    written = None
    if file is not None and out is not None:
        written = _write_predictions(fitted, known, new, file, out)
    if as_json:
        print_json(_document(fitted, known, out, written))
        return
    _print_candidates(fitted)
    print(_sentence(fitted, known))
    if written is not None:
        print(f"{count(written, 'row')} predicted; the predictions are in {out}")


def _print_candidates(fitted: Any) -> None:
    from cellworth.model import average_names
    from cellworth.model.model_results import best_first

    results = best_first(fitted.cv_results_)
    rows = [
        (
            average_names.shown(name),
            _score(results, "complete_rows", k),
            _score(results, "at_hand", k),
            results["note"][k],
        )
        for k, name in enumerate(results["name"])
    ]
    print_table(("candidate", "complete rows", "rows as they are", ""), rows)


def _score(results: dict[str, Any], kind: str, place: int) -> str:
    value, low, high = (results[f"{kind}{end}"][place] for end in ("", "_low", "_high"))
    return "" if value != value else _with_ends(value, low, high)


def _with_ends(value: float, low: float, high: float) -> str:
    return f"{shown(value, '.3f')} ({shown(low, '.3f')} to {shown(high, '.3f')})"


def _sentence(fitted: Any, table: Table) -> str:
    """Say which candidate was chosen, and how well it does."""
    from cellworth.model import average_names

    name = average_names.shown(fitted.best_candidate_)
    metric = _metric(table)
    complete, at_hand = fitted.complete_rows_score_, fitted.at_hand_score_
    if complete.value != complete.value:
        return f"Chosen: {name}; too few rows are labelled to estimate how well it does."
    left = f" Left out for lack of time: {', '.join(fitted.left_out_)}." if fitted.left_out_ else ""
    return (
        f"Chosen: {name}, with an estimated {metric} of "
        f"{_with_ends(complete.value, complete.low, complete.high)} on complete rows and "
        f"{_with_ends(at_hand.value, at_hand.low, at_hand.high)} on rows as they are.{left}"
    )


def _document(fitted: Any, table: Table, out: Path | None, written: int | None) -> dict[str, Any]:
    target = table.target
    results = {name: values.tolist() for name, values in fitted.cv_results_.items()}
    return {
        "target": None if target is None else target.name,
        "metric": _metric(table),
        "chosen": fitted.best_candidate_,
        "complete_rows": _plain(vars(fitted.complete_rows_score_)),
        "at_hand": _plain(vars(fitted.at_hand_score_)),
        "candidates": [
            _plain({name: values[k] for name, values in results.items()}) for k in range(len(results["name"]))
        ],
        "left_out": list(fitted.left_out_),
        "out": None if written is None else str(out),
        "predicted": written,
    }


def _plain(values: dict[str, Any]) -> dict[str, Any]:
    """Return values with None in place of NaN, which JSON lacks."""
    return {name: None if value != value else value for name, value in values.items()}


def _metric(table: Table) -> str:
    from cellworth.table.target import metric_of

    return metric_of(is_number=table.target is not None and table.target.is_number)


def _new_rows(path: TextFile, known: Table, missing: Any) -> Table:
    """Read the rows to predict, with the columns of the table that the model learns from."""
    from cellworth.campaign.new_rows import conform, read_rows

    return conform(read_rows(path, known, missing=missing), known)


def _write_predictions(fitted: Any, known: Table, new: Table, path: TextFile, out: Path) -> int:
    """Predict rows and write them as the file that they come from is written; return how many there are."""
    from cellworth.table.write_csv import guard, write_lines

    assert known.target is not None
    name = known.target.name
    header = [known.row_id or "row", name]
    found: list[list[str]] = [[str(value) for value in fitted.predict(new).tolist()]]
    numbers = found
    if hasattr(fitted, "classes_"):
        header += [f"P({label})" for label in fitted.classes_.tolist()]
        numbers = [[f"{p:.6f}" for p in column] for column in fitted.predict_proba(new).T.tolist()]
        found += numbers
    for column in numbers:
        column[:] = [text.replace(".", path.decimal) for text in column]
    lines = [[guard(row), guard(label), *rest] for row, label, *rest in zip(new.row_ids, *found, strict=True)]
    write_lines(out, [header, *lines], delimiter=path.delimiter)
    return new.shape[0]
