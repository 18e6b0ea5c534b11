"""The kinds of tables that are read block by block."""
