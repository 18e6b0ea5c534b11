"""Tables that cannot be completed are refused in the user's terms, and others are not."""

import numpy as np
import pandas as pd
import pytest

from cellworth import SupervisedCompleter
from cellworth.errors import DataError
from cellworth.testing.completer_contract import random_table


def test_bad_tables_are_refused_in_the_users_terms():
    X, y = random_table(np.random.default_rng(14))
    frame = pd.DataFrame(X, columns=list("abcdefg"))
    empty, infinite = frame.copy(), frame.copy()
    empty["c"] = np.nan
    infinite.loc[5, "e"] = -np.inf
    with pytest.raises(DataError, match="column 'c' has no observed value"):
        SupervisedCompleter().fit(empty, y)
    with pytest.raises(DataError, match="infinity: column 'e', row 5"):
        SupervisedCompleter().fit(infinite, y)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        SupervisedCompleter().fit(frame, y[:-1])


def test_a_large_infinity_free_table_is_not_mistaken():
    X, y = random_table(np.random.default_rng(15))
    SupervisedCompleter().fit(X * 1e300, y)
