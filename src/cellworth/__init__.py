"""cellworth: which missing cells of a table are worth paying for?"""

__version__ = "0.1.0"
