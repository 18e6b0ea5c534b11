"""Sparse tables over row blocks."""
