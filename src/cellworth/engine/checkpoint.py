"""Checkpoints: from where a run that was interrupted goes on.

A checkpoint is a folder. ``about.json`` says to which table and settings it belongs, and which generation is
the last complete one; that generation is one file of small arrays and, for completers that keep a state of
each row, one file for each block. The file ``about.json`` is replaced in one step after all else is written,
so that an interruption leaves the earlier generation.
"""

from __future__ import annotations

import json
import os
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cellworth.blocks.protocol import Blocks, Engine, add
from cellworth.complete.solver.step import StepSums
from cellworth.engine.row_state import RowState
from cellworth.errors import DataError

Arrays = dict[str, NDArray[Any]]


class Checkpoint:
    """A folder that a run leaves its state in.

    Parameters
    ----------
    folder : path
        Made if it is not there. On a cluster, all workers must see it by the same path.
    identity : dict
        Plain data that tells this run from others: the table, the completer's settings, the blocks.
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
        """Tell whether there is something to go on from."""
        return self._generation > 0

    def save(self, arrays: Arrays) -> None:
        """Keep small arrays, in place of those before."""
        self._publish(self._begin(), arrays)

    def load(self) -> Arrays:
        """Return the small arrays that were kept last."""
        with np.load(self._place() / "small.npz", allow_pickle=False) as file:
            return {name: file[name] for name in file.files}

    def save_states(self, engine: Engine, arrays: Arrays, states: Blocks) -> Blocks:
        """Keep small arrays and the states of all blocks; return the states as read from the files.

        What was computed before is then no longer needed to make a lost state again.
        """
        place = self._begin()
        numbers = Blocks(range(len(states)))
        engine.reduce(_write_state, add, states, numbers, shared=(str(place),))
        self._publish(place, arrays)
        return self._read_states(engine, len(states))

    def load_states(self, engine: Engine, n_blocks: int) -> tuple[Arrays, Blocks]:
        """Return the small arrays and the states that were kept last."""
        return self.load(), self._read_states(engine, n_blocks)

    def _read_states(self, engine: Engine, n_blocks: int) -> Blocks:
        return engine.map(_read_state, Blocks(range(n_blocks)), shared=(str(self._place()),))

    def _place(self) -> Path:
        return self.folder / f"generation-{self._generation}"

    def _begin(self) -> Path:
        """Return an empty folder for the next generation."""
        self._generation += 1
        shutil.rmtree(self._place(), ignore_errors=True)
        self._place().mkdir()
        return self._place()

    def _publish(self, place: Path, arrays: Arrays) -> None:
        """Make a generation the last one, and remove the one before it: nothing reads it any more."""
        np.savez(place / "small.npz", **arrays)  # type: ignore[arg-type]
        text = json.dumps({"identity": self._identity, "generation": self._generation})
        written = self.folder / "about.json.new"
        written.write_text(text, "utf-8")
        os.replace(written, self._about)
        shutil.rmtree(self.folder / f"generation-{self._generation - 1}", ignore_errors=True)


def remove_checkpoint(folder: str | Path) -> None:
    """Remove a checkpoint whose run has ended; the folder too, if nothing else is in it."""
    place = Path(folder)
    for generation in place.glob("generation-*"):
        shutil.rmtree(generation, ignore_errors=True)
    (place / "about.json").unlink(missing_ok=True)
    with suppress(OSError):
        place.rmdir()


def _write_state(state: RowState, number: int, place: str) -> tuple[int]:
    trails = {f"trail{i}": trail for i, trail in enumerate(state.trails)}
    path = Path(place) / f"block-{number}.npz"
    written = path.with_suffix(f".{os.getpid()}.npz")  # Dask may run a task twice at a time
    np.savez(written, iterate=state.iterate, point=state.point, **trails)  # type: ignore[arg-type]
    os.replace(written, path)
    return (1,)


def _read_state(number: int, place: str) -> RowState:
    with np.load(Path(place) / f"block-{number}.npz", allow_pickle=False) as file:
        trails = [file[f"trail{i}"] for i in range(len(file.files) - 2)]
        none = np.zeros((0, 0))
        sums = StepSums(none, 0.0, none, none, 0, 0, 0, 0, 0)  # the descent has them
        return RowState(file["iterate"], file["point"], trails, sums)
