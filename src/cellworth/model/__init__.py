"""Models from tables with holes: chosen on the user's own rows, with two honest scores."""

from typing import TYPE_CHECKING

from cellworth.lazy_names import lazy_names

if TYPE_CHECKING:
    from cellworth.model.candidates import Candidate, default_models
    from cellworth.model.completing_models import CompletingClassifier, CompletingRegressor, model_of
    from cellworth.model.fitted_model import FittedModel, fit_candidate
    from cellworth.model.model_search import ChosenModel, choose_model

__all__ = [
    "Candidate",
    "ChosenModel",
    "CompletingClassifier",
    "CompletingRegressor",
    "FittedModel",
    "choose_model",
    "default_models",
    "fit_candidate",
    "model_of",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "candidates": ["Candidate", "default_models"],
        "completing_models": ["CompletingClassifier", "CompletingRegressor", "model_of"],
        "fitted_model": ["FittedModel", "fit_candidate"],
        "model_search": ["ChosenModel", "choose_model"],
    },
)
