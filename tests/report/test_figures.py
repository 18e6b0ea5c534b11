"""The map of the report, against plain loops."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cellworth.campaign.assessment.status import CurvePoint, Status, Totals
from cellworth.forecasting.curve_by_money import Forecast, Projection
from cellworth.model.cross_validation import Estimate
from cellworth.report.figures import draw_cell_map, draw_learning_curve, mosaic, shades
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
    shade = shades(cells.known, cells.bought, cells.refused, np.full(cells.known.shape, 0.25))
    assert (shade[cells.known] == 0).all()
    assert (shade[cells.bought] == 1).all()
    assert (shade[cells.refused] == 4).all()
    assert (shade[cells.available] == 2.25).all()


def test_no_band_leaves_the_range_of_the_score():
    pytest.importorskip("matplotlib")
    points = [
        CurvePoint(k, k, 10.0 * k, k, Estimate(0.98, 0.9, 0.999), Estimate(0.0, -1.2, 0.4)) for k in range(3)
    ]
    end = np.array([0.0, 0.3])
    ahead = Forecast("expected", 20.0, Estimate(0.01, 0.0, 0.3), Projection(end * 60, end / 30, end * 0, end))
    totals = dict.fromkeys((field.name for field in dataclasses.fields(Totals)), 1)
    status = Status(
        **(totals | {"budget": None}),
        name="s",
        metric="AUC",
        note="",
        history=tuple(points),
        forecast=ahead,
    )
    (axis,) = draw_learning_curve(status).axes
    for band in axis.collections:
        heights = band.get_paths()[0].vertices[:, 1]
        assert heights.min() >= 0
        assert heights.max() <= 1
    assert axis.get_ylim()[1] <= 1.02


@pytest.mark.parametrize(("names", "turned"), [(["a", "age"], 0.0), (["a column", "another one"] * 5, 60.0)])
def test_short_names_of_columns_are_not_turned(names, turned):
    pytest.importorskip("matplotlib")
    figure = draw_cell_map(np.ones((3, len(names))), names, 3)
    assert {label.get_rotation() for label in figure.axes[0].get_xticklabels()} == {turned}
