"""The paper's completion experiment, with additional completers.

``python -m studies.completion`` completes each of the six tables with each method, at two shares of observed
cells and with several seeds. It writes files with all results per seed, and from these a page and two plots.
"""
