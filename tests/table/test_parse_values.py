"""Texts as the numbers that stand for them."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from .tables import read


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=20))
def test_numbers_are_read_as_python_reads_them(tmp_path_factory, numbers):
    text = "a\n" + "".join(f"{number!r}\n" for number in numbers)
    table = read(tmp_path_factory.mktemp("n"), text)
    assert table.values[:, 0].tobytes() == np.array(numbers).tobytes()
