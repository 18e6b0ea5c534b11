"""Strategies: a completer, a scorer and a selector under one name, and the code that chooses batches."""

from typing import TYPE_CHECKING

from cellworth.lazy_names import lazy_names
from cellworth.strategy.batch import Batch, Purchase
from cellworth.strategy.registry import Strategy, get, names, register

if TYPE_CHECKING:
    from cellworth.strategy.advising import advise

__all__ = ["Batch", "Purchase", "Strategy", "advise", "get", "names", "register"]

__getattr__, __dir__ = lazy_names(__name__, {"advising": ["advise"]})
