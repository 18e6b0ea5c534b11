"""The paper's completion experiment, with completers that it did not have.

``python -m studies.completion`` completes each of the six tables, at two shares of observed cells and with
several seeds, by each method. It writes a file of figures per seed, and from these alone a page and two
plots.
"""
