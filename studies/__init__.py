"""Reproducible experiments, outside the package: completion, the paper run again, and what buying brings."""
