"""The buyer who sees the test rows takes the best of the batches on offer, and pays for it."""

import pytest

from cellworth.select import Draw
from studies.money import peeking_bound
from studies.money.peeking_bound import PEEKING, peek
from studies.money.purchases import TESTED, Run


@pytest.mark.slow
@pytest.mark.usefixtures("paper_folder")
def test_more_batches_to_choose_from_are_never_worse(tmp_path, monkeypatch):
    (tmp_path / "saheart-0.2-0.judge").write_text("logistic regression")
    run = Run("saheart", 0.2, "unequal", PEEKING, 0)
    monkeypatch.setattr(peeking_bound, "STEPS", (0.3,))
    last = []
    for draws in peeking_bound.DRAWS[:1], peeking_bound.DRAWS[:4]:
        monkeypatch.setattr(peeking_bound, "DRAWS", draws)
        first, *bought = peek(run, tmp_path, TESTED, TESTED)
        assert first["share"] == 0
        assert [each["share"] for each in bought] == [pytest.approx(0.3, abs=0.01)]
        last.append(bought[-1]["score"])
    assert last[0] <= last[1]
    assert all(isinstance(draw, Draw) and draw.per == "price" for draw in peeking_bound.DRAWS)
