"""Scorers, which estimate what the holes of a table are worth."""

from cellworth.score.posterior_scores import PosteriorImpact, PosteriorVariance
from cellworth.score.random_scorer import Random
from cellworth.score.scorer import Round, Scorer
from cellworth.score.training_gain import TrainingGain
from cellworth.score.variance import Variance

__all__ = [
    "PosteriorImpact",
    "PosteriorVariance",
    "Random",
    "Round",
    "Scorer",
    "TrainingGain",
    "Variance",
]
