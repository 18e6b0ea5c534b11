"""The study of the next cell: one small table from end to end, and its page."""

import numpy as np
import pytest

from cellworth import Prices
from studies.money.kept_cases import CaseFolder, StartTask
from studies.next_cell import learned_report, limits, report, row_policies, runs
from studies.next_cell.whole_table import WholeTable
from tests.policy.rows import ill_or_well


@pytest.fixture
def small(monkeypatch):
    """A small table in place of the development tables, and few draws."""
    table = ill_or_well(120)
    monkeypatch.setattr(row_policies, "table_of", lambda name: table)
    monkeypatch.setattr(row_policies, "prices_of", lambda name, kind: Prices.same(1.0))
    monkeypatch.setattr(row_policies, "DRAWS", 32)
    monkeypatch.setattr(row_policies, "TEST_ROWS", 15)
    monkeypatch.setattr(row_policies, "SHARES", (0.1, 0.25))
    for module in (report, learned_report):
        monkeypatch.setattr(module, "HALVES", {"tuning": ("made up", "other")})
    monkeypatch.setattr(runs, "BOOTSTRAPS", 3)
    return table


@pytest.mark.slow
def test_money_is_kept_and_only_what_exists_is_bought(small):
    rows = row_policies.NewRows.of("made up", 0)
    for share in (0.0, 0.4, 1.0):
        by_policy, _, _ = rows.by_policy(share, shared=False)
        shared, _, _ = rows.by_policy(share, shared=True)
        random = rows.in_order(np.array([2, 0, 1]), share)
        for known in (by_policy, random):
            assert (known.sum(axis=1) <= share * rows.money + 1e-9).all()
        for known in (by_policy, shared, random):
            assert not (known & rows.test.holes).any()
            assert rows.spent_share(known) == pytest.approx(known.sum() / rows.money.sum())
    assert (random == ~rows.test.holes).all()


@pytest.mark.slow
def test_a_run_and_its_page(small, tmp_path):
    tasks = [StartTask("next", "made up", 0.5, 0), StartTask("next", "other", 0.5, 0)]
    kept = CaseFolder(tmp_path, 1).records("next", tasks[:1], runs.run)
    scores = {(each["policy"], each["share"]): each["score"] for each in kept[tasks[0]]}
    assert scores["nothing", 0.0] == 0.5  # all rows are alike if nothing is known
    assert scores["all cells", 1.0] > 0.7
    assert set(report.POLICIES) <= {policy for policy, _ in scores}
    better = max(scores["mutual information", 0.25], scores["importance", 0.25])
    assert scores["hindsight", 0.25] >= better - 0.1  # found with fewer draws, it may miss by a little
    report.write_page(tmp_path / "page.md", tasks, kept)
    page = (tmp_path / "page.md").read_text()
    assert "1 of 2 runs, 1 of the protocol's two seeds. Not run yet: other (seed 0)." in page
    assert "| made up (tuning) | 0.500 |" in page
    assert ("whole table", 0.25) in scores
    assert "At 25% of the money: made up " in page


@pytest.mark.slow
def test_the_learned_policy_buys_what_tells_most_and_keeps_its_money(small, tmp_path):
    pytest.importorskip("torch")
    from studies.next_cell.learned_policy import LearnedPolicy, TrainingRows

    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    y = (X[:, 0] > 0).astype(float)  # the first column tells all, the others nothing
    layout = small.layout
    prices = Prices.same(1.0).on(small).of_cells().of_rows(np.array([0]))
    policy = LearnedPolicy(TrainingRows.of(layout, X, y, 2), prices, 0)
    new, everything = rng.normal(size=(50, 3)), np.ones((50, 3), dtype=bool)
    known = policy.known(new, everything, 1.0)
    assert known[:, 0].all()
    assert known.sum() <= 1.2 * len(new)
    assert not policy.known(new, everything, 0.0).any()
    assert policy.known(new, everything, 3.0).sum() >= known.sum()
    found = policy.predicted(new, known)
    assert ((found[:, 1] > 0.5) == (new[:, 0] > 0)).mean() > 0.9
    np.testing.assert_allclose(found.sum(axis=1), 1, atol=1e-6)

    tasks, learned = ([StartTask(part, "made up", 0.5, 0)] for part in ("next", "learned"))
    kept = CaseFolder(tmp_path, 1).records("next", tasks, runs.run)
    also = CaseFolder(tmp_path, 1).records("learned", learned, runs.run_learned)
    report.write_page(tmp_path / "page.md", tasks, kept, also)
    page = (tmp_path / "page.md").read_text()
    assert "*policy* minus *DIME, truth*" in page


@pytest.mark.slow
def test_an_order_that_knows_the_values_keeps_its_money(small):
    rows = row_policies.NewRows.of("made up", 0)
    known = limits.known_by_values(rows, 0.4)
    assert known.any()
    assert not (known & rows.test.holes).any()
    assert rows.spent_share(known) <= 0.4 + 1e-9
    assert limits.gain_share(rows, ~rows.test.holes) == pytest.approx(1.0)
    assert limits.gain_share(rows, np.zeros_like(known)) == 0.0
    assert len(limits.shares_of(rows)) == len(limits.COLUMNS) - 1


def best_loss(f, weights, X, prices, level, known):
    """Return the least expected loss of rows that are alike in what is known, by its definition."""
    mean = np.average(f, weights=weights)
    best = np.average((f - mean) ** 2, weights=weights)
    for column in set(range(X.shape[1])) - known:
        after = level * prices[column]
        for value in (0.0, 1.0):
            some = X[:, column] == value
            share = weights[some].sum() / weights.sum()
            after += share * best_loss(f[some], weights[some], X[some], prices, level, known | {column})
        best = min(best, after)
    return best


@pytest.mark.parametrize("level", [0.05, 0.3, 1.0])
def test_planning_to_the_end_loses_least(small, monkeypatch, level):
    """Against the definition, written down as a recursion, on a table of three yes-or-no columns."""
    rng = np.random.default_rng(0)
    X = np.array([[a, b, c] for a in (0.0, 1.0) for b in (0.0, 1.0) for c in (0.0, 1.0)])
    f, prices = rng.normal(size=(8, 1)), np.array([0.2, 0.5, 0.3])
    rows = row_policies.NewRows.of("made up", 0)

    def by_group(self, columns, targets):
        same = (X[:, np.newaxis, list(columns)] == X[np.newaxis, :, list(columns)]).all(axis=2)
        return np.array([targets[some].mean(axis=0) for some in same])

    monkeypatch.setattr(WholeTable, "means_given", by_group)
    table = WholeTable(rows, X, f)
    steps = table.steps(level, dict.fromkeys(table.set_prices(), prices))
    lost = []
    for row in range(8):
        columns, paid = (), 0.0
        while (chosen := int(steps[columns][row])) >= 0:
            columns, paid = tuple(sorted((*columns, chosen))), paid + level * prices[chosen]
        alike = (X[:, list(columns)] == X[row, list(columns)]).all(axis=1)
        lost.append(paid + (f[row, 0] - f[alike, 0].mean()) ** 2)
    wanted = best_loss(f[:, 0], np.ones(8), X, prices, level, frozenset())
    assert np.mean(lost) == pytest.approx(wanted)


@pytest.mark.slow
def test_a_plan_on_the_whole_table_spends_its_money_and_no_more(small):
    rows = row_policies.NewRows.of("made up", 0)
    assert len(rows.others) + rows.test.shape[0] == small.shape[0]
    for share in (0.0, 0.4, 1.0):
        known = WholeTable.of(rows).known(share)
        assert not (known & rows.test.holes).any()
        assert rows.spent_share(known) <= share + 1e-9
    some = WholeTable.of(rows).known(0.4)
    # The cells of one row at most are left.
    assert rows.spent_share(some) > 0.4 - rows.money.max() / rows.money.sum()


def test_scores_by_hand():
    y = np.array([0.0, 1.0, 1.0])
    assert runs.score(np.array([[0.9, 0.1], [0.2, 0.8], [0.95, 0.05]]), y) == 0.5
    assert runs.score(np.array([[0.0], [1.0], [1.0]]), y) == 1.0
