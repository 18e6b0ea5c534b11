"""Run a function in a fresh process, unaffected by anything that ran before."""

from __future__ import annotations

import importlib
import json
import math
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

THREAD_VARIABLES = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


PATIENCE = 5  # wall seconds to wait per CPU second allowed, in case the machine is busy


class TimeLimitError(Exception):
    """The function used up its CPU time."""


class FailedError(Exception):
    """The function raised or hung; the message says which."""


def run_isolated(function: str, *, threads: int = 1, cpu_limit: int | None = None, **arguments: Any) -> Any:
    """Call ``function`` ("module:name") with ``arguments`` in a new process and return its result.

    Arguments and result are passed as JSON. BLAS and OpenMP may use ``threads`` threads. A ``cpu_limit``, in
    seconds, is passed on to the function, which applies it with `limit_cpu` when its work starts.
    """
    if cpu_limit is not None:
        arguments["cpu_limit"] = cpu_limit
    try:
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.isolate", function],
            input=json.dumps(arguments),
            capture_output=True,
            text=True,
            timeout=None if cpu_limit is None else 60 + PATIENCE * cpu_limit,
            env=os.environ | dict.fromkeys(THREAD_VARIABLES, str(threads)),
            cwd=Path(__file__).parent.parent,
        )
    except subprocess.TimeoutExpired as expired:
        raise FailedError(f"no result in {expired.timeout:g} s of wall time") from expired
    if done.returncode == -signal.SIGXCPU:
        raise TimeLimitError(f"more than {cpu_limit} CPU s")
    if done.returncode:
        lines = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        raise FailedError(lines[-1])
    return json.loads(done.stdout.strip().splitlines()[-1])


def limit_cpu(seconds: int | None) -> None:
    """Kill this process after this many more CPU seconds, over all threads; None removes the limit."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    used = math.ceil(time.process_time())
    most = resource.RLIM_INFINITY if seconds is None else used + seconds
    resource.setrlimit(resource.RLIMIT_CPU, (most, resource.RLIM_INFINITY))


def main() -> None:
    """Call the function in the new process, and print the result as the last line."""
    module, name = sys.argv[1].split(":")
    function = getattr(importlib.import_module(module), name)
    print("\n" + json.dumps(function(**json.load(sys.stdin))))


if __name__ == "__main__":
    main()
