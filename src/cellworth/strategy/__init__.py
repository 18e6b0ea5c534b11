"""Strategies: named trios of completer, scorer and selector, and the one place where a batch is chosen."""

from cellworth.strategy.adviser import Adviser, ScoredRound, advise, choose
from cellworth.strategy.batch import Batch, Purchase
from cellworth.strategy.block_batch import choose_from_blocks
from cellworth.strategy.registry import Strategy, get, names, register, register_built_in, unregister

__all__ = [
    "Adviser",
    "Batch",
    "Purchase",
    "ScoredRound",
    "Strategy",
    "advise",
    "choose",
    "choose_from_blocks",
    "get",
    "names",
    "register",
    "unregister",
]

register_built_in()
