"""Kernels in C: built where there is a compiler, and replaced by NumPy where there is none."""
