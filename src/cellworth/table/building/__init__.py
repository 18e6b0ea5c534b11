"""Columns of cells to the parts of a table: holes, kinds, values, target, and the checks of each."""
