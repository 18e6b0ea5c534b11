"""Forecasts for the tests, from made-up scores."""

import numpy as np

from cellworth.forecasting.curve_by_share import RisingCurve, rising_curve
from cellworth.forecasting.outlook import Outlook


def outlook(score=0.85, known=0.2, cost=1000.0):
    """A forecast from a score at a share of the cells."""
    one = np.array([score])
    curve = rising_curve(np.array([known]), one, one, np.zeros((1, 1)), now=known)
    return Outlook("AUC", "extra trees", known, 1.0, cost, curve)


def certain(now, then, known=0.5, cost=100.0):
    """A forecast without doubt: a straight line from one score to another."""
    shares = np.linspace(known, 1.0, 51)
    line = now + (then - now) * (shares - known) / (1 - known)
    return Outlook("AUC", "extra trees", known, 1.0, cost, RisingCurve(shares, np.tile(line, (20, 1))))
