"""Scorers: each says what the holes of a table are worth."""

from cellworth.score.chance import Random
from cellworth.score.committee import CommitteeStability, QueryByCommittee
from cellworth.score.expected_utility import ExpectedUtility
from cellworth.score.posterior_scores import PosteriorImpact, PosteriorVariance
from cellworth.score.round import Round, Scorer
from cellworth.score.variance import Variance

__all__ = [
    "CommitteeStability",
    "ExpectedUtility",
    "PosteriorImpact",
    "PosteriorVariance",
    "QueryByCommittee",
    "Random",
    "Round",
    "Scorer",
    "Variance",
]
