"""What scorers share that look at one round only."""

from __future__ import annotations

from cellworth.score.round import State


class Memoryless:
    """A scorer's state where it remembers nothing: ``{}``."""

    def state(self) -> State:
        """Return ``{}``: nothing is remembered."""
        return {}

    def restore(self, state: State) -> None:
        """Do nothing: nothing is remembered."""
