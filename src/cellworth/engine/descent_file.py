"""Where the iterations of a completer stand, as named arrays: no pickles, so that reading runs no code."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cellworth.complete.gaussian.climb import Ascent
from cellworth.complete.solver import losses
from cellworth.complete.solver.apg import Descent, Momentum
from cellworth.complete.solver.model import Model
from cellworth.complete.solver.monitor import Callback, Monitor
from cellworth.complete.solver.step import StepSums
from cellworth.complete.solver.svt import Shrinkage

Arrays = dict[str, NDArray[Any]]

_MONITOR = ("tol", "max_iter", "scale", "slack", "aim", "stationarity", "stationarity_before", "n_iter")
_DESCENT = ("lipschitz", "objective", "beta", "sampled", "landing")


def save_descent(descent: Descent) -> Arrays:
    """Return all that `load_descent` needs."""
    arrays: dict[str, Any] = {f"sums.{k}": v for k, v in descent.sums._asdict().items()}
    arrays |= {f"shrunk.{k}": v for k, v in descent.shrunk._asdict().items()}
    for name in ("model", "ahead"):
        model: Model = getattr(descent, name)
        arrays |= {f"{name}.coef": model.coef, f"{name}.intercept": model.intercept}
    arrays |= {
        "loss": type(descent.model.loss).__name__,
        "weights": [descent.model.weight, descent.model.ridge],
        "monitor": [float(getattr(descent.monitor, name)) for name in _MONITOR],
        "record": descent.monitor.objective,
        "descent": [float(getattr(descent, name)) for name in _DESCENT],
        "theta": descent.momentum.theta,
    }
    return {name: np.asarray(value) for name, value in arrays.items()}


def load_descent(arrays: Arrays, callback: Callback | None) -> Descent:
    """Return the descent of arrays that `save_descent` made."""
    sums = StepSums(*(_plain(arrays[f"sums.{name}"]) for name in StepSums._fields))
    shrunk = Shrinkage(*(arrays[f"shrunk.{name}"] for name in Shrinkage._fields))
    loss = getattr(losses, str(arrays["loss"]))()
    weight, ridge = arrays["weights"].tolist()
    model, ahead = (
        Model(loss, weight, ridge, arrays[f"{name}.coef"], arrays[f"{name}.intercept"])
        for name in ("model", "ahead")
    )
    of_monitor = dict(zip(_MONITOR, arrays["monitor"].tolist(), strict=True))
    counts = {name: int(of_monitor[name]) for name in ("max_iter", "n_iter")}
    record = arrays["record"].tolist()
    monitor = Monitor(callback=callback, objective=record, **(of_monitor | counts))
    lipschitz, objective, beta, sampled, landing = arrays["descent"].tolist()
    momentum = Momentum(float(arrays["theta"]))
    standing = lipschitz, sums, shrunk, objective, beta, sampled, bool(landing), momentum
    return Descent(monitor, model, ahead, *standing)


def save_ascent(ascent: Ascent[Any]) -> Arrays:
    """Return all that `load_ascent` needs."""
    size = (0, len(ascent.vector))
    steps = list(zip(*ascent.history, strict=True)) or [(), ()]
    return {
        "vector": ascent.vector,
        "safe": ascent.safe,
        "found": ascent.found,
        "from": np.array(steps[0]).reshape(size if not ascent.history else (-1, size[1])),
        "to": np.array(steps[1]).reshape(size if not ascent.history else (-1, size[1])),
        "trace": np.array(ascent.trace),
        "best": np.array([ascent.best, ascent.best_plain]),
        "flags": np.array([ascent.at_safe, ascent.converged, ascent.stopped]),
    }


def load_ascent(arrays: Arrays, kind: Any) -> Ascent[Any]:
    """Return the ascent of arrays that `save_ascent` made; ``kind`` is a model of its kind and size."""
    best, best_plain = arrays["best"].tolist()
    at_safe, converged, _ = arrays["flags"].tolist()
    history = list(zip(arrays["from"], arrays["to"], strict=True))
    found = arrays["found"]
    return Ascent(
        kind,
        arrays["vector"],
        arrays["safe"],
        found,
        kind.from_vector(found),
        at_safe,
        best,
        best_plain,
        history,
        arrays["trace"].tolist(),
        converged,
    )


def _plain(value: NDArray[Any]) -> Any:
    return float(value) if value.ndim == 0 else value
