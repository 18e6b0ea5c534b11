"""Choose the model that judges the runs of a simulation: a function of the world, so the same for all."""

from __future__ import annotations

import hashlib

from cellworth.complete import GaussianCompleter
from cellworth.model import Candidate, choose_model
from cellworth.model.candidates import candidate_named
from cellworth.model.cross_validation import scorable
from cellworth.simulation.hidden_truth import World

FOLDS = 3
MOST_REMEMBERED = 100
_chosen: dict[bytes, Candidate] = {}


def judges(*, is_number: bool) -> list[Candidate]:
    """Return the models to choose from: a linear one and two of trees, all trained on the completion.

    Views of the holes themselves are left out: a judge should see what a strategy's completer makes of the
    purchases, and a model that is trained again in every round should be cheap.
    """
    linear = "ridge regression" if is_number else "logistic regression"
    return [candidate_named(name, is_number=is_number) for name in (linear, "extra trees", "boosted trees")]


def choose_judge(world: World, seed: int) -> Candidate:
    """Return the model that cross-validation on the training rows, as they are at the start, chooses.

    Holes are filled by ``GaussianCompleter(label_trust=0.0)``, whatever a strategy's completer is. With too
    few labels to choose on, it is the linear model.

    Notes
    -----
    Costs `FOLDS` fits of the completer and of each model; see `choose_model`. The choice is remembered, as
    strategies are played in the same worlds one after another.
    """
    mark = hashlib.sha256(repr((world.start.shape, world.target, world.layout, seed)).encode())
    mark.update(world.start.tobytes() + world.y.tobytes())
    if mark.digest() not in _chosen:
        if len(_chosen) >= MOST_REMEMBERED:
            _chosen.clear()
        _chosen[mark.digest()] = _choose(world, seed)
    return _chosen[mark.digest()]


def _choose(world: World, seed: int) -> Candidate:
    is_number = world.target == "number"
    models = judges(is_number=is_number)
    if not scorable(world.y, classes=not is_number):
        return models[0]
    return choose_model(
        world.start,
        world.y,
        is_number=is_number,
        completer=GaussianCompleter(label_trust=0.0),
        candidates=models,
        averages=False,
        folds=FOLDS,
        seed=seed,
        cell_of=world.layout.owner,
    ).candidate
