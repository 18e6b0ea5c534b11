"""Memory is bounded by the setting, not by the table."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.blocks.engines import need_dask
from tests.conftest import need

ROOT = Path(__file__).parent.parent.parent
LIMIT = 500 * 10**6  # of the one worker; some 250 MB of it are Python and its libraries

pytestmark = pytest.mark.alone


@pytest.mark.parametrize("loss", ["squared_hinge", "squared"])
def test_what_does_not_fit_goes_to_disk(tmp_path, loss):
    """The rows' state is three times the table, 400 MB: more than the worker has room for.

    The squared loss does without, and leaves nothing on disk.
    """
    need_dask()
    need(Path("/proc/self/status").exists(), "the record of peak memory in /proc")
    command = [sys.executable, "-m", "tests.blocks.made_up", "800000", str(LIMIT), str(tmp_path), loss]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["table"] == 128_000_000
    assert found["worker"] < LIMIT
    assert found["here"] < LIMIT
    assert found["blocks"] > 15
    assert (found["spilled"] > 0) == (loss == "squared_hinge")
