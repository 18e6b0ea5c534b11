"""Names of averages: joined, taken apart and shown."""

import subprocess
import sys

import pytest

from cellworth.model import average_names


@pytest.mark.parametrize(
    ("names", "shown"),
    [
        (["extra trees"], "extra trees"),
        (["extra trees", "joint Gaussian"], "extra trees + joint Gaussian"),
        (["a", "b", "c, draws"], "average of 3 models"),
    ],
)
def test_a_name_is_taken_apart_as_it_was_joined(names, shown):
    name = average_names.joined(names)
    assert average_names.members(name) == names
    assert average_names.shown(name) == shown


def test_showing_a_name_loads_no_learner():
    code = "import sys, cellworth.forecasting.outlook; print('sklearn' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
