"""Reads the source of the library and builds an example of every error message that may reach a page.

The parts of a message are evaluated as they are written, in their own module and in the language of the
pages, with `Anything` for what is known only when it runs. A variable or function of the same module that
holds or makes words is replaced by them, in all ways that it may. A message that no page can show is listed
here, by its module or by its beginning; each other needs a translation.
"""

import ast
import builtins
import functools
import importlib
import inspect
import itertools
import re
from pathlib import Path
from typing import NamedTuple

import cellworth
from cellworth import errors
from cellworth.campaign.array_codec import UnusableCacheError
from cellworth.setting_names import speaking

ROOT = Path(cellworth.__file__).parent
MOST_WAYS = 200
"""A message is built in at most so many ways."""
NEVER_ON_PAGES = {
    "cli/": "the command line",
    "testing/": "checks of parts that others write",
    "datasets/": "tables to try the library on",
    "simulation/": "simulations are run in Python and on the command line",
    "theory.py": "the paper's bound",
    "demo.py": "the demonstration",
    "lazy_names.py": "names of modules",
    "blocks/": "files of row blocks are opened in Python and on the command line",
    "complete/": "completers get numbers of a table that has been checked",
    "score/": "scorers get numbers of a table that has been checked",
    "select/": "selectors get scores and prices that have been checked",
    "strategy/block_adviser.py": "the order of calls in Python",
    "prices/price_list.py": "arrays, in Python",
    "model/candidates.py": "models are given in Python",
    "model/completing_base.py": "estimators, in Python",
    "model/feature_views.py": "estimators, in Python",
    "model/fitted_model.py": "estimators, in Python",
    "model/learners.py": "estimators, in Python",
    "model/model_results.py": "frames, in Python",
    "policy/row_beliefs.py": "models are given in Python",
    "forecasting/outlook.py": "forecasts are asked in Python and on the command line",
    "forecasting/stop_rule.py": "rules to stop are given in Python, on the command line and by REST",
    "forecasting/table_forecast.py": "forecasts of tables are made in Python and on the command line",
    "campaign/assessment/status.py": "arguments, in Python",
    "campaign/maintenance.py": "stores are copied and restored on the command line",
    "campaign/stores/address.py": "stores are opened before a server starts",
    "model/mixed_frames.py": "frames, in Python",
    "table/read_arrays.py": "arrays, in Python",
    "table/write_table.py": "files are written in Python and on the command line",
    "web/api/": "programs, which speak English",
    "web/client": "programs, which speak English",
    "web/app.py": "starting a server",
    "web/server.py": "starting a server",
    "web/webhooks.py": "starting a server",
    "web/error_responses.py": "what it says comes from elsewhere",
    "web/security/guards.py": "programs and other sites, which get no pages",
}
"""Modules whose messages reach no page, and why."""
ONLY_IN_PYTHON = (
    "Campaign 'Xyz': expected event number",
    "Campaign 'Xyz': the key",
    "Table(...) takes",
    "Table.from_frame:",
    "The address of the PostgreSQL store",
    "There is no parameter",
    "X_filled must",
    "Xyz Make a Table with that",
    "a campaign begins with the cells",
    "a campaign on row blocks needs",
    "a campaign records its strategy by name",
    "a cell must be (row, column)",
    "a model needs labels; name",
    "a policy predicts a target, and the table has none",
    "a row must be a mapping",
    "a status must be one of",
    "a strategy named",
    "a frame of answers must have",
    "an answer must be",
    "the new rows: expected row ids, got none",
    "answers must be",
    "cell_of must",
    "cells must be a list",
    "column says where to look for a status",
    "confidence is for",
    "default is only",
    "deviation is for",
    "error_cost must be",
    "expected a cell as ROW:COLUMN",
    "expected a mapping",
    "expected the output of",
    "folds must",
    "frame must",
    "groups must be a list",
    "labels=True",
    "nothing to ",
    "prices per cell",
    "prices that are a function",
    "row 'Xyz': Xyz",
    "row 'Xyz': expected values by column name",
    "rows must ",
    "seed must",
    "stored prices",
    "the table is in row blocks, and the",
    "strategy 'Xyz' chooses its parts",
    "strategy 'Xyz' compares completers",
    "strategy 'Xyz' leaves nothing open",
    "taking cells needs a lease",
    "target_kind must",
    "the clock must",
    "the target 'Xyz' is number, and the model",
    "the field 'Prices (optional)' must be",
    "the matrix",
    "the name 'Xyz' cannot be read back",
    "the store Xyz has no campaigns",
    "the store has no campaigns",
    "the store has several campaigns",
    "the table must have the columns of",
    "the target is a number: error_cost",
    "this is campaign",
    "until must",
    "values must",
    "y has",
    "y must",
    "'Xyz' in the field 'Column to predict': this table has",
    "'Xyz' is ambiguous: it can mean several cells",
    "Anything cannot go on from",
    "Complex numbers have no order",
    "Use NaN for a hole; Column.parse",
    "categories, column 'Xyz': expected a list",
    "group 'Xyz': lasting must be",
    "least and most, column 'Xyz': expected",
    "target must map column names",
    "Xyz: expected a file, got a directory",
    "a.csv: the index names the rows",
    "a.csv: there is no folder",
    "Xyz: no such file in",
    "Xyz must be an array",
    "Xyz must have the shape",
    "a.csv: columns must be a list",
    "a.csv: expected a file in a folder",
    "a.csv: expected a file, got a directory",
    "a.csv: no such file in",
    "a.csv: target_kind=",
    "a.csv: the kind must be one of",
    "target='Xyz': this Table has",
    "an array has no column names",
    "expected a Table, a pandas or polars DataFrame",
    "the budget must be given for each column of the group",
    "Campaign 'Xyz': its name must be plain data",
    "a.csv: expected a time with",
)
"""The beginnings of messages about arguments that only a program can get wrong, and no page gives."""
STANDS_FOR = {
    "words": "row 'Xyz', column 'Xyz'",
    "state.index.words(cell)": "row 'Xyz', column 'Xyz'",
    "index.words(cell)": "row 'Xyz', column 'Xyz'",
    "in_words(row, column)": "row 'Xyz', column 'Xyz'",
    "state.stage": "closed",
    "keyword": "target",
    "error": "Xyz",
    "campaign/stores/store_protocol.py: what": "Campaign 'Xyz': its name",
    "longest": "7",
    "campaign/answer_file.py: error": "column 'Xyz': expected a number, got 'Xyz'.",
    "campaign/cell_index.py: error": "column 'Xyz': expected a number, got 'Xyz'.",
    "campaign/new_rows.py: error": "column 'Xyz': expected a number, got 'Xyz'.",
    "prices/price_file.py: error": "There is no column 'Xyz'. The columns are 'Xyz'.",
    "prices/cell_prices.py: error": "There is no row 'Xyz'. The rows are 'Xyz'.",
    "strategy/block_prices.py: error": "There is no row 'Xyz'. The rows are 'Xyz'.",
    "web/pages/next_value.py: row": "'Xyz'",
    "origin.name": "a.csv",
    "origin.column(raw.name)": "a.csv, column 'Xyz'",
    "origin.column(name)": "a.csv, column 'Xyz'",
    "origin.column(column)": "a.csv, column 'Xyz'",
    "origin.column(column.name)": "a.csv, column 'Xyz'",
    "self.column(column)": "a.csv, column 'Xyz'",
    "campaign/settings.py: error": "no strategy 'Xyz'. There are: Xyz, Xyz",
    "campaign/answers.py: so": "cannot be cancelled",
    "prices/price_file.py: before": "line 7",
    "table/build_table.py: place": "7",
    "table/build_table.py: row + 1": "7",
    "web/pages/table_views.py: place + 1": "7",
    "_shown(value)": "'Xyz'",
    "_shown(name)": "'Xyz'",
    "named('who')": "who",
    "named('expires')": "expires",
    "field": "column",
    "noun": "column",
    "what": "the budget",
    "where": "a.csv",
    "path": "a.csv",
    "place": "a.csv",
    "file": "a.csv",
    "name": "Xyz",
    "text": "Xyz",
    "problem": "expected numbers",
    "remedy": "Split it.",
    "', '.join(shown)": "'Xyz' in row 'Xyz' (line 7)",
    "_all_at_once(records[:SAMPLE], other)": "';' in the field 'Separator'",
    "not_there('field', name, FIELDS)": "There is no field 'Xyz'. The fields are 'Xyz'.",
    "line.place": "a.csv, line 7",
    "so": "Take another cell",
    "expected": "numbers",
    "said": "It can only be looked at.",
    "column.kind": "number",
    "given.kind": "number",
    "self.expected": "a number from 1 to 2",
    "column.expected": "a number from 1 to 2",
    "kind": "number",
}
"""What some expressions stand for."""
MAKERS = {"cell_error": (1, 4), "refuse": (0, 2), "_error": (2, 3), "problem": (0,), "WrongLine": (2,)}
MAKERS |= {"SignInNeededError": (0,), "HTTPException": (1,), "ProblemDetails": (1,)}
"""Functions that make an error, besides the classes of `errors`, and which arguments are words."""


class Message(NamedTuple):
    """An example of a message, and where it is made."""

    module: str
    line: int
    text: str


class Anything(str):
    """Stands for any value: whatever is done with it gives such a value again, or a number."""

    def __new__(cls, _=None):
        return super().__new__(cls, "Xyz")

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Anything()

    def __call__(self, *_, **__):
        return Anything()

    def __getitem__(self, _):
        return Anything()

    def __iter__(self):
        return iter((str(self),))

    def __format__(self, spec):
        return "7" if spec else str(self)

    def __truediv__(self, _):
        return 7

    __rtruediv__ = __mul__ = __rmul__ = __sub__ = __rsub__ = __truediv__

    def __neg__(self):
        return 7


@functools.cache
def messages():
    """Return an example of each error message that may reach a page, in each way that it is built."""
    found = []
    for path in sorted(ROOT.rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        if not name.startswith(tuple(NEVER_ON_PAGES)):
            found += _Source(name, path.read_text("utf-8")).messages()
    return found


class _Source:
    """The source of one module."""

    def __init__(self, name, text):
        self.name, self.tree = name, ast.parse(text)
        parts = name.removesuffix(".py").removesuffix("/__init__").split("/")
        self.scope = vars(importlib.import_module(".".join(["cellworth", *parts])))
        self.functions = {
            node.name: node
            for node in ast.walk(self.tree)
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        }

    def messages(self):
        found = []
        for function in self.functions.values():
            assigned = _assigned(function)
            for node in ast.walk(function):
                for words in self._words_of(node) if isinstance(node, ast.Call) else ():
                    texts = set(self._ways(words, assigned)) - {"Xyz", "", "Xyz."}
                    found += [Message(self.name, node.lineno, text) for text in sorted(texts)]
        return found

    def _words_of(self, call):
        """Return the arguments of a call that are words of an error; none if it makes no error."""
        name = getattr(call.func, "id", getattr(call.func, "attr", ""))
        called = self.scope.get(name)
        if inspect.isclass(called) and issubclass(called, errors.CellworthError):
            listed = (errors.WrongLinesError, errors.QuestionedError, UnusableCacheError)
            return [] if issubclass(called, listed) else call.args[:1]
        if name in ("refuse", "_error") and not isinstance(call.func, ast.Name):
            return []  # a campaign's
        return [call.args[place] for place in MAKERS.get(name, ()) if place < len(call.args)]

    def _ways(self, node, assigned, depth=0):
        """Yield the texts that an expression may give."""
        written = ast.unparse(node)
        if f"{self.name}: {written}" in STANDS_FOR:
            yield self._stands_for(written)
        elif isinstance(node, ast.JoinedStr):
            parts = [list(self._ways(each, assigned, depth + 1)) for each in node.values]
            yield from map("".join, itertools.islice(itertools.product(*parts), MOST_WAYS))
        elif isinstance(node, ast.FormattedValue):
            for text in self._ways(node.value, assigned, depth + 1):
                yield repr(text) if node.conversion == ord("r") else text
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            ways = [list(self._ways(each, assigned, depth)) for each in (node.left, node.right)]
            yield from map("".join, itertools.product(*ways))
        elif isinstance(node, ast.IfExp):
            yield from self._ways(node.body, assigned, depth)
            yield from self._ways(node.orelse, assigned, depth)
        elif isinstance(node, ast.Name) and node.id in assigned and depth < 8:
            for each in assigned[node.id]:
                yield from self._ways(each, assigned, depth + 2)
        elif written in STANDS_FOR:
            yield STANDS_FOR[written]
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") in self.functions and depth < 8:
            function = self.functions[node.func.id]
            for each in ast.walk(function):
                if isinstance(each, ast.Return) and each.value is not None:
                    yield from self._ways(each.value, _assigned(function), depth + 2)
        else:
            yield self._value(node)

    def _stands_for(self, written, otherwise=None):
        return STANDS_FOR.get(f"{self.name}: {written}", STANDS_FOR.get(written, otherwise))

    def _value(self, node):
        """Return the text of an expression, with anything for what is not of its module."""
        if isinstance(node, ast.Constant):
            return str(node.value)
        names = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
        unknown = {name for name in names if name not in self.scope and not hasattr(builtins, name)}
        scope = {**self.scope, **{name: self._stands_for(name, Anything()) for name in unknown}}
        try:
            with speaking("pages"):
                return str(eval(ast.unparse(node), scope))  # of our own source
        except Exception:
            return "7" if "len(" in ast.unparse(node) else "Xyz"


def _assigned(function):
    """Return the expressions that the names of a function may stand for."""
    found = {}
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            found.setdefault(node.targets[0].id, []).append(node.value)
    return found


SPEAKING = (
    "campaign/assessment/learning_curve.py",
    "campaign/assessment/status.py",
    "campaign/questioned_answers.py",
    "policy/policy.py",
    "report/money_summaries.py",
    "strategy/reasons.py",
    "table/column.py",
    "web/jobs.py",
)
"""Modules that make sentences of pages other than errors: what a value is worth, whether to go on."""

PRINTED = {
    "several classes",
    "cross-validated on ",
    " rows in ",
    ", holes filled without labels",
    "mean of ",
    " classes, each against the rest; ",
    " known at the start, ",
    " still missing: of these ",
    "nothing left",
    ": read it with Table.read(path, **trained_table.keywords())",
    "the policy",
    "<policy for ",
    "errors cost money",
}
"""Words in them that are printed in Python and on the command line only."""


def phrases(name):
    """Return the words in the texts of a module, apart from errors, between the parts that are filled in."""
    tree = ast.parse((ROOT / name).read_text("utf-8"))
    skipped = {id(part) for node in ast.walk(tree) if _is_no_phrase(node) for part in ast.walk(node)}
    texts = [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in skipped
    ]
    return [text for text in texts if re.search(r"[a-z]{2,} [a-z]{2,}", text)]


def _is_no_phrase(node):
    is_documentation = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    is_log = isinstance(node, ast.Call) and ast.unparse(node.func).startswith("log.")
    return isinstance(node, ast.Raise) or is_documentation or is_log
