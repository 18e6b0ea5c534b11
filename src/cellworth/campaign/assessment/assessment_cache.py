"""What a campaign has found out about itself, kept so that nothing is computed twice."""

from __future__ import annotations

from typing import Any

import numpy as np

from cellworth.campaign.cache import pack_cache, unpack_cache
from cellworth.errors import UnusableCacheError
from cellworth.forecasting.curve_by_share import RisingCurve
from cellworth.forecasting.outlook import Outlook
from cellworth.model.cross_validation import Score

MOST_CURVES = 3
"""Curves that differ in model, rows or folds, and forecasts of a table; older ones are dropped."""
MOST_POINTS = 40
"""Of each curve."""


class AssessmentCache:
    """The model in use by event number, the scores of learning curves, and the last forecast.

    Everything in it follows from the log; it only saves time. It can be shared by views of one campaign at
    different events.

    Attributes
    ----------
    models : dict
        The name of the chosen model, by "event number, seed".
    outlooks : dict
        Forecasts from known cells alone, by "table number, model, seed"; None if there can be none.
    """

    def __init__(self) -> None:
        self.models: dict[str, str] = {}
        self._outlook: tuple[int, Outlook] | None = None
        self.outlooks: dict[str, Outlook | None] = {}
        self._curves: dict[str, dict[int, Score]] = {}

    def points(self, key: str) -> dict[int, Score]:
        """Return the scores of a curve by event number, to be read and added to."""
        found = self._curves.pop(key, {})
        while len(found) > MOST_POINTS:
            del found[next(iter(found))]
        self._curves[key] = found
        while len(self._curves) > MOST_CURVES:
            del self._curves[next(iter(self._curves))]
        return found

    def keep_known(self, key: str, outlook: Outlook | None) -> None:
        """Keep the forecast from known cells, rounded as it is stored, and drop those of earlier tables."""
        table = key.partition(",")[0]
        same = {each: kept for each, kept in self.outlooks.items() if each.partition(",")[0] == table}
        same[key] = None if outlook is None else _outlook_from(_plain_outlook(outlook))
        self.outlooks = dict(list(same.items())[-MOST_CURVES:])

    def keep_outlook(self, outlook: Outlook | None, number: int) -> None:
        """Keep a forecast of the state after an event, unless there is one of a later state."""
        if outlook is not None and (self._outlook is None or self._outlook[0] <= number):
            self._outlook = number, outlook

    def last_outlook(self, number: int) -> Outlook | None:
        """Return the last forecast of the state after an event or before it; None if there is none."""
        return self._outlook[1] if self._outlook is not None and self._outlook[0] <= number else None

    def pack(self) -> bytes:
        """Return it as bytes; see `cellworth.campaign.cache`."""
        curves = [
            {"key": key, "numbers": list(points), "scores": [_plain_score(each) for each in points.values()]}
            for key, points in self._curves.items()
        ]
        outlook = None if self._outlook is None else [self._outlook[0], _plain_outlook(self._outlook[1])]
        known = {key: None if each is None else _plain_outlook(each) for key, each in self.outlooks.items()}
        return pack_cache({"models": self.models, "curves": curves, "outlook": outlook, "known": known})

    @classmethod
    def unpack(cls, blob: bytes) -> AssessmentCache:
        """Undo `pack`; UnusableCacheError if that is not possible."""
        content, found = unpack_cache(blob), cls()
        try:
            found.models = {str(number): str(name) for number, name in content["models"].items()}
            for curve in content["curves"]:
                scores = [Score(**each) for each in curve["scores"]]
                found._curves[str(curve["key"])] = dict(zip(curve["numbers"], scores, strict=True))
            if content["outlook"] is not None:
                number, plain = content["outlook"]
                found._outlook = int(number), _outlook_from(plain)
            for key, plain in content.get("known", {}).items():  # not in caches of older versions
                found.outlooks[key] = None if plain is None else _outlook_from(plain)
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise UnusableCacheError(f"it is damaged: {type(error).__name__}") from error
        return found


def _plain_score(score: Score) -> dict[str, Any]:
    return {name: getattr(score, name) for name in ("value", "influence", "pairs", "method_error")}


def _plain_outlook(outlook: Outlook) -> dict[str, Any]:
    curve = {"shares": outlook.curve.shares, "draws": outlook.curve.draws.astype(np.float32)}
    return {**vars(outlook), "curve": curve}


def _outlook_from(plain: dict[str, Any]) -> Outlook:
    curve = RisingCurve(plain["curve"]["shares"], plain["curve"]["draws"].astype(np.float64))
    return Outlook(**{**plain, "curve": curve})
