import numpy as np

from cellworth.simulation.hidden_truth import make_world


def test_a_world_hides_the_share_it_should_and_reveals_the_truth(tumours):
    world = make_world(tumours, observed=0.3, train=0.7, seed=0)
    n = world.hidden.size
    assert abs(world.hidden.mean() - 0.7) < 5 * np.sqrt(0.3 * 0.7 / n)
    assert len(world.rows) == 140
    cells = np.argwhere(world.hidden)[:7]
    X = world.reveal(world.start, cells)
    assert np.isnan(world.start).sum() - np.isnan(X).sum() == 7
    np.testing.assert_array_equal(X[cells[:, 0], cells[:, 1]], world.truth[cells[:, 0], cells[:, 1]])
    whole = tumours.encode().X
    np.testing.assert_array_equal(world.truth, whole[world.rows])  # in the user's units
    np.testing.assert_allclose(world.scaled(whole).min(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(world.scaled(whole).max(axis=0), 1)


def test_every_column_keeps_a_value_even_when_nearly_all_is_hidden(tumours):
    world = make_world(tumours, observed=0.001, train=0.7, seed=0)
    assert (~np.isnan(world.start)).any(axis=0).all()
