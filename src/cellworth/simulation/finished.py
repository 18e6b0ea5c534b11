"""Finished runs, kept in a folder so that a broken simulation goes on where it stopped."""

from __future__ import annotations

import hashlib
import json
import os
import re
from pathlib import Path

from cellworth.errors import DataError
from cellworth.simulation.play import Record, Settings
from cellworth.strategy import Strategy
from cellworth.table import Table


class FinishedRuns:
    """One small JSON file per run; its name tells the strategy, the seed, and a mark of all settings.

    A run made with another table, other prices or other settings has another mark, and is left alone.

    Parameters
    ----------
    folder : path or None
        Made if it is not there; None keeps nothing.
    """

    def __init__(self, folder: str | os.PathLike[str] | None, table: Table, settings: Settings) -> None:
        self._folder = None if folder is None else Path(folder)
        if self._folder is not None:
            try:
                self._folder.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise DataError(f"cannot keep finished runs in {folder}: {error.strerror}") from None
            self._mark = _mark_of(table, settings)

    def load(self, strategy: Strategy, seed: int) -> list[Record] | None:
        """Return the records of a finished run, or None."""
        if self._folder is None:
            return None
        try:
            records: list[Record] = json.loads(self._file(strategy, seed).read_text())
        except (FileNotFoundError, json.JSONDecodeError):
            return None
        return records

    def save(self, strategy: Strategy, seed: int, records: list[Record]) -> None:
        """Keep a run: its file is there whole or not at all."""
        if self._folder is not None:
            file = self._file(strategy, seed)
            part = file.with_suffix(f".{os.getpid()}.part")
            part.write_text(json.dumps(records))
            part.replace(file)

    def _file(self, strategy: Strategy, seed: int) -> Path:
        assert self._folder is not None
        parts = (self._mark, strategy.completer, strategy.scorer, strategy.selector)
        mark = hashlib.sha256("\n".join(map(_words, parts)).encode()).hexdigest()[:16]
        name = re.sub(r"[^A-Za-z0-9_-]", "_", strategy.name)
        return self._folder / f"{name}-{seed}-{mark}.json"


def _mark_of(table: Table, settings: Settings) -> str:
    """Return a text that tells one table and one group of settings from all others."""
    from cellworth import __version__

    digest = hashlib.sha256(table.values.tobytes())
    digest.update(b"" if table.y is None else table.y.tobytes())
    digest.update("\n".join(map(_words, (__version__, table.columns, settings))).encode())
    return digest.hexdigest()


def _words(thing: object) -> str:
    """Return the text of a thing with all its settings, those at their defaults too."""
    if hasattr(thing, "get_params"):
        return f"{type(thing).__name__}({sorted((k, repr(v)) for k, v in thing.get_params().items())})"
    return repr(thing)
