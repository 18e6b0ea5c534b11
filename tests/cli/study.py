"""A small study for the tests: its files in a folder, and a way to run commands there in this process."""

import csv
import json
from dataclasses import dataclass

from cellworth.cli import main
from tests.campaign.campaigns import PRICES, VALUES, make_table

ORDER = "stage=I,II,III"
KIND = "dose=number"


@dataclass(frozen=True)
class Done:
    """A finished command."""

    code: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)


class Study:
    """A folder with table.csv, rows.csv and prices.csv, which commands run in."""

    def __init__(self, folder, capsys):
        self.folder = folder
        self.table = make_table()
        self.row_id = self.table.row_id
        self._capsys = capsys
        self.table.write(folder / "table.csv")
        make_table(4, seed=1, start=100).write(folder / "rows.csv")
        PRICES.write(folder / "prices.csv")

    def __call__(self, *words):
        """Run one command."""
        self._capsys.readouterr()
        code = main([str(word) for word in words])
        captured = self._capsys.readouterr()
        return Done(code, captured.out, captured.err)

    def reading(self):
        """Return the options that read the table."""
        return ["--target", "outcome", "--row-id", self.row_id, "--order", ORDER, "--kind", KIND]

    def begin(self, *words):
        """Begin the campaign."""
        common = ["init", "table.csv", *self.reading(), "--prices", "prices.csv", "--budget", "50"]
        return self(*common, *words)

    def asked(self, name="asks.csv", count=4):
        """Ask for some cells; return the lines of the file."""
        assert self("ask", "--count", count, "--out", name).code == 0
        return self.lines(name)

    def lines(self, name):
        with (self.folder / name).open(newline="", encoding="utf-8-sig") as file:
            return list(csv.DictReader(file))

    def fill(self, name="asks.csv", skip=0, **values):
        """Fill in the values of a file of asks but for the last few lines."""
        lines = self.lines(name)
        for line in lines[: len(lines) - skip]:
            line["value"] = {**VALUES, **values}[line["column"]]
        self.write(name, lines)
        return lines

    def write(self, name, lines):
        with (self.folder / name).open("w", newline="") as file:
            writer = csv.DictWriter(file, lines[0].keys())
            writer.writeheader()
            writer.writerows(lines)

    def kinds(self):
        """Return the kinds of all events so far."""
        return [event["kind"] for event in self("log", "--json").json["events"]]
