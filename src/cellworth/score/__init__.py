"""Scorers, which estimate what the holes of a table are worth."""

from typing import TYPE_CHECKING

from cellworth.lazy_names import lazy_names

if TYPE_CHECKING:
    from cellworth.score.posterior_scores import PosteriorImpact, PosteriorVariance
    from cellworth.score.random_scorer import Random
    from cellworth.score.scorer import Round
    from cellworth.score.training_gain import TrainingGain
    from cellworth.score.variance import Variance

__all__ = [
    "PosteriorImpact",
    "PosteriorVariance",
    "Random",
    "Round",
    "TrainingGain",
    "Variance",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "posterior_scores": ["PosteriorImpact", "PosteriorVariance"],
        "random_scorer": ["Random"],
        "scorer": ["Round"],
        "training_gain": ["TrainingGain"],
        "variance": ["Variance"],
    },
)
