"""What a campaign has found out about itself comes back from its store."""

import numpy as np
import pytest

from cellworth.campaign.assessment.assessment_cache import MOST_CURVES, MOST_POINTS, AssessmentCache
from cellworth.campaign.cache import pack_cache
from cellworth.errors import UnusableCacheError
from cellworth.model.cross_validation import Score
from tests.forecasting.outlooks import outlook as made_up

SCORE = Score(0.8, np.array([0.5, -0.5]), 3, 0.01)


def test_what_is_packed_comes_back():
    cache, outlook = AssessmentCache(), made_up()
    cache.models["0, 0"] = "extra trees"
    cache.points("a")[7] = SCORE
    cache.keep_outlook(outlook, 7)
    found = AssessmentCache.unpack(cache.pack())
    assert found.models == cache.models
    score = found.points("a")[7]
    assert (score.value, score.pairs, score.method_error) == (0.8, 3, 0.01)
    assert np.array_equal(score.influence, SCORE.influence)
    cache.keep_known("7, extra trees, 0", outlook)
    known = AssessmentCache.unpack(cache.pack()).outlooks["7, extra trees, 0"]
    assert known.to_json() == cache.outlooks["7, extra trees, 0"].to_json()
    last = found.last_outlook(7)
    assert last.now.value == pytest.approx(outlook.now.value, abs=1e-6)
    assert (last.model, last.cost) == (outlook.model, outlook.cost)
    assert AssessmentCache.unpack(AssessmentCache().pack()).last_outlook(9) is None


def test_only_what_is_needed_is_kept():
    cache = AssessmentCache()
    for number in range(2 * MOST_POINTS):
        cache.points("a")[number] = SCORE
    assert list(cache.points("a")) == list(range(MOST_POINTS, 2 * MOST_POINTS))
    for key in range(MOST_CURVES):
        cache.points(str(key))
    assert cache.points("a") == {}


def test_a_forecast_of_a_later_state_is_not_that_of_a_replay():
    cache, outlook = AssessmentCache(), made_up()
    cache.keep_outlook(outlook, 7)
    assert cache.last_outlook(6) is None
    cache.keep_outlook(made_up(), 5)
    cache.keep_outlook(None, 9)
    assert cache.last_outlook(9) is outlook


@pytest.mark.parametrize(
    "content",
    [{}, {"models": {}, "curves": [{}], "outlook": None}, {"models": 3, "curves": [], "outlook": None}],
)
def test_a_damaged_cache_is_not_used(content):
    with pytest.raises(UnusableCacheError):
        AssessmentCache.unpack(pack_cache(content))
