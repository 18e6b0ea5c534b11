"""Begin a campaign: send a table, see how it is read, change what is not right, and only then fix it."""

from __future__ import annotations

import codecs
import threading
import warnings
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Annotated, Any
from urllib.parse import urlencode

import numpy as np
from fastapi import APIRouter, Depends, File, Request, UploadFile
from starlette.datastructures import FormData
from starlette.responses import RedirectResponse, Response

from cellworth import strategy as strategies
from cellworth.errors import CellworthError, ParameterError, ReadWarning
from cellworth.prices import Prices
from cellworth.report.row_summaries import written
from cellworth.table import Table
from cellworth.table.column import KINDS, LABELLED, NUMERIC
from cellworth.table.files import FileBytes
from cellworth.table.parse_values import number_text
from cellworth.table.read_csv import likely_row_id, likely_settings, read_csv
from cellworth.web.dependencies import PoolDep, UploadsDep, Who, read_upload, require_role
from cellworth.web.pages.flash_messages import back, note_of, rejected, typed_in
from cellworth.web.pages.forms import amount
from cellworth.web.pages.language import ReaderNumbers, message
from cellworth.web.pages.page_layout import language_of, path_of, show
from cellworth.web.security.sessions import check_csrf

router = APIRouter(include_in_schema=False)

MAY_MANAGE = [require_role("manage"), Depends(check_csrf)]
PLACE = "a new campaign"
"""What files for a campaign that does not exist yet wait under."""
_READING = threading.Lock()
"""Warnings are caught for the whole process, so one table is read at a time."""
SHOWN_ROWS = 8
SNIFFED = 100_000
"""Bytes at the beginning of a file that show how it is written."""
MOST_CATEGORIES = 30
"""More are not shown in a field."""
MOST_COLUMNS = 130
"""Wider tables are begun without a line for each column, whose fields would be too many for a form."""
SEPARATORS = {
    "": message("automatic"),
    ",": message("comma"),
    ";": message("semicolon"),
    "\t": message("tab"),
    "|": "|",
}
ENCODINGS = {"": message("automatic"), "utf-8": "UTF-8", "cp1252": "Windows-1252", "utf-16": "UTF-16"}
KIND_WORDS = {
    "number": message("number"),
    "integer": message("whole number"),
    "boolean": message("yes or no"),
    "ordered": message("ordered categories"),
    "category": message("categories"),
    "date": message("date"),
}


@router.get("/new", dependencies=[require_role("manage")], name="new")
async def form(request: Request) -> Response:
    """Show the form for the table's file."""
    return show(request, "new.html")


@router.post("/new", dependencies=MAY_MANAGE)
async def take_table(
    request: Request,
    uploads: UploadsDep,
    who: Who,
    table: Annotated[UploadFile, File()],
    prices: Annotated[UploadFile | None, File()] = None,
) -> Response:
    """Take the files; they wait on the server, and the next page says how they are read."""
    most: int = request.app.state.largest_upload
    try:
        key = await uploads.keep(await read_upload(table, "table.csv", most), campaign=PLACE, who=who)
        stated = None if prices is None else await read_upload(prices, "prices.csv", most)
    except CellworthError as error:
        return rejected(request, "/new", str(error))
    price_key = ""
    if stated is not None and stated.content:  # browsers send an empty file if none was chosen
        price_key = await uploads.keep(stated, campaign=PLACE, who=who)
    return RedirectResponse(f"/new/{key}?" + _query(price_key), 303)


def _query(price_key: str) -> str:
    """Return the part of an address that says where the file of prices waits, if there is one."""
    return urlencode({"prices": price_key}) if price_key else ""


@router.get("/new/{key}", dependencies=[require_role("manage")], name="new_settings")
async def settings(
    request: Request, key: str, pool: PoolDep, uploads: UploadsDep, who: Who, prices: str = ""
) -> Response:
    """Show how the table is read, with fields to change it; nothing is fixed yet."""
    file = await uploads.get(key, campaign=PLACE, who=who)
    stated = await uploads.get(prices, campaign=PLACE, who=who) if prices else None
    typed: dict[str, str] = typed_in(request).get("typed", {})
    if not typed:
        typed = _first_guess(file)
    found: dict[str, Any] = {
        "error": None,
        "table": None,
        "lines": [],
        "label": None,
        "rows": [],
        "doubts": [],
        "note": None,
    }
    try:
        found |= await pool.in_thread(partial(_read, file, stated, typed))
    except CellworthError as error:
        names = await pool.in_thread(partial(_names, file, typed))
        found |= {"error": str(error), "from_file": stated is not None, **_as_typed(typed, names)}
    note = note_of(request)
    if note is not None and note.text != found["error"]:  # the page says it where it can be changed
        found["note"] = note
    money = ReaderNumbers(language_of(request), found["prices"].currency if "prices" in found else None).money
    return show(
        request,
        "new_settings.html",
        listed=lambda price: money(float(price)) if price else "",
        key=key,
        prices_key=prices,
        file_name=file.name,
        typed=typed,
        separators=SEPARATORS,
        encodings=ENCODINGS,
        kinds=KIND_WORDS,
        strategies=[strategies.get(each) for each in strategies.names()],
        **found,
    )


@router.post("/new/{key}", dependencies=MAY_MANAGE)
async def decide(request: Request, key: str, pool: PoolDep, uploads: UploadsDep, who: Who) -> Response:
    """Look again at how the table is read or, with ``act=begin``, begin the campaign."""
    typed = _typed(await request.form())
    query = _query(typed.get("prices", ""))
    if typed.get("act") != "begin":
        return rejected(request, f"/new/{key}", "", query, typed=typed)
    name = typed.get("name", "").strip()
    try:
        file = await uploads.get(key, campaign=PLACE, who=who)
        stated = None
        if typed.get("prices"):
            stated = await uploads.get(typed["prices"], campaign=PLACE, who=who)
        found = await pool.in_thread(partial(_read, file, stated, typed))
        await pool.create(
            found["table"],
            name=name,
            prices=found["prices"],
            strategy=typed.get("strategy") or "recommended",
            budget=amount(typed.get("budget", ""), "Budget"),
            who=who,
        )
    except CellworthError as error:
        return rejected(request, f"/new/{key}", str(error), query, typed=typed)
    return back(request, path_of(name))


def _typed(form: FormData) -> dict[str, str]:
    return {name: value[:2000] for name, value in form.items() if isinstance(value, str)}


def _read(file: FileBytes, stated: FileBytes | None, typed: Mapping[str, str]) -> dict[str, Any]:
    """Read the files as they are said to be written; return the table, prices, and what to show of them."""
    table, doubts = _read_table(file, _keywords(typed))
    prices = _prices(table, stated, typed)
    alone, target = prices.on(table).alone, table.target
    holes = table.holes.mean(axis=0).tolist()
    groups = {
        name: {"name": group.name, "then": number_text(then, -1), "lasting": group.lasting}
        for group in prices.groups
        for name, then in zip(group.columns, group.then, strict=True)
    }
    lines = [
        {
            "name": column.name,
            "kind": column.kind,
            "unit": column.unit or "",
            "description": column.description or "",
            "low": _end(column.bounds[0]) if column.kind != "date" else "",
            "high": _end(column.bounds[1]) if column.kind != "date" else "",
            "has_bounds": column.kind in NUMERIC,
            "categories": _listed(column.categories),
            "only_text": column.kind == "category" and len(column.categories) == 1 and holes[j] > 0,
            "missing": holes[j],
            "price": number_text(float(alone[:, j].min()), -1),
            "group": groups.get(column.name),
        }
        for j, column in enumerate(table.columns[:MOST_COLUMNS])
    ]
    rows = [
        [row, *(written(c.format(float(v))) for c, v in zip(table.columns, values, strict=True))]
        for row, values in zip(table.row_ids[:SHOWN_ROWS], table.values[:SHOWN_ROWS], strict=True)
    ]
    label = None
    if target is not None:
        price = number_text(float(alone[:, -1].min()), -1) if prices.sells_labels(table) else ""
        missing = float(np.isnan(target.values).mean())
        description = target.column.description or ""
        label = {"name": target.name, "missing": missing, "price": price, "description": description}
        label["group"] = groups.get(target.name)
    visit = number_text(prices.visit, -1) if prices.visit else ""
    shown = {"from_file": stated is not None, "lines": lines, "label": label, "rows": rows, "visit": visit}
    return {"table": table, "prices": prices, "doubts": doubts, **shown}


def _read_table(file: FileBytes, keywords: Mapping[str, Any]) -> tuple[Table, list[str]]:
    """Read a table, and return what its reader doubts: a -999 that may mark a hole, two spellings."""
    with _READING, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ReadWarning)
        table = Table.read(file, **keywords)
    return table, [str(each.message) for each in caught if issubclass(each.category, ReadWarning)]


def _first_guess(file: FileBytes) -> dict[str, str]:
    """Return what the fields say at first: a name, and how the file is likely written, by its beginning."""
    typed = {"name": file.name.rpartition(".")[0].partition(".")[0][:80]}
    if not file.name.lower().endswith((".csv", ".txt")):
        return typed
    some = file.content[:SNIFFED]
    some = some[: some.rfind(b"\n") + 1] or some
    try:
        is_utf_16 = some.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
        text = some.decode("utf-16", "ignore") if is_utf_16 else some.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = some.decode("cp1252", "replace")
        typed["encoding"] = "cp1252"
    said = likely_settings(text)
    row_id = likely_row_id(text, said.get("delimiter", ","))
    return typed | said | ({} if row_id is None else {"row_id": row_id})


def _listed(categories: Sequence[str]) -> str:
    """Return categories as the text of a field; blank if there are many, or the text would be ambiguous."""
    if len(categories) > MOST_CATEGORIES or any("," in text or text != text.strip() for text in categories):
        return ""
    return ", ".join(categories)


def _names(file: FileBytes, typed: Mapping[str, str]) -> list[str]:
    """Return the columns of a text or Excel file without ids and target; none if there is no header."""
    if file.name.lower().endswith(".parquet"):  # says itself of what kind its columns are
        return []
    try:
        columns, _ = read_csv(file, typed.get("encoding") or None, typed.get("delimiter") or None)
    except CellworthError:
        return []
    others = {typed.get(each, "").strip() for each in ("row_id", "target")}
    return [each.name for each in columns if each.name not in others]


def _as_typed(typed: Mapping[str, str], names: Sequence[str]) -> dict[str, Any]:
    """Return what was typed of the columns, to be shown again where the file cannot be read that way.

    Nothing may have been typed yet; then the columns of these names wait for it.
    """
    fields = ("kind", "unit", "description", "low", "high", "price", "categories")
    columns = _typed_columns(typed) or {str(j): name for j, name in enumerate(names)}
    lines: list[dict[str, Any]] = []
    for j, name in list(columns.items())[:MOST_COLUMNS]:
        line = {field: typed.get(f"{field}.{j}", "") for field in fields}
        kind = line["kind"]
        lines.append(
            {
                "name": name,
                "has_bounds": kind in ("", "number", "integer"),
                "has_categories": kind in LABELLED,
                "wrong": {field for field in ("low", "high", "price") if _is_wrong(field, line[field])},
                **line,
            }
        )
    label = None
    if "price.label" in typed and typed.get("target"):
        label = {field: typed.get(f"{field}.label", "") for field in ("description", "price")}
        label["name"] = typed["target"]
    return {"lines": lines, "label": label}


def _is_wrong(field: str, text: str) -> bool:
    """Return whether a field of a column should be a number or an amount of money, and is none."""
    try:
        amount(text, field) if field == "price" else _bound(text.strip(), field, 0.0)
    except ParameterError:
        return True
    return False


def _typed_columns(typed: Mapping[str, str]) -> dict[str, str]:
    """Return the names of the columns that were typed about, by the number in the names of their fields."""
    return {field.partition(".")[2]: name for field, name in typed.items() if field.startswith("column.")}


def _keywords(typed: Mapping[str, str]) -> dict[str, Any]:
    """Return the keywords of `Table.read` that were typed."""
    said: dict[str, Any] = {
        name: typed[name].strip() or None
        for name in ("target", "row_id", "encoding", "date_format")
        if name in typed
    }
    said["delimiter"] = typed.get("delimiter") or None
    said["decimal"] = typed.get("decimal") or None
    marks = typed.get("missing", "").split()
    said["missing"] = [mark.rstrip(",") or mark for mark in marks]  # many write commas between them
    columns = _typed_columns(typed)
    kinds, units, descriptions, bounds, categories = {}, {}, {}, {}, {}
    for j, name in columns.items():
        if typed.get(f"kind.{j}") in KINDS:
            kinds[name] = typed[f"kind.{j}"]
        if typed.get(f"unit.{j}", "").strip():
            units[name] = typed[f"unit.{j}"].strip()
        if typed.get(f"description.{j}", "").strip():
            descriptions[name] = typed[f"description.{j}"].strip()
        if kinds.get(name) in LABELLED and typed.get(f"categories.{j}", "").strip():
            texts = [text.strip() for text in typed[f"categories.{j}"].split(",")]
            categories[name] = [text for text in texts if text and text not in said["missing"]]
        low, high = typed.get(f"low.{j}", "").strip(), typed.get(f"high.{j}", "").strip()
        if (low or high) and kinds.get(name, "number") in NUMERIC:
            bounds[name] = (_bound(low, name, -np.inf), _bound(high, name, np.inf))
    of_columns: dict[str, dict[str, Any]] = {"kinds": kinds, "units": units, "bounds": bounds}
    of_columns |= {"descriptions": descriptions, "categories": categories}
    for each in of_columns.values():
        for gone in (said.get("target"), said.get("row_id")):
            each.pop(gone or "", None)
    if said.get("target") and typed.get("description.label", "").strip():
        descriptions[said["target"]] = typed["description.label"].strip()
    return {**said, **of_columns}


def _bound(text: str, name: str, otherwise: float) -> float:
    try:
        return float(text.replace(",", ".")) if text else otherwise
    except ValueError:
        raise ParameterError(f"{name}: expected a number as a bound, got {text[:40]!r}.") from None


def _prices(table: Table, stated: FileBytes | None, typed: Mapping[str, str]) -> Prices:
    if stated is not None:
        how = table.read_options
        return Prices.read(stated if how is None else how.file(stated))
    named = {name: j for j, name in _typed_columns(typed).items()}
    amounts = {}
    for name in table.column_names:
        found = amount(typed.get(f"price.{named[name]}", ""), f"Price of {name}") if name in named else None
        if found is not None:
            amounts[name] = found
    if table.target is not None:
        price = amount(typed.get("price.label", ""), f"Price of {table.target.name}")
        if price is not None:
            amounts[table.target.name] = price
    currency = typed.get("currency", "").strip().upper() or None
    return Prices.per_column(amounts, default=1.0, currency=currency)


def _end(bound: float) -> str:
    return number_text(bound, -1) if np.isfinite(bound) else ""
