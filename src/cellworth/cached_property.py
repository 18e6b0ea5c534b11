"""`cached_property` without a lock, as that of Python 3.12 and later.

That of Python 3.11 holds a lock while it computes, one for all instances. An interrupt between taking it and
the block that gives it back leaves it taken for good, and every other thread that asks for the property waits
for ever. Without a lock, two threads may compute a value twice; one of the two is kept.
"""

from __future__ import annotations

import functools
from typing import Any, TypeVar

T = TypeVar("T")
_MISSING: Any = object()


class cached_property(functools.cached_property[T]):  # noqa: N801 (it is used like a function)
    """A property that is computed once for each instance.

    Examples
    --------
    >>> class Table:
    ...     @cached_property
    ...     def size(self):
    ...         print("counting")
    ...         return 3
    >>> table = Table()
    >>> table.size + table.size
    counting
    6
    """

    def __get__(self, instance: Any, owner: type[Any] | None = None) -> Any:
        """Return the value, computed now if it is not there."""
        if instance is None:
            return self
        found = instance.__dict__.get(self.attrname, _MISSING)
        if found is _MISSING:
            found = instance.__dict__[self.attrname] = self.func(instance)
        return found
