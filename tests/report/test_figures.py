"""The map of the report, against plain loops."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from cellworth.report.figures import mosaic, shades
from cellworth.report.summaries import inputs_of


@given(st.integers(1, 40), st.integers(1, 5), st.integers(1, 9), st.integers(0, 1000))
@settings(max_examples=40)
def test_the_map_shows_each_cell_in_proportion(n, p, band, seed):
    code = np.random.default_rng(seed).choice([0.0, 1.0, 2.5, 4.0], size=(n, p))
    image = mosaic(code, band)
    assert len(image) == -(-n // band)
    width = image.shape[1] // p
    for line, start in enumerate(range(0, n, band)):
        for j in range(p):
            cells = code[start : start + band, j]
            shown = image[line, j * width : (j + 1) * width]
            assert (np.diff(shown) >= 0).all()
            for value in (0.0, 1.0, 2.5, 4.0):
                share = (cells == value).mean()
                assert abs((shown == value).mean() - share) <= 1 / width + 1e-12 or band == 1
            assert band > 1 or set(shown) == set(cells)


def test_shades_tell_the_four_states_apart(campaign):
    cells = inputs_of(campaign).cells
    shade = shades(cells, np.full(cells.known.shape, 0.25))
    assert (shade[cells.known] == 0).all()
    assert (shade[cells.bought] == 1).all()
    assert (shade[cells.refused] == 4).all()
    assert (shade[cells.available] == 2.25).all()
