"""Formulas and tables of docstrings, as the documentation shows them."""

import importlib.util

import pytest

from tests.conftest import need
from tests.docs.pages import DOCS


@pytest.fixture(scope="module")
def hook():
    need(importlib.util.find_spec("markdown") is not None, "markdown: pip install cellworth[docs]")
    spec = importlib.util.spec_from_file_location("plain_maths", DOCS / "hooks" / "plain_maths.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("formula", "text"),
    [
        (r"\tfrac12\|\hat X\|_F^2 + \lambda_1\|\hat X\|_{tr}", "½ ‖X̂‖_F² + λ₁‖X̂‖_tr"),
        (r"\frac{1}{nd}", "1/(nd)"),
        (r"W^\top\hat x_i + b", "Wᵀx̂_i + b"),
        (r"\sqrt{r/\min(n, d)}", "√(r/min(n, d))"),
        (r"\mathrm{SVT}_\tau(A)", "SVT_τ(A)"),
        (
            r"\theta_{k+1} = (\sqrt{\theta_k^4 + 4\theta_k^2} - \theta_k^2)/2",
            "θ_(k+1) = (√(θ_k⁴ + 4θ_k²) - θ_k²)/2",
        ),
    ],
)
def test_formulas_read_as_text(hook, formula, text):
    assert hook.plain(formula) == text


def test_displays_become_code_and_tables_become_tables(hook):
    rule = "====  ===="
    page = [
        "See :math:`\\mu`.",
        "",
        ".. math:: a",
        "          + b",
        "",
        rule,
        "kind  cell",
        rule,
        "x     a b",
        rule,
    ]
    lines = hook.PlainMaths().run(page)
    assert "See `μ`." in lines
    assert lines[lines.index("```text") + 1] == "a + b"
    assert lines[-3:] == ["| kind | cell |", "| --- | --- |", "| x | a b |"]
