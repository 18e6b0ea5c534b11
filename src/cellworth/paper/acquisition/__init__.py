"""What buying cells brings: every strategy on the paper's tables and on tables with real prices."""
