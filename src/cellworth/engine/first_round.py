"""The worths of a first round over row blocks: the rule of `cellworth.score.first_round`.

A completer that tells its own variance is taken at its word. Else four refits are asked, each on the table
with a random tenth of its observed cells hidden. The random numbers are those that a table in memory would
get: each block jumps to its place in the stream.
"""

from __future__ import annotations

import warnings
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from cellworth.blocks.protocol import Blocks
from cellworth.blocks.sources import Block, Part
from cellworth.blocks.writing import FilledPart
from cellworth.errors import ParameterError
from cellworth.score.first_round import HIDDEN_SHARE, REFITS

if TYPE_CHECKING:
    from cellworth.complete.completed_blocks import CompletedBlocks
    from cellworth.engine.scoring import Scores

Array = NDArray[np.float64]


@dataclass(frozen=True)
class ThinnedBlock:
    """A block with a random tenth of its cells hidden, but never the first observed one of a column.

    Attributes
    ----------
    block : Block
    generator : Generator
        At the beginning of the table's random numbers, one for each cell, row after row.
    spared : (d,) int array
        For each column, the number of the row whose cell is not hidden.
    """

    block: Block
    generator: np.random.Generator
    spared: NDArray[np.intp]

    @property
    def start(self) -> int:
        """Number of the first row in the whole table."""
        return self.block.start

    @property
    def stop(self) -> int:
        """Number of the row after the last."""
        return self.block.stop

    def read(self) -> Part:
        """Read the rows, and hide cells."""
        part = self.block.read()
        hidden = numbers_of_rows(self.generator, self.start, part.X.shape) < HIDDEN_SHARE
        here = (self.spared >= self.start) & (self.spared < self.stop)
        hidden[self.spared[here] - self.start, np.flatnonzero(here)] = False
        return replace(part, X=np.where(hidden, part.X.dtype.type(np.nan), part.X))


def first_round(done: CompletedBlocks, units: Array, rng: np.random.Generator) -> Scores:
    """Return worths that need no history, in squared ranges ``units`` (d,) of the columns."""
    from cellworth.engine.scoring import Scores

    if done.has_variance:
        return Scores(done, _own_variance, shared=(units,))
    return Scores(done, _disagreement, tuple(_refits(done, rng)), (units,))


def _refits(done: CompletedBlocks, rng: np.random.Generator) -> list[Blocks]:
    """Return the completions of the refits, block by block."""
    settings = clone(done.completer).set_params(callback=None)
    completions = []
    for _ in range(REFITS):
        here = deepcopy(rng)
        thinned = done.source.with_blocks(partial(ThinnedBlock, generator=here, spared=done.summary.first))
        skip(rng, done.source.n_rows * len(done.source.columns))
        with warnings.catch_warnings():
            # The round's own fit has warned already where there is cause.
            warnings.simplefilter("ignore", ConvergenceWarning)
            refit = clone(settings).fit(thinned).completed_
        completions.append(refit.map(_completed))
    return completions


def _completed(filled: FilledPart) -> Array:
    return np.asarray(filled.completed, dtype=np.float64)


def _own_variance(filled: FilledPart, units: Array) -> Array:
    assert filled.variance is not None
    return filled.variance.astype(np.float64) / units * filled.holes


def _disagreement(filled: FilledPart, *others: Array) -> Array:
    *completions, units = others
    spread: Array = np.var(np.stack(completions), axis=0) / units * filled.holes
    return spread


def numbers_of_rows(generator: np.random.Generator, start: int, shape: tuple[int, ...]) -> Array:
    """Return the random numbers of rows from ``start`` on; those of the table begin at the generator."""
    here = deepcopy(generator)
    skip(here, start * shape[1])
    return here.random(shape)


def skip(generator: np.random.Generator, count: int) -> None:
    """Move a generator past so many numbers of ``random``, in no time."""
    bits: Any = generator.bit_generator
    if not hasattr(bits, "advance"):
        raise ParameterError(
            f"over row blocks random numbers must come from PCG64 or Philox; got {type(bits).__name__}"
        )
    bits.advance(count)
