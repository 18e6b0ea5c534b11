"""The linear model of the target that the label scorers look through, fitted on a round."""

from __future__ import annotations

from cellworth.complete.linear_model import LinearModel
from cellworth.score.round import Round


def fit_linear_model(round: Round) -> LinearModel:
    """Fit a model of the target on the completed table; see `LinearModel.fit`."""
    y = None if round.target is None else round.y
    return LinearModel.fit(round.completed, y, is_number=round.target == "number")
