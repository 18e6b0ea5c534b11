"""What buying cells gains: every strategy on the paper's tables and on tables with real prices.

``python -m studies.acquisition`` runs them and writes a page with tables and plots.
"""
