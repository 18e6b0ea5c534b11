"""Strategies: named trios of completer, scorer and selector, and the one place where a batch is chosen."""

from cellworth.strategy.batch import Batch, Purchase
from cellworth.strategy.choosing import advise
from cellworth.strategy.registry import Strategy, get, names, register, register_built_in

__all__ = ["Batch", "Purchase", "Strategy", "advise", "get", "names", "register"]

register_built_in()
