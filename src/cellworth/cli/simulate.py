"""``cellworth simulate``."""

from __future__ import annotations

import math
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cellworth.cli import options
from cellworth.cli.opening import read_table, usage
from cellworth.cli.terminal import print_json, print_table

if TYPE_CHECKING:
    from cellworth.table import Table

EXAMPLE = (
    "Example: cellworth simulate clinic.csv --target outcome --row-id id --missing '?' "
    "--strategy recommended --strategy random --rounds 5 --budget-per-round 50"
)
PICTURES = (".png", ".svg", ".pdf")


def _share(value: float) -> float:
    if not 0 < value < 1:
        raise typer.BadParameter(f"expected a share above 0 and below 1; got {value}.")
    return value


def _picture(path: Path | None) -> Path | None:
    if path is not None and path.suffix.lower() not in PICTURES:
        raise typer.BadParameter(f"expected a file that ends in {', '.join(PICTURES)}; got {path}.")
    return path


def _csv(path: Path | None) -> Path | None:
    if path is not None and path.suffix.lower() != ".csv":
        raise typer.BadParameter(f"expected a file that ends in .csv; got {path}.")
    return path


def simulate(
    table: options.TablePath,
    target: options.Target,
    strategy: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A strategy to play. May be repeated. By default recommended."),
    ] = None,
    rounds: Annotated[int, typer.Option(min=1, help="Batches bought, at most.")] = 20,
    budget_per_round: Annotated[float | None, typer.Option(min=0, help="Money for one batch.")] = None,
    count_per_round: Annotated[int | None, typer.Option(min=1, help="Most cells of one batch.")] = None,
    observed: Annotated[
        float, typer.Option(callback=_share, help="Share of the cells that are known at the start.")
    ] = 0.6,
    seeds: Annotated[int, typer.Option(min=1, help="Random splits and holes to play with.")] = 3,
    jobs: Annotated[int, typer.Option(min=1, help="Processes. No figure depends on it.")] = 1,
    row_id: options.RowId = None,
    missing: options.Missing = None,
    kinds: options.Kinds = None,
    orders: options.Orders = None,
    prices: options.PricesPath = None,
    encoding: options.Encoding = None,
    delimiter: options.Delimiter = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", callback=_csv, help="CSV file for the curves.")
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(metavar="FILE", callback=_picture, help="PNG, SVG or PDF file for a picture."),
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Try strategies on a table before you pay: hide cells that you know, and let them be bought back."""
    from cellworth.optional import require
    from cellworth.prices import Prices
    from cellworth.simulation import plot_curves
    from cellworth.simulation import simulate as run

    if plot is not None:
        require("matplotlib.pyplot")  # rather now than after the work
    with usage():
        read = read_table(
            table,
            target=target,
            row_id=row_id,
            missing=missing,
            kinds=kinds,
            orders=orders,
            encoding=encoding,
            delimiter=delimiter,
        )
        curves = run(
            read,
            strategy or ["recommended"],
            prices=None if prices is None else Prices.read(prices),
            budget_per_round=budget_per_round,
            count_per_round=count_per_round,
            rounds=rounds,
            observed=observed,
            seed=range(seeds),
            n_jobs=jobs,
            progress=sys.stderr.isatty(),
            frame=_library(),
        )
    if out is not None:
        _native(curves).write_csv(str(out))
    if plot is not None:
        plot_curves(curves, _metric(read)).savefig(plot)
    if as_json:
        print_json({"curves": [_plain(record) for record in _native(curves).rows(named=True)]})
    else:
        _describe(curves, _metric(read))


def _library() -> Any:
    """Return the library of frames that is installed; pandas, to be told how to install it, if none is."""
    return next((name for name in ("pandas", "polars", "pyarrow") if find_spec(name) is not None), "pandas")


def _native(curves: Any) -> Any:
    import narwhals

    return narwhals.from_native(curves, eager_only=True)


def _metric(table: Table) -> str:
    return "r2" if table.target is not None and table.target.kind == "number" else "auc"


def _plain(record: dict[str, Any]) -> dict[str, Any]:
    return {
        name: None if isinstance(value, float) and math.isnan(value) else value
        for name, value in record.items()
    }


def _describe(curves: Any, metric: str) -> None:
    from cellworth.simulation import mean_curves

    rows = [
        (
            curve.strategy,
            f"{curve.at[-1]:.2f}",
            f"{curve.mean[0]:.3f} ± {curve.half[0]:.3f}",
            f"{curve.mean[-1]:.3f} ± {curve.half[-1]:.3f}",
        )
        for curve in mean_curves(curves, metric, "money")
    ]
    header = ("strategy", "money", f"{metric} at the start", f"{metric} in the end")
    print_table(header, rows, right=header[1:])
    print("On test rows; ± is the 95 % interval of the mean over the seeds.")
