"""cellworth: which missing cells of a table are worth paying for?"""

from cellworth.complete import SupervisedCompleter

__all__ = ["SupervisedCompleter"]
__version__ = "0.1.0"
