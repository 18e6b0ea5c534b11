"""A simulator that hides cells of a known table and plays strategies against the truth."""

from cellworth.simulation.plot import Curve, mean_curves, plot_curves
from cellworth.simulation.simulator import full_information, simulate

__all__ = ["Curve", "full_information", "mean_curves", "plot_curves", "simulate"]
