"""Scorers: each says what the holes of a table are worth."""

from cellworth.score.block_scores import BlockScorer, BlockScores
from cellworth.score.chance import Random
from cellworth.score.committee import CommitteeStability, QueryByCommittee
from cellworth.score.expected_utility import ExpectedUtility
from cellworth.score.posterior import PosteriorImpact, PosteriorVariance
from cellworth.score.round import Memoryless, Round, Scorer, State
from cellworth.score.variance import Variance

__all__ = [
    "BlockScorer",
    "BlockScores",
    "CommitteeStability",
    "ExpectedUtility",
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
