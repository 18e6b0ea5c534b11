"""Processes that start in milliseconds, forked from a clean one that has the imports done.

There is one such process for all tests of a run, and it imports the modules that were named last: so they
are named here, once.
"""

import multiprocessing

processes = multiprocessing.get_context("forkserver")
processes.set_forkserver_preload(
    [
        "cellworth.campaign.rounds",
        "cellworth.campaign.stores.sql_store",
        "psycopg",
        "sklearn.linear_model",
        "tests.campaign.people",
        "tests.campaign.stores.writers",
        "tests.soak.worker",
    ]
)
