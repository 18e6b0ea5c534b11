"""The kernels of every level that this processor has; other modules test the highest one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cellworth.complete import extra_trees, scaling
from cellworth.complete.compiled import library
from cellworth.complete.compiled.build import HERE, library_name
from cellworth.complete.compiled.library import LEVELS, Kernels, kernels
from cellworth.complete.gaussian import pattern_systems, streamed_step
from cellworth.complete.solver import factors, fused_step, labelled_rows, sampled_start
from cellworth.complete.solver.losses import SquaredLoss
from tests.complete import test_extra_trees, test_scaling
from tests.complete.gaussian import test_pattern_systems_compiled, test_streamed_step
from tests.complete.solver import test_factors, test_fused_step, test_labelled_rows, test_sampled_start
from tests.complete.solver.problems import LOSSES, make_rows, random_model

USERS = (
    extra_trees,
    pattern_systems,
    streamed_step,
    fused_step,
    labelled_rows,
    sampled_start,
    factors,
    scaling,
)
COLUMNS = [1, 3, 4, 7, 8, 9, 15, 16, 17, 20, 23, 24, 25, 33, 49, 100, 130, 257]  # around vectors and tiles

pytestmark = pytest.mark.usefixtures("compiled")


@pytest.fixture(params=LEVELS)
def level(request, monkeypatch):
    """Let every caller use the kernels of one level, if the processor has it."""
    if request.param > kernels().level:
        pytest.skip("another processor has this level")
    of_level = Kernels(HERE / library_name(), request.param)
    for module in USERS:
        monkeypatch.setattr(module, "kernels", lambda: of_level)
    return of_level


def test_the_level_is_the_highest_that_there_is(level):
    assert level.level <= library.kernels().level
    assert Kernels(HERE / library_name()).level == library.kernels().level


@pytest.mark.parametrize(
    "test",
    [
        test_fused_step.test_the_compiled_passes_are_those_in_numpy,
        test_fused_step.test_rows_formed_on_the_way_are_those_in_numpy,
        test_scaling.test_the_compiled_passes_are_those_in_numpy,
        test_factors.test_rows_are_solved_as_one_by_one,
        test_fused_step.test_single_precision_is_as_close_as_it_can_be,
        test_fused_step.test_any_number_of_threads_gives_the_same_bits,
        test_streamed_step.test_sums_equal_one_row_at_a_time,
        test_streamed_step.test_columns_as_arrow_keeps_them_are_the_same_rows,
        test_streamed_step.test_an_offset_that_is_large_beside_its_column_costs_no_digits,
        test_streamed_step.test_determinants_far_beyond_a_number,
        test_streamed_step.test_one_of_many_systems_that_is_not_positive_definite_is_noticed,
        test_streamed_step.test_a_matrix_that_is_not_positive_definite_is_noticed,
        test_pattern_systems_compiled.test_systems_equal_one_row_at_a_time,
        test_pattern_systems_compiled.test_diagonals_are_those_of_numpy,
        test_sampled_start.test_the_compiled_solution_is_that_in_numpy,
    ],
    ids=lambda test: test.__name__,
)
def test_what_holds_for_the_highest_level(level, test):
    test()


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_rows_of_several_chunks(level, dtype):
    test_streamed_step.test_rows_of_several_chunks_and_the_same_patterns(dtype)


@pytest.mark.parametrize("size", [1 / 999, 999.0])
def test_determinants_in_single_precision(level, size):
    test_streamed_step.test_determinants_in_single_precision(8, size)


@pytest.mark.parametrize(("loss", "n_outputs"), LOSSES)
def test_rows_with_labels(level, loss, n_outputs):
    test_labelled_rows.test_the_sums_are_those_of_rows_solved_one_by_one(
        loss, n_outputs, 0.1, 0.6, np.float32
    )


@pytest.mark.parametrize("shape", [(360, 17), (100, 60), (100, 150)])
def test_the_same_trees(level, shape, monkeypatch):
    monkeypatch.setattr(test_extra_trees, "kernels", lambda: level)
    test_extra_trees.test_compiled_and_numpy_grow_the_same_trees(shape, {}, "smooth", monkeypatch)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_products_of_a_few_rows_and_any_number_of_columns(level, dtype):
    @given(d=st.sampled_from(COLUMNS), n=st.integers(1, 40), seed=st.integers(0, 2**32 - 1))
    @settings(max_examples=80, deadline=None)
    def holds(d, n, seed):
        rng, unit = np.random.default_rng(seed), np.finfo(dtype).eps
        rows = make_rows(n, d, SquaredLoss(), 1, rng, labelled=0.5)
        rows = type(rows)(rows.values.astype(dtype), rows.observed, rows.targets.astype(dtype), wide=False)
        model = random_model(SquaredLoss(), d, 1, 0.1, rng)
        X, A, point = rng.normal(size=(3, n, d)).astype(dtype)
        P = rng.normal(size=(d, d)).astype(dtype)
        gram = fused_step.start(X, point, 1.3, rows, model).gram
        new = A.copy()
        fused_step.land(X, new, P, rows, model)
        # A sum of k products is within k roundings of each.
        exact, sizes = A.astype(np.float64) @ P, np.abs(A.astype(np.float64)) @ np.abs(P)
        assert (np.abs(new - exact) <= d * unit * sizes).all()
        exact, sizes = point.astype(np.float64).T @ point, np.abs(point.astype(np.float64)).T @ np.abs(point)
        assert (np.abs(gram - exact) <= 2 * n * unit * sizes).all()  # our sum and the oracle's
        assert (gram == gram.T).all()

    holds()
