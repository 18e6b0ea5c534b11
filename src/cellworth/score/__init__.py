"""Scorers: each says what the holes of a table are worth."""

from cellworth.score.committee import CommitteeStability, QueryByCommittee
from cellworth.score.expected_utility import ExpectedUtility
from cellworth.score.posterior import PosteriorImpact, PosteriorVariance
from cellworth.score.round import LabelKind, Memoryless, Random, Round, Scorer, State
from cellworth.score.variance import Variance

__all__ = [
    "CommitteeStability",
    "ExpectedUtility",
    "LabelKind",
    "Memoryless",
    "PosteriorImpact",
    "PosteriorVariance",
    "QueryByCommittee",
    "Random",
    "Round",
    "Scorer",
    "State",
    "Variance",
]
