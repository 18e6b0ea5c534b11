"""Checkpoints, from which an interrupted run resumes.

A checkpoint is a folder. ``about.json`` says which run it belongs to and which generation is the last
complete one. A generation is one file of small arrays and, for runs that keep state per block, one file of
arrays per block. ``about.json`` is replaced atomically after everything else is written, so an interruption
leaves the previous generation intact.
"""

from __future__ import annotations

import json
import os
import shutil
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from cellworth.arrays import AnyArray
from cellworth.blocks.engine_protocol import Blocks, Engine, add
from cellworth.errors import DataError

Arrays = dict[str, AnyArray]
_ONE_READER = threading.Lock()
"""NumPy parses a file's head as Python, which two threads at once can fail to do on 3.11: SystemError."""


class Checkpoint:
    """A folder where a run saves its state.

    Parameters
    ----------
    folder : path
        Created if it does not exist. On a cluster, all workers must see it under the same path.
    identity : dict
        Plain data that identifies this run, such as the table, the settings and the blocks.
    """

    def __init__(self, folder: str | Path, identity: dict[str, Any]) -> None:
        self.folder = Path(folder).absolute()
        self._identity = json.loads(json.dumps(identity, default=str))
        self._generation = 0
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            about = json.loads(self._about.read_text("utf-8")) if self._about.exists() else None
        except (OSError, ValueError) as error:
            raise DataError(f"{self.folder}: cannot be used for checkpoints: {error}") from None
        if about is not None:
            self._check(about["identity"])
            self._generation = about["generation"]

    @property
    def _about(self) -> Path:
        return self.folder / "about.json"

    def _check(self, identity: dict[str, Any]) -> None:
        differing = [key for key in self._identity if identity.get(key) != self._identity[key]]
        if differing:
            key = differing[0]
            raise DataError(
                f"{self.folder}: the checkpoint there is from another run: {key} was {identity.get(key)!r} "
                f"and is now {self._identity[key]!r}. Use another folder, or remove this one to start over."
            )

    def is_there(self) -> bool:
        """Return whether there is a saved state to resume from."""
        return self._generation > 0

    def save(self, arrays: Arrays) -> None:
        """Save small arrays, replacing the previous ones."""
        self._publish(self._new_generation(), arrays)

    def load(self) -> Arrays:
        """Return the small arrays saved last."""
        return _load(self._last() / "small.npz")

    def save_states(
        self,
        engine: Engine,
        arrays: Arrays,
        states: Blocks,
        to_arrays: Callable[[Any], Arrays],
        from_arrays: Callable[[Arrays], Any],
    ) -> Blocks:
        """Save small arrays and the states of all blocks; return the states as read back from the files.

        A lost state can then be restored without the computations that led to it. ``to_arrays`` converts a
        state to named arrays and ``from_arrays`` converts them back; both run where the block is.
        """
        folder = self._new_generation()
        numbers = Blocks(range(len(states)))
        engine.reduce(_write_state, add, states, numbers, shared=(str(folder), to_arrays))
        self._publish(folder, arrays)
        return self.load_states(engine, len(states), from_arrays)

    def load_states(self, engine: Engine, n_blocks: int, from_arrays: Callable[[Arrays], Any]) -> Blocks:
        """Return the states of all blocks saved last."""
        shared = str(self._last()), from_arrays
        return engine.map(_read_state, Blocks(range(n_blocks)), shared=shared)

    def _last(self) -> Path:
        return self.folder / f"generation-{self._generation}"

    def _new_generation(self) -> Path:
        """Return an empty folder for the next generation."""
        self._generation += 1
        shutil.rmtree(self._last(), ignore_errors=True)
        self._last().mkdir()
        return self._last()

    def _publish(self, folder: Path, arrays: Arrays) -> None:
        """Make this generation the current one, and remove the previous one, which is no longer read."""
        np.savez(folder / "small.npz", **arrays)  # type: ignore[arg-type]
        text = json.dumps({"identity": self._identity, "generation": self._generation})
        written = self.folder / "about.json.new"
        written.write_text(text, "utf-8")
        os.replace(written, self._about)
        shutil.rmtree(self.folder / f"generation-{self._generation - 1}", ignore_errors=True)


def remove_checkpoint(folder: str | Path) -> None:
    """Remove the checkpoint of a finished run, and its folder if nothing else is in it."""
    path = Path(folder)
    for generation in path.glob("generation-*"):
        shutil.rmtree(generation, ignore_errors=True)
    (path / "about.json").unlink(missing_ok=True)
    with suppress(OSError):
        path.rmdir()


def _write_state(state: Any, number: int, folder: str, to_arrays: Callable[[Any], Arrays]) -> tuple[int]:
    path = Path(folder) / f"block-{number}.npz"
    written = path.with_suffix(f".{os.getpid()}.npz")  # Dask may run two copies of a task at once
    np.savez(written, **to_arrays(state))  # type: ignore[arg-type]
    os.replace(written, path)
    return (1,)


def _read_state(number: int, folder: str, from_arrays: Callable[[Arrays], Any]) -> Any:
    return from_arrays(_load(Path(folder) / f"block-{number}.npz"))


def _load(path: Path) -> Arrays:
    with _ONE_READER, np.load(path, allow_pickle=False) as file:
        return {name: file[name] for name in file.files}
