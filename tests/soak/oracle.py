"""Check a campaign against what its workers wrote down, by plain loops over the raw events.

Nothing here uses the campaign's own state: cells, leases, money and values are worked out again.
"""

import json
from collections import Counter, defaultdict
from datetime import datetime, timedelta
from decimal import Decimal

import numpy as np

from cellworth.campaign.table_codec import unpack

KIND = {
    "ask": "asked",
    "tell": "told",
    "correct": "corrected",
    "extend": "extended",
    "take": "taken",
    "release": "released",
    "refuse": "refused",
    "cancel": "cancelled",
    "budget": "budget changed",
    "prices": "prices changed",
    "clock": "clock set",
    "stage": "stage changed",
}


def journals(folder):
    """Return each operation that was begun, by id: what it was, and how it ended as far as anybody knows."""
    found = {}
    counts = Counter()
    for path in sorted(folder.glob("*.jsonl")):
        lines = path.read_text().split("\n")[:-1]  # the last line of one who was killed may be cut
        for line in map(json.loads, lines):
            counts[line["phase"]] += 1
            if line["phase"] == "begin":
                counts["full disks"] += line["full"]
                found[line["id"]] = {"op": line["op"], "phase": "begun", "new": None}
            elif line["id"] in found and line["phase"] != "jump":
                found[line["id"]] |= {"phase": line["phase"], "new": line.get("new"), "why": line.get("why")}
    return found, counts


def check_operations(operations, events):
    """Each acknowledged operation is in the log exactly once; one that failed or was refused, not at all."""
    by_who = defaultdict(list)
    for event in events:
        by_who[event.who].append(event)
    assert set(by_who) <= {*operations, "founder"}, "an event that nobody began"
    for who, each in operations.items():
        kinds = [event.kind for event in by_who[who]]
        if each["phase"] == "done":
            expected = [KIND[each["op"]]] if each["new"] else []
            assert kinds == expected, (who, each, kinds)
        elif each["phase"] == "refused":
            assert kinds in ([], ["contradicted"]), (who, each, kinds)
        elif each["phase"] == "failed":
            assert kinds == [], (who, each, kinds)
        else:  # interrupted or killed: it may have been recorded, once
            assert len(kinds) <= 1, (who, each, kinds)
            allowed = {KIND.get(each["op"]), "contradicted"}
            assert set(kinds) <= allowed, (who, each, kinds)


class Book:
    """The cells, leases, money and values that follow from the events."""

    def __init__(self, record):
        table = unpack(record.table)
        self.columns = table.column_names
        self.values = {
            (row, column): value
            for row, line in zip(table.row_ids, table.values.tolist(), strict=True)
            for column, value in zip(self.columns, line, strict=True)
        }
        self.budget = _money(record.settings["budget"])
        self.price = _money(record.settings["prices"]["cells"]["default"])
        self.out, self.asked_at, self.refused = {}, {}, set()
        self.spent = Decimal(0)
        self.last = record.created
        self.stage = "open"

    def apply(self, event):
        """Follow one event, and check that it may happen."""
        data = event.data
        names = [tuple(cell[:2]) for cell in data.get("cells", ())]
        assert self.stage == "open" or event.kind == "stage changed", "recorded while it was closed"
        if event.kind == "clock set":
            back = timedelta(seconds=data["back"])
            assert abs(self.last - back - event.time) < timedelta(seconds=1)
            if back > timedelta(0):
                for cell, (price, until) in self.out.items():
                    if until is not None and until > self.last:
                        self.out[cell] = price, until - back
        else:
            assert event.time >= self.last, "the time ran backwards"
        if event.kind == "asked":
            self._ask(event, data)
        elif event.kind == "told":
            for row, column, value, price in data["cells"]:
                assert np.isnan(self.values[row, column]), "told twice"
                assert (row, column) in self.asked_at, "never asked for"
                assert _money(price) == self.asked_at[row, column]
                self.values[row, column] = value
                self.spent += self.asked_at[row, column]
                self.out.pop((row, column), None)
        elif event.kind == "corrected":
            assert self.values[data["row"], data["column"]] == data["old"]
            self.values[data["row"], data["column"]] = data["new"]
        elif event.kind == "contradicted":
            for row, column, value, known in data["cells"]:
                assert self.values[row, column] == known != value
        elif event.kind in ("refused", "cancelled"):
            for cell in names:
                assert np.isnan(self.values[cell])
                self.out.pop(cell, None)
            self.refused.update(names if event.kind == "refused" else ())
        elif event.kind == "extended":
            for row in data["rows"]:
                assert (row, self.columns[0]) not in self.values
                self.values |= {(row, column): np.nan for column in self.columns}
                self.values[row, "c0"] = 0.5
        elif event.kind == "budget changed":
            assert _money(data["old"]) == self.budget
            self.budget = _money(data["new"])
            assert self.spent + self.reserved(event.time) <= self.budget
        elif event.kind == "prices changed":
            self.price = _money(data["prices"]["cells"]["default"])
        elif event.kind == "stage changed":
            assert data["old"] == self.stage != data["new"]
            self.stage = data["new"]
        self.last = event.time

    def _ask(self, event, data):
        self.out = {cell: out for cell, out in self.out.items() if out[1] is None or out[1] > event.time}
        until = data["until"] and datetime.fromisoformat(data["until"])
        for row, column, price, *_ in data["cells"]:
            cell = row, column
            assert cell not in self.out, "asked for twice at once"
            assert np.isnan(self.values[cell]), "asked for what is known"
            assert cell not in self.refused, "asked for what was refused"
            assert _money(price) == self.price, "another price than the one in force"
            self.out[cell] = self.asked_at[cell] = self.price
            self.out[cell] = self.price, until
        if data["cells"]:
            assert self.spent + self.reserved(event.time) <= self.budget, "the budget was exceeded"

    def reserved(self, time):
        """Return the money of the cells that are out."""
        return sum((price for price, until in self.out.values() if until is None or until > time), Decimal(0))

    def check(self, campaign, time):
        """Compare what a campaign, or a replay of it, says."""
        totals, table = campaign.totals(), campaign.table
        assert campaign.stage == self.stage
        assert _money(totals.spent) == self.spent
        assert _money(totals.reserved) == self.reserved(time)
        assert _money(totals.left) == self.budget - self.spent - self.reserved(time)
        said = {
            (row, column): value
            for row, line in zip(table.row_ids, table.values.tolist(), strict=True)
            for column, value in zip(self.columns, line, strict=True)
        }
        assert said.keys() == self.values.keys()
        wrong = [cell for cell in said if not _same(said[cell], self.values[cell])]
        assert wrong == []
        out = {cell for cell, (_, until) in self.out.items() if until is None or until > time}
        assert {(each.row, each.column) for each in campaign.open_purchases()} == out


def _same(one, other):
    return one == other or (np.isnan(one) and np.isnan(other))


def _money(amount):
    return Decimal(repr(float(amount)))
