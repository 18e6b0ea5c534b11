"""Strategies: named trios of completer, scorer and selector, and the adviser that plays them."""

from cellworth.strategy.advice import Advice, Purchase, advise
from cellworth.strategy.adviser import Adviser
from cellworth.strategy.named import register_all
from cellworth.strategy.strategy import Strategy, get, names, register, unregister

__all__ = [
    "Advice",
    "Adviser",
    "Purchase",
    "Strategy",
    "advise",
    "get",
    "names",
    "register",
    "unregister",
]

register_all()
