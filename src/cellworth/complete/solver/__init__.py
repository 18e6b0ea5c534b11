"""Numerical kernels, which work on arrays only. The paper's notation is used only here."""
