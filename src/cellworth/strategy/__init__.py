"""Strategies: a completer, a scorer and a selector under one name, and the code that chooses batches."""

from cellworth.strategy.automatic import make_automatic
from cellworth.strategy.batch import Batch, Purchase
from cellworth.strategy.choosing import advise
from cellworth.strategy.registry import Strategy, get, names, register, register_built_in

__all__ = ["Batch", "Purchase", "Strategy", "advise", "get", "names", "register"]

register_built_in()
register(make_automatic())
