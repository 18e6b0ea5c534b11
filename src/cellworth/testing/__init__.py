"""Contracts that every part of its kind must keep, for our own parts and for yours.

Each check raises AssertionError with the broken promise in words; it needs no test framework.
"""

from cellworth.testing.completer_contract import check_completer
from cellworth.testing.scorer_contract import check_scorer
from cellworth.testing.selector_contract import check_selector
from cellworth.testing.store_contract import check_store

__all__ = ["check_completer", "check_scorer", "check_selector", "check_store"]
