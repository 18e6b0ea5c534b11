"""The study of categories: its figures by hand, and that it runs."""

import numpy as np
import pytest

from cellworth.table import Table
from studies.completion import category_columns
from studies.completion.category_columns import Figures, Judged, behind, by_chain, by_shares, judge, page


def hues(n=40):
    """Return a table in which the second column repeats the first, whole and with holes."""
    rng = np.random.default_rng(0)
    hue = rng.choice(["red", "green", "blue"], n)
    rows = [[h, h, float(k)] for k, h in enumerate(hue)]
    whole = Table.from_arrays(rows, columns=["a", "b", "c"])
    hidden = np.zeros((n, 3), dtype=bool)
    hidden[:8, 1] = True
    return whole, whole.with_values(np.where(hidden, np.nan, whole.values)), hidden


def test_cells_are_judged_by_hand():
    whole, _, hidden = hues(3)
    hidden[1:] = False
    code = int(whole.values[0, 1])
    chances = np.full((3, 3), 0.25)
    chances[:, code] = 0.5
    judged = judge([chances, chances, chances], whole, hidden)
    assert judged.row.tolist() == [0]
    assert judged.wrong.tolist() == [False]
    assert (judged.loss[0], judged.sure[0]) == pytest.approx((np.log(2), 0.5))


def test_differences_and_their_errors_are_over_rows():
    none = np.zeros(4)
    one = Judged(np.array([0, 0, 1, 2]), np.array([True, True, False, False]), none, none)
    other = Judged(one.row, np.array([False, False, False, True]), none, none)
    by, error = behind([one], [other])
    assert by == pytest.approx((2 + 0 - 1) / 4)
    assert error == pytest.approx(np.std([2, 0, -1]) * 3**0.5 / 4)


def test_the_chain_sees_what_shares_do_not():
    whole, holed, hidden = hues()
    assert not judge(by_chain(holed), whole, hidden).wrong.any()
    assert judge(by_shares(holed), whole, hidden).wrong.any()


def test_the_page_shows_the_least_and_the_differences():
    gaps = (("Chain", -0.012, 0.003),)
    found = [
        Figures("splice", 0.7, "Chain", 0.62, 1.5, 0.1, 30.0),
        Figures("splice", 0.7, "Trees", 0.6, 1.25, 0.01, 3.0, gaps),
    ]
    text = page(found, "command", 1000, 3)
    assert "| splice | report | 70% | 0.620 | 1.500 | +0.100 | **0.600** | **1.250** | +0.010 |" in text
    assert "Chain: -0.012 ± 0.003" in text


@pytest.mark.slow
def test_runs_from_the_command_line(tmp_path, paper_folder):
    which = ["--tables", "chess", "--methods", "Shares", "Gaussian"]
    category_columns.main([*which, "--rows", "60", "--seeds", "1", "--out", str(tmp_path)])
    assert "| chess | report | 70% |" in (tmp_path / "categories.md").read_text("utf-8")
