"""The server with a worker that keeps no test waiting.

``python -m tests.web.quick serve ...`` is ``cellworth serve ...`` with this worker, and
``python -m tests.web.quick`` is the worker. It is not niced, which beside busy tests would leave it a tenth
of a processor, and it scores campaigns by a linear model of one penalty. The worker as it is belongs to
test_worker.py and test_jobs.py, the server as it is to tests/cli/test_server_commands.py.
"""

import sys

from cellworth.web import jobs, worker
from tests.campaign.linear_scoring import use_linear_model


def quicken(setting=setattr):
    """Let the job queues of this process start this worker, and renew summaries without a pause."""
    setting(jobs, "WORKER", "tests.web.quick")
    setting(jobs, "PAUSE", 0.2)


def main():
    """Serve, if there are words of a command; otherwise work."""
    if len(sys.argv) > 1:
        from cellworth.cli import main as command_line

        quicken()
        sys.exit(command_line())
    worker.NICENESS = 0
    use_linear_model()
    worker.main()


if __name__ == "__main__":
    main()
