"""Memory is bounded by the setting, not by the table."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from cellworth.complete.compiled.library import SWITCH, kernels
from tests.blocks.engines import need_dask
from tests.conftest import need

ROOT = Path(__file__).parent.parent.parent
LIMIT = 500 * 10**6  # of the one worker; some 250 MB of it are Python and its libraries

pytestmark = pytest.mark.alone


@pytest.mark.parametrize("compiled", [False, True])
def test_what_does_not_fit_goes_to_disk(tmp_path, compiled):
    """The rows' state is three times the table, 400 MB: more than the worker has room for.

    With the compiled kernels there is none, and nothing is left on disk. Also passes while other tests run,
    but takes much longer then.
    """
    need_dask()
    need(Path("/proc/self/status").exists(), "the record of peak memory in /proc")
    need(not compiled or kernels() is not None, "the compiled kernels")
    command = [sys.executable, "-m", "tests.blocks.made_up", "800000", str(LIMIT), str(tmp_path)]
    environment = os.environ if compiled else {**os.environ, SWITCH: "0"}
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False, env=environment
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["table"] == 128_000_000
    assert found["worker"] < LIMIT
    assert found["here"] < LIMIT
    assert found["blocks"] > 15
    assert (found["spilled"] == 0) == compiled
