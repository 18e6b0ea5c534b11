"""What is shown of a search."""

import numpy as np

from cellworth.complete.auto_completer import AutoCompleter
from cellworth.complete.auto_results import CandidateResult, text_table
from tests.complete.auto_cases import QUICK, Broken, gaussian


def test_results_can_be_read():
    _, holed = gaussian(0)
    auto = AutoCompleter(candidates=[("broken", Broken()), *QUICK]).fit(holed)
    lines = auto.results_table().splitlines()
    assert lines[0].split() == ["candidate", "error", "spread", "holds", "seconds", "status"]
    assert lines[2].split()[0] == "gaussian"
    assert lines[2].endswith("chosen")
    assert lines[-3].endswith("failed: RuntimeError: out of luck")
    assert len(lines) == 4 + 4
    lone = text_table([CandidateResult("a", "chosen", 0.25, np.nan, 1, 1.5)]).splitlines()
    assert lone[2].split() == ["a", "0.2500", "-", "1", "1.50", "chosen"]
