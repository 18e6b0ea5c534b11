"""Checkpoints: from where a run that was interrupted goes on.

A checkpoint is a folder. ``about.json`` says to which run it belongs, and which generation is the last
complete one. A generation is one file of small arrays and, for runs that keep a state of each block, one file
of arrays for each block. The file ``about.json`` is replaced in one step after all else is written, so that
an interruption leaves the earlier generation.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from cellworth.arrays import AnyArray
from cellworth.blocks.protocol import Blocks, Engine, add
from cellworth.errors import DataError

Arrays = dict[str, AnyArray]


class Checkpoint:
    """A folder that a run leaves its state in.

    Parameters
    ----------
    folder : path
        Created if it does not exist. On a cluster, all workers must see it by the same path.
    identity : dict
        Plain data that tells this run from others, such as the table, the settings and the blocks.
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
                f"{self.folder}: the checkpoint there is of another run: {key} was {identity.get(key)!r}, "
                f"and is {self._identity[key]!r} now. Use another folder, or remove this one to begin anew."
            )

    def is_there(self) -> bool:
        """Return whether there is something to go on from."""
        return self._generation > 0

    def save(self, arrays: Arrays) -> None:
        """Save small arrays, in place of those before."""
        self._publish(self._new_generation(), arrays)

    def load(self) -> Arrays:
        """Return the small arrays that were saved last."""
        return _load(self._last() / "small.npz")

    def save_states(
        self,
        engine: Engine,
        arrays: Arrays,
        states: Blocks,
        to_arrays: Callable[[Any], Arrays],
        from_arrays: Callable[[Arrays], Any],
    ) -> Blocks:
        """Save small arrays and the states of all blocks; return the states as read from the files.

        What was computed before is then no longer needed to make a lost state again. ``to_arrays`` returns
        the named arrays of a state, ``from_arrays`` the state of such arrays; both run where the block is.
        """
        folder = self._new_generation()
        numbers = Blocks(range(len(states)))
        engine.reduce(_write_state, add, states, numbers, shared=(str(folder), to_arrays))
        self._publish(folder, arrays)
        return self.load_states(engine, len(states), from_arrays)

    def load_states(self, engine: Engine, n_blocks: int, from_arrays: Callable[[Arrays], Any]) -> Blocks:
        """Return the states of all blocks that were saved last."""
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
        """Make a generation the last one, and remove the one before it: nothing reads it any more."""
        np.savez(folder / "small.npz", **arrays)  # type: ignore[arg-type]
        text = json.dumps({"identity": self._identity, "generation": self._generation})
        written = self.folder / "about.json.new"
        written.write_text(text, "utf-8")
        os.replace(written, self._about)
        shutil.rmtree(self.folder / f"generation-{self._generation - 1}", ignore_errors=True)


def remove_checkpoint(folder: str | Path) -> None:
    """Remove a checkpoint whose run has ended; the folder too, if nothing else is in it."""
    path = Path(folder)
    for generation in path.glob("generation-*"):
        shutil.rmtree(generation, ignore_errors=True)
    (path / "about.json").unlink(missing_ok=True)
    with suppress(OSError):
        path.rmdir()


def _write_state(state: Any, number: int, folder: str, to_arrays: Callable[[Any], Arrays]) -> tuple[int]:
    path = Path(folder) / f"block-{number}.npz"
    written = path.with_suffix(f".{os.getpid()}.npz")  # Dask may run a task twice at a time
    np.savez(written, **to_arrays(state))  # type: ignore[arg-type]
    os.replace(written, path)
    return (1,)


def _read_state(number: int, folder: str, from_arrays: Callable[[Arrays], Any]) -> Any:
    return from_arrays(_load(Path(folder) / f"block-{number}.npz"))


def _load(path: Path) -> Arrays:
    with np.load(path, allow_pickle=False) as file:
        return {name: file[name] for name in file.files}
