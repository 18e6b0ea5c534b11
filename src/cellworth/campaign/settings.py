"""The settings a campaign is created with, and which campaign of a store to open."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from cellworth import strategy as strategies
from cellworth.campaign.event_codec import check_optional_text, check_text
from cellworth.campaign.founding_table import FoundingTable
from cellworth.campaign.stores import open_store
from cellworth.campaign.stores.store_protocol import WHO_LENGTH, CampaignRecord, Store
from cellworth.campaign.table_codec import digest
from cellworth.errors import DataError, ParameterError
from cellworth.messages import listing, shorten
from cellworth.prices import Prices
from cellworth.prices.cell_prices import check_visit
from cellworth.prices.currency import check_digits
from cellworth.setting_names import by_door, named, setting
from cellworth.strategy import Strategy
from cellworth.strategy.auto_choice import StrategyChoice
from cellworth.strategy.registry import check_name
from cellworth.table.read_options import ReadOptions

FORMAT = 2
LARGEST_BUDGET = 1e15
"""An amount of money that no campaign has; a larger one is a mistake."""
RENAMED = {"recommended": "linear-impact"}
"""What strategies of format 1 are called now; their name has passed on to another."""


def make_record(
    name: str,
    founding: FoundingTable,
    prices: Prices,
    strategy: str,
    *,
    budget: float | None,
    seed: int,
    who: str | None,
    time: datetime,
) -> CampaignRecord:
    """Check the settings of a new campaign and return its record; O(n p).

    If the strategy chooses on the table, as "auto" does, this costs its choice, which is recorded.
    """
    template = registered(strategy)
    settings: dict[str, Any] = {
        "format": FORMAT,
        "prices": prices.to_dict(),
        "strategy": template.name,
        "budget": None if budget is None else check_budget(budget, prices.currency),
        "seed": _check_seed(seed),
        "who": _check_who(who),
    }
    how = {} if founding.read_options is None else founding.read_options.to_json()
    if how:
        settings["read"] = how
    checked = check_text("the name of a campaign", name)
    choice = founding.begin(prices, template, settings["seed"])
    packed = founding.pack()
    if choice is not None:
        settings["choice"] = choice.to_json()
    return CampaignRecord(checked, time, settings, packed, digest(packed))


def check_strategy(settings: dict[str, Any]) -> str:
    """Return the name of a campaign's strategy; ParameterError if it is not registered. Makes none."""
    with _before_opening():
        check_name(settings["strategy"])
    return str(settings["strategy"])


def choice_of(settings: dict[str, Any]) -> StrategyChoice | None:
    """Return what a campaign's strategy chose on its table; None if it left nothing open."""
    return StrategyChoice.from_json(settings["choice"]) if "choice" in settings else None


def strategy_of(settings: dict[str, Any]) -> Strategy:
    """Return a campaign's strategy; what was chosen on its table is read from the record, not chosen anew."""
    template = registered(settings["strategy"])
    if not template.is_open:
        return template
    return template.recalled(StrategyChoice.from_json(settings.get("choice") or {}))


def read_options(settings: dict[str, Any]) -> ReadOptions:
    """Return how a campaign's table was read, to read new rows the same way."""
    return ReadOptions.from_json(settings.get("read") or {})


def registered(strategy: Any) -> Strategy:
    """Return the strategy with this name; only a name can be recorded and looked up again."""
    if isinstance(strategy, Strategy):
        raise ParameterError(
            "a campaign records its strategy by name, to find it again when it is opened. Register it with "
            f"cellworth.strategy.register(...) and pass {setting('strategy', strategy.name)}."
        )
    with _before_opening():
        return strategies.get(strategy)


@contextmanager
def _before_opening() -> Iterator[None]:
    try:
        yield
    except ParameterError as error:
        raise ParameterError(
            f"{error}. Your own strategies must be registered before you open the campaign."
        ) from None


def current_settings(settings: dict[str, Any], name: str) -> dict[str, Any]:
    """Return the settings of a campaign in today's format; raise DataError if a newer version wrote them."""
    written = settings.get("format")
    if written == FORMAT:
        return settings
    if written == 1:
        strategy = settings["strategy"]
        return settings | {"format": FORMAT, "strategy": RENAMED.get(strategy, strategy)}
    raise DataError(
        f"campaign {shorten(name)} has format {written!r}, but this version of cellworth reads formats up to "
        f"{FORMAT}. Use a newer version."
    )


def only_name(store: Store, address: object = None) -> str:
    """Return the name of the only campaign in a store; DataError if there are none or several.

    If the ``address`` is a path, messages name it; a URL may have a password in it.
    """
    names = store.names()
    if len(names) == 1:
        return names[0]
    if not names:
        begin = by_door(python="Campaign.create", command_line="cellworth init", rest="cellworth init")
        is_path = isinstance(address, str | Path) and "://" not in str(address)
        where = f" {address}" if is_path else ""
        raise DataError(f"the store{where} has no campaigns. Check where it is, or start one with {begin}.")
    how = by_door(python="by name", command_line="with --name", pages="by name", rest="by name")
    raise DataError(f"the store has several campaigns; choose one {how}: {listing(names, most=10)}.")


def check_budget(budget: float, currency: str | None) -> float:
    """Return the budget of a campaign; ParameterError if it buys nothing or has too many digits."""
    amount = check_visit(budget, what="the budget")
    if amount == 0:
        raise ParameterError("a budget of 0 buys nothing: give more, or leave it out for no limit.")
    if amount > LARGEST_BUDGET:
        raise ParameterError(
            f"the budget must be at most {LARGEST_BUDGET:g}; got {amount:g}. Leave it out for no limit."
        )
    return check_digits(amount, currency, "the budget")


@contextmanager
def opened(store: str | Path | Store) -> Iterator[tuple[Store, bool]]:
    """Yield a store and whether it was opened here; if it was, close it again on failure."""
    if not isinstance(store, str | Path):
        yield store, False
        return
    place = open_store(store)
    try:
        yield place, True
    except BaseException:
        place.close()
        raise


def _check_who(who: str | None) -> str | None:
    if isinstance(who, str) and len(who) > WHO_LENGTH:
        raise ParameterError(f"{named('who')} must have at most {WHO_LENGTH} characters; got {len(who)}.")
    return check_optional_text("who", who)


def _check_seed(seed: object) -> int:
    try:
        number = operator.index(seed)  # type: ignore[arg-type]
    except TypeError:
        number = -1
    if number < 0:
        raise ParameterError(f"{named('seed')} must be a whole number, 0 or more; got {shorten(seed)}.")
    return number
