"""Run it with ``python -m tests.soak --minutes 60``; see `tests.soak.driver`."""

from tests.soak.driver import main

if __name__ == "__main__":
    main()
