"""What buying cells brings: every strategy on the paper's tables and on tables with real prices.

``python -m studies.acquisition`` plays them and writes a page with tables and plots.
"""
