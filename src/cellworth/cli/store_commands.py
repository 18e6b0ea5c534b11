"""Commands on whole stores and campaigns: list, check, backup, restore, dump, load, rename, delete."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import click

from cellworth.cli import options
from cellworth.cli.build_command import Argument, Option, WrongUsage
from cellworth.cli.options import check_there, usage
from cellworth.cli.output import count, print_json, print_table
from cellworth.shown_numbers import people_write

if TYPE_CHECKING:
    from cellworth.campaign.assessment.status import Totals
    from cellworth.campaign.maintenance import CheckedCampaign
    from cellworth.campaign.stores import Store


def list_campaigns(store: options.Store = options.DEFAULT_STORE, as_json: options.Json = False) -> None:
    """List the campaigns in a store, with their money and cells.

    Example: cellworth list --store study.db
    """
    found = _campaigns(store)
    if as_json:
        print_json({"campaigns": [each.record for each in found]})
    elif not found:
        print(f"There are no campaigns in {store}")
    else:
        header = ("name", "started", "rows", "columns", "strategy", "spent", "budget", "out")
        print_table(
            header, [each.line() for each in found], right=("rows", "columns", "spent", "budget", "out")
        )


@dataclass(frozen=True)
class _Listed:
    """A campaign on the list: what programs get, and how its people write money."""

    record: dict[str, Any]
    totals: Totals
    decimal: str

    def line(self) -> tuple[object, ...]:
        """Return what people get, each campaign's numbers with its own decimal mark and currency."""
        found, totals = self.record, self.totals
        with people_write(self.decimal):
            spent = totals.text(totals.spent)
            budget = "no limit" if totals.budget is None else totals.text(totals.budget)
        started = f"{found['created']:%Y-%m-%d}"
        size = (found["rows"], found["columns"])
        return (found["name"], started, *size, found["strategy"], spent, budget, found["open"])


def _campaigns(store: str) -> list[_Listed]:
    from cellworth.campaign import Campaign
    from cellworth.campaign.stores import open_store
    from cellworth.campaign.stores.address import read_address

    with usage():
        address = read_address(store)
        if address.kind == "sqlite" and not Path(address.rest).exists():
            return []
        place = open_store(store, reading=True)
    found = []
    try:
        for name in place.names():
            campaign = Campaign.open(place, name)
            totals = campaign.totals()
            record = {
                "name": name,
                "created": campaign.created,
                "rows": totals.rows,
                "columns": totals.columns,
                "strategy": campaign.strategy,
                "spent": totals.spent,
                "budget": totals.budget,
                "open": totals.open,
            }
            found.append(_Listed(record, totals, campaign.read_options.decimal))
    finally:
        place.close()
    return found


DAMAGED = 3

OnlyName = Annotated[str | None, Option("--name", help="Only this campaign. By default, all.")]
Until = Annotated[
    int | None,
    Option(min=0, metavar="NUMBER", help="Only the events up to this number, such as the intact ones."),
]


def check(
    *,
    store: options.Store = options.DEFAULT_STORE,
    name: OnlyName = None,
    as_json: options.Json = False,
) -> None:
    """Verify every checksum of a store, and say what is wrong and how to go on.

    The fingerprint stands for everything in a campaign: if you note it down, you can later prove that nothing
    before that moment was changed. Exits with 3 if anything is damaged.

    Example: cellworth check --store study.db
    """
    from cellworth.campaign.maintenance import check_campaign

    with _store(store) as place:
        found = [check_campaign(place, each) for each in (place.names() if name is None else [name])]
    if as_json:
        print_json({"campaigns": found})
    else:
        for each in found:
            print(f"{each.name}: {_words(each)}")
        if not found:
            print("The store has no campaigns")
    if any(each.problem is not None for each in found):
        raise click.exceptions.Exit(DAMAGED)


def _words(found: CheckedCampaign) -> str:
    intact = f"{count(found.events, 'event')}, intact; fingerprint {found.fingerprint}"
    if found.problem is None:
        return intact if found.note is None else f"{intact}. Note: {found.note}"
    if not found.fingerprint:
        return f"damaged. {found.problem}"
    if found.log_intact:
        return f"{intact}. Its table is not: {found.problem}"
    advice = f"cellworth backup intact.db --name {found.name!r} --until {found.events}"
    return (
        f"damaged from event {found.events + 1} on. {found.problem} Without a backup, keep what comes before "
        f"it: {advice}"
    )


def backup(
    *,
    file: Annotated[Path, Argument(metavar="FILE", help="The new file, ending in .db.")],
    store: options.Store = options.DEFAULT_STORE,
    name: OnlyName = None,
    until: Until = None,
    as_json: options.Json = False,
) -> None:
    """Copy a store into a new file, while others work with it, and verify the copy.

    The file is a store itself: look at it with --store FILE, or restore from it. Do not copy a SQLite store
    by other means while it is open: the newest answers may be in the -wal file next to it.

    Example: cellworth backup study-2024-05-01.db
    """
    from cellworth.campaign.maintenance import backup as copy

    with usage():
        check_there(store)
        _copied(copy(store, file, name=name, until=until), str(file), as_json=as_json)


def restore(
    *,
    backup: Annotated[str, Argument(metavar="BACKUP", help="A backup, or the address of a store.")],
    store: options.Store = options.DEFAULT_STORE,
    name: OnlyName = None,
    until: Until = None,
    as_json: options.Json = False,
) -> None:
    """Copy the campaigns of a backup, or of any store, into a store of either kind, and verify them.

    Nothing is overwritten: if the store has a campaign of the same name, nothing is copied.

    Example: cellworth restore study-2024-05-01.db --store postgresql://ann@host/studies
    """
    from cellworth.campaign.maintenance import restore as copy

    with usage():
        check_there(backup, "Check the path of the backup.")
        _copied(copy(backup, store, name=name, until=until), options.shown(store), as_json=as_json)


def dump(
    *,
    file: Annotated[Path, Argument(metavar="FILE", help="The new file, ending in .jsonl or .jsonl.gz.")],
    on: options.CampaignOptions,
    until: Until = None,
    as_json: options.Json = False,
) -> None:
    """Write a whole campaign as plain text, one JSON document per line, to keep or to load elsewhere.

    Example: cellworth dump study.jsonl.gz
    """
    from cellworth.campaign.maintenance import dump as write
    from cellworth.campaign.settings import only_name

    with _store(on.store) as place:
        done = write(place, only_name(place, on.store) if on.name is None else on.name, file, until=until)
    _copied([done], str(file), as_json=as_json)


def load(
    *,
    path: Annotated[Path, Argument(metavar="FILE", help="A file from cellworth dump.")],
    store: options.Store = options.DEFAULT_STORE,
    name: Annotated[
        str | None, Option(help="The campaign's new name. By default, the one in the file.")
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Create the campaign in a file from dump, as a whole or not at all, after verifying the file.

    Example: cellworth load study.jsonl.gz --store new.db
    """
    from cellworth.campaign.maintenance import load as read
    from cellworth.campaign.stores import open_store

    with usage():
        place = open_store(store)
        try:
            done = read(path, place, name=name)
        finally:
            place.close()
    _copied([done], options.shown(store), as_json=as_json)


def rename(
    *,
    name: options.CampaignName,
    new: Annotated[str, Argument(metavar="NEW", help="Its new name.")],
    store: options.Store = options.DEFAULT_STORE,
    as_json: options.Json = False,
) -> None:
    """Give a campaign a new name. Its table, events and fingerprint stay the same.

    Example: cellworth rename pilot 'pilot 2023'
    """
    with _store(store) as place:
        place.rename(name, new)
    print_json({"name": new, "before": name}) if as_json else print(f"Campaign {name!r} is now {new!r}")


def delete(
    *,
    name: options.CampaignName,
    yes: Annotated[bool, Option("--yes", help="Delete it without asking.")] = False,
    store: options.Store = options.DEFAULT_STORE,
    as_json: options.Json = False,
) -> None:
    """Delete a campaign with its table and all answers, for good.

    Asks first, unless --yes is given. Nothing else in the store is changed. To keep a copy, run cellworth
    dump before.

    Example: cellworth delete pilot --yes
    """
    from cellworth.campaign.maintenance import EventsOf

    with _store(store) as place:
        place.record(name)  # fail now if there is none
        events = sum(1 for _ in EventsOf(place, name))
        if not yes:
            question = f"Delete campaign {name!r} with its table and {count(events, 'event')} for good?"
            if not sys.stdin.isatty():
                raise WrongUsage(f"{question} Say so with --yes.")
            click.confirm(question, abort=True)
        place.delete(name)
    print_json({"deleted": name, "events": events}) if as_json else print(f"Campaign {name!r} is deleted")


@contextmanager
def _store(url: str) -> Iterator[Store]:
    from cellworth.campaign.stores import open_store

    with usage():
        check_there(url)
        place = open_store(url)
        try:
            yield place
        finally:
            place.close()


def _copied(done: Sequence[CheckedCampaign], where: str, *, as_json: bool) -> None:
    if as_json:
        print_json({"out": where, "campaigns": list(done)})
        return
    for each in done:
        print(f"{each.name}: {count(each.events, 'event')} copied to {where}; fingerprint {each.fingerprint}")
