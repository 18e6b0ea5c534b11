"""The built-in strategies: made when they are first used, under the names that are registered."""

import pytest

from cellworth import strategy
from cellworth.strategy.built_in import make
from cellworth.strategy.registry import BUILT_IN


@pytest.mark.parametrize("name", BUILT_IN)
def test_each_registered_name_is_made(name):
    made = make(name)
    assert made.name == name
    assert made.summary
    assert type(strategy.get(name).scorer) is type(made.scorer)
    assert strategy.get(name) is strategy.get(name)


def test_no_other_is_made():
    with pytest.raises(KeyError):
        make("another")
