"""Reproducible experiments, outside the package: completion, the paper's experiments, and buying cells."""
