"""Contracts that every part of its kind must keep, for our own parts and for yours.

Each check raises AssertionError with the broken promise in words; it needs no test framework.
"""

from cellworth.testing.completer import check_completer
from cellworth.testing.loss import check_loss

__all__ = ["check_completer", "check_loss"]
