"""Jobs for the worker: they stand in a module, for the worker finds them by name."""

import os
import time
from pathlib import Path

import numpy as np

from cellworth.errors import ConflictError
from cellworth.progress import report


def number(campaign):
    return {"as_of": campaign.number}


def add(campaign, one, other=0):
    return campaign.name, one + other


def process(campaign):
    print("what a job prints does no harm")
    return os.getpid(), os.nice(0), os.environ["OMP_NUM_THREADS"]


def conflict(campaign):
    raise ConflictError("somebody was first")


def fail(campaign):
    return 1 / 0


def die(campaign):
    os._exit(7)


def die_once(campaign, path):
    if not Path(path).exists():
        Path(path).touch()
        os._exit(7)
    return {"as_of": campaign.number}


def sleep(campaign, seconds):
    time.sleep(seconds)
    return {"as_of": campaign.number}


def slow(campaign):
    time.sleep(0.35)
    report(0.5)
    return sleep(campaign, 0.4)


def large(campaign, n):
    return np.zeros(n).tolist()


def count_runs(campaign):
    return {"as_of": campaign.number, "runs": next(_runs)}


def raise_always(campaign):
    raise ConflictError("never")


_runs = iter(range(10**9))


def sample(campaign):
    return {"rows": 1}
