"""Scorers, which estimate what the holes of a table are worth."""

from cellworth.score.committee_scorers import CommitteeStability, QueryByCommittee
from cellworth.score.expected_utility import ExpectedUtility
from cellworth.score.posterior_scores import PosteriorImpact, PosteriorVariance
from cellworth.score.random_scorer import Random
from cellworth.score.scorer import Round, Scorer
from cellworth.score.training_gain import TrainingGain
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
    "TrainingGain",
    "Variance",
]
