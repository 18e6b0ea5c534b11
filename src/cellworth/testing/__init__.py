"""Contracts for completers, scorers, selectors, stores and policies, both ours and yours.

Each check raises AssertionError with a message that states the broken promise; no test framework is needed.
"""

from cellworth.testing.completer_contract import check_completer
from cellworth.testing.policy_contract import check_policy
from cellworth.testing.scorer_contract import check_scorer
from cellworth.testing.selector_contract import check_selector
from cellworth.testing.store_contract import check_store

__all__ = ["check_completer", "check_policy", "check_scorer", "check_selector", "check_store"]
