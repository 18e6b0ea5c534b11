"""Cells that do not fit in memory are read again in each pass, and change no bit."""

import numpy as np
import pytest

from cellworth import SupervisedCompleter
from cellworth.blocks import ThreadEngine, open_blocks
from cellworth.complete import supervised_completer
from cellworth.complete.solver.passes_over_blocks import ScaledBlock
from cellworth.complete.solver.unread_blocks import cell_bytes
from tests.blocks.tables import make_table


class Engine(ThreadEngine):
    """Threads with room for so many bytes, that keep an eye on what they keep."""

    def __init__(self, room):
        super().__init__(2, 60)
        self._room, self.kept = room, set()

    def room(self):
        return self._room

    def map(self, function, *blocks, shared=()):
        found = super().map(function, *blocks, shared=shared)
        self.kept |= {type(item) for item in found.items}
        return found


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_cells_are_read_again_where_they_do_not_fit(dtype, monkeypatch):
    monkeypatch.setattr(supervised_completer, "needs_no_iterate", lambda *_: False)
    X, y = make_table(400, 5, 0, labelled=0.7)
    X = X.astype(dtype)
    enough = cell_bytes(X.itemsize) * X.size
    found = []
    for room in (None, enough, enough - 1):
        engine = Engine(room)
        completer = SupervisedCompleter(loss="squared_hinge", max_iter=12, tol=0)
        completer.fit(open_blocks(X, target=y, engine=engine))
        found.append(completer)
        assert (ScaledBlock in engine.kept) == (room != enough - 1)
    for other in found[1:]:
        assert np.array_equal(found[0].objective_, other.objective_)
        assert np.array_equal(found[0].completed_.gather()[0], other.completed_.gather()[0])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_what_is_kept_is_as_large_as_stated():
    """For each cell: the value, whether it is observed, iterate and point, and the sampled moves."""
    X, _ = make_table(20_000, 10, 0)
    engine = ThreadEngine(1, 5_000)
    source = open_blocks(X, engine=engine)
    states = []
    real = engine.map
    engine.map = lambda function, *blocks, shared=(): (
        states.append(real(function, *blocks, shared=shared)) or states[-1]
    )
    SupervisedCompleter(max_iter=3, tol=0).fit(source)
    data, state = states[0].items, next(b.items for b in states[::-1] if hasattr(b.items[0], "trails"))
    kept = sum(item.__sizeof__() for item in (*data, *state))
    targets = sum(item.targets.nbytes + item.order.nbytes for item in data)
    assert kept - targets == pytest.approx(cell_bytes(8) * X.size, rel=0.1)
