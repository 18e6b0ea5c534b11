"""scikit-learn's own checks of an estimator, all of them."""

import warnings

from sklearn.utils.estimator_checks import check_estimator

# scikit-learn skips this check by itself unless SCIPY_ARRAY_API is set before SciPy is imported; completers
# take NumPy arrays and data frames, not arrays of other libraries.
CANNOT_APPLY = {"check_array_api_input"}


def check_with_scikit_learn(completer):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        outcomes = check_estimator(completer, on_fail=None, on_skip=None)
    bad = [o for o in outcomes if o["status"] != "passed" and o["check_name"] not in CANNOT_APPLY]
    assert not bad, "\n".join(f"{o['check_name']}: {o['exception']!r}" for o in bad)
    assert len(outcomes) > 40
