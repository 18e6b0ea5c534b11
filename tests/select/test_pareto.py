"""The loop of Pareto optimisation: compiled as plain, and its archive tells the truth."""

import importlib.util

import numpy as np
import pytest

from cellworth.select.pareto import evolve
from cellworth.select.poss import default_iterations, empty_archive, scratch_for, search
from cellworth.select.row_spread import Spread
from tests.conftest import need
from tests.select.offers import large_offer, offer_of, problem_of

SPREADS = [Spread(), Spread(per_row=2), Spread(crowding=0.5), Spread(2, 0.7)]


@pytest.fixture(scope="module", autouse=True)
def _compiled():
    need(importlib.util.find_spec("numba") is not None, 'numba: pip install "cellworth[fast]"')


@pytest.mark.parametrize("spread", SPREADS, ids=str)
@pytest.mark.parametrize("grouped", [False, True])
def test_compiled_and_plain_are_the_same_to_the_bit(spread, grouped):
    rng = np.random.default_rng(1)
    groups = {}
    if grouped:
        groups = {"group_of": np.array([0, 0, 1, 1, 1, -1]), "fee": np.array([3, 3, 1, 2, 2.5, 0])}
        groups |= {"lasting": np.zeros(2, dtype=bool), "visit": 1.5}
    offer = offer_of(rng.exponential(size=(60, 6)), rng.uniform(1, 10, size=(60, 6)), **groups)
    problem = problem_of(offer, 60.0, spread)
    compiled, plain = (search(problem, 8000, np.random.default_rng(2), fast=fast) for fast in (True, False))
    size, used = compiled.used
    assert size > 50
    assert compiled.used.tolist() == plain.used.tolist()
    for name in ("cost", "value", "begin", "length"):
        assert getattr(compiled, name)[:size].tolist() == getattr(plain, name)[:size].tolist()
    assert compiled.members[:used].tolist() == plain.members[:used].tolist()


def test_the_archive_tells_the_truth_about_its_sets():
    """Costs and values added up step by step are those of the sets; memory is that of their cells."""
    offer = large_offer(300, 6)
    problem = problem_of(offer, 200.0, Spread())
    archive = search(problem, 200_000, np.random.default_rng(0))
    count = archive.used[0]
    assert (np.diff(archive.cost[:count]) > 0).all()
    assert (np.diff(archive.value[:count]) > 0).all()
    for i in range(1, count):
        members = archive.members[archive.begin[i] :][: archive.length[i]]
        assert (np.diff(members) > 0).all()
        assert problem.own[members].sum() == archive.cost[i]
        assert problem.score[members].sum() == archive.value[i]
    assert len(archive.members) <= max(1 << 14, 5 * archive.length[:count].sum())


def test_works_without_numba(monkeypatch):
    import cellworth.select.pareto as module

    def absent(name):
        raise ImportError(name)

    monkeypatch.setattr(module.importlib, "import_module", absent)
    assert module.compiled.__wrapped__(default_iterations) is default_iterations


def test_a_set_as_good_takes_the_place_of_the_old_one_and_a_worse_one_does_not():
    """Two candidates alike and a worse one: flip 0; then 0 and 1, which is as good; then 1 and 2."""
    problem = problem_of(offer_of([[2.0, 2.0, 1.0]], 1.0), 2.0, Spread())
    archive, scratch = empty_archive(), scratch_for(problem)
    choice, flips = np.array([0.0, 0.9, 0.9]), np.array([0, 0, 1, 1, 2])
    members = []
    for t in range(3):
        upto = slice(0, t + 1)
        done = evolve(problem, archive, scratch, choice[upto], np.array([0, 1, 3, 5]), flips, t)
        assert done == t + 1
        assert archive.used[0] == 2
        members.append(archive.members[archive.begin[1] :][: archive.length[1]].tolist())
    assert members == [[0], [1], [1]]
