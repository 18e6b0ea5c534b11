"""Files, frames and arrays to columns of cells: what is there, not yet what it means."""
