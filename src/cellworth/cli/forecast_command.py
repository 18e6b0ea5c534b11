"""The forecast command: what more cells of a table, or more money for a campaign, would bring."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cellworth.cli import completion, options
from cellworth.cli.options import opened, usage
from cellworth.cli.out_files import Force, make_way
from cellworth.cli.output import print_json, working
from cellworth.cli.reading import PLAIN_TABLE, Reading, reads

if TYPE_CHECKING:
    from cellworth.forecasting import Outlook

FORECAST_EXAMPLE = "Example: cellworth forecast clinic.csv --target outcome --prices prices.csv --score 0.9"


@reads
def forecast(
    table: Annotated[
        Path | None,
        typer.Argument(metavar="[TABLE]", help="A table with holes. By default, the campaign's table."),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="The column to predict; needed with TABLE.",
            autocompletion=completion.columns_of_table,
        ),
    ] = None,
    prices: options.PricesPath = None,
    score: Annotated[
        float | None, typer.Option(metavar="SCORE", help="Say what this AUC or R2 would cost.")
    ] = None,
    model: options.Candidate = None,
    seconds: options.Seconds = None,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw the forecast into this .png, .svg or .pdf file.")
    ] = None,
    force: Force = False,
    seed: options.FoldSeed = 0,
    store: options.Store = options.DEFAULT_STORE,
    name: options.Name = None,
    reading: Reading = PLAIN_TABLE,
    as_json: options.Json = False,
) -> None:
    """Forecast what more cells would bring, from those that are known.

    Known cells are hidden again at several depths, a model is scored at each, and the curve of its scores is
    extrapolated. No purchase is needed. The score is AUC or R2 on complete rows, with 90 % intervals.
    """
    make_way(plot, force=force, option="--plot")
    settings: dict[str, Any] = {"model": model or "auto", "seconds": seconds, "seed": seed}
    if table is None:
        with opened(store, name) as campaign, working("Forecasting"):
            found = campaign.forecast(**settings)
    else:
        if target is None:
            raise typer.BadParameter("a TABLE needs --target COLUMN.")
        with usage():
            from cellworth.forecasting import forecast as forecast_table

            read = reading.table(table, target)
            stated = reading.prices(prices)
            with working("Forecasting"):
                found = forecast_table(read, prices=stated, **settings)
    if plot is not None:
        found.plot().figure.savefig(plot)
    print_json(_document(found, score)) if as_json else _describe(found, score, plot)


def _describe(found: Outlook, score: float | None, plot: Path | None) -> None:
    from cellworth.forecasting import decide

    print(found.describe(score))
    print(decide(found).sentence)
    if plot is not None:
        print(f"The forecast is drawn in {plot}")


def _document(found: Outlook, score: float | None) -> dict[str, Any]:
    from cellworth.forecasting import decide

    costs = None if score is None else {"score": score, **vars(found.cost_of(score))}
    return {**found.to_json(), "costs": costs, "advice": decide(found).to_json()}
