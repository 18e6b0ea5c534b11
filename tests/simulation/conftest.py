import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.svm import LinearSVC

from cellworth import Table, simulate


@pytest.fixture(scope="package")
def tumours():
    X, y = load_breast_cancer(return_X_y=True)
    return Table.from_arrays(X[:200, :6], y[:200])


@pytest.fixture(scope="package")
def curves(tumours):
    return simulate(
        tumours,
        ["random", "recommended"],
        budget_per_round=60,
        rounds=4,
        observed=0.3,
        classifier=LinearSVC(random_state=0),
        seed=[0, 1],
    )
