import numpy as np
import pytest

from cellworth.errors import ParameterError
from cellworth.score.block_scores import numbers_from, skip


def test_random_numbers_of_blocks_are_those_of_the_table():
    whole = np.random.default_rng(3).random((20, 3))
    generator = np.random.default_rng(3)
    parts = [numbers_from(generator, 3 * start, (5, 3)) for start in (0, 5, 10, 15)]
    assert (np.concatenate(parts) == whole).all()


def test_a_generator_that_cannot_jump_is_refused():
    with pytest.raises(ParameterError, match="PCG64 or Philox; got MT19937"):
        skip(np.random.Generator(np.random.MT19937(0)), 5)
