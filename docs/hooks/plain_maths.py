r"""Show the formulas of docstrings as plain text, so that pages need no script from another host.

Docstrings are numpydoc: ``:math:`\hat X``` and ``.. math::`` become code with Unicode signs, and the simple
tables of reStructuredText become Markdown tables.
"""

import re
from typing import Any

from markdown import Markdown
from markdown.extensions import Extension
from markdown.preprocessors import Preprocessor

# ruff: noqa: RUF001 (signs that look like letters are the point)
SIGNS = {
    "beta": "β", "epsilon": "ε", "varepsilon": "ε", "kappa": "κ", "lambda": "λ", "mu": "μ", "omega": "ω",
    "psi": "ψ", "rho": "ρ", "sigma": "σ", "tau": "τ", "theta": "θ", "Lambda": "Λ", "Omega": "Ω", "Phi": "Φ",
    "Psi": "Ψ", "Sigma": "Σ", "approx": "≈", "cdot": "·", "circ": "∘", "ell": "ℓ", "ge": "≥", "in": "∈",
    "infty": "∞", "langle": "⟨", "le": "≤", "nabla": "∇", "quad": "  ", "qquad": "   ", "rangle": "⟩",
    "sim": "~", "sum": "Σ", "times": "×", "top": "ᵀ", "|": "‖", ",": " ", ";": " ", " ": " ",
}  # fmt: skip
UPPER = str.maketrans("0123456789-+", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺")
LOWER = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
GROUP = r"\{((?:[^{}]|\{[^{}]*\})*)\}"
HALVES = {("1", "2"): "½"}


def plain(formula: str) -> str:
    r"""Return a formula of LaTeX as a line of text.

    >>> plain(r"\tfrac12\|\hat X\|_F^2 + \lambda_1")
    '½ ‖X̂‖_F² + λ₁'
    """
    text = " ".join(formula.split())
    text = re.sub(r"\\(?:bigl|bigr|left|right|Bigl|Bigr)(?![a-z])", "", text)
    text = re.sub(r"\^\{?\\top(?![a-z])\}?", "ᵀ", text)
    text = re.sub(r"\\text\s*" + GROUP, r" \1 ", text)
    text = re.sub(r"\\(?:mathrm|operatorname)\s*" + GROUP, r"\1 ", text)
    text = re.sub(r"\\[td]?frac\s*(\d|\\[a-z]+)\s*(\d)", lambda found: _fraction(found[1], found[2]), text)
    before = None
    while before != text:  # from the inside out
        before = text
        text = re.sub(r"\\[td]?frac\s*" + GROUP + GROUP, lambda found: _fraction(found[1], found[2]), text)
        text = re.sub(r"\\sqrt\s*" + GROUP, lambda found: f"√({found[1]})", text)
        text = re.sub(r"\\hat\s*(?:" + GROUP + r"|(\w))", lambda found: f"{found[1] or found[2]}\u0302", text)
    text = re.sub(r"\\([a-zA-Z]+|[|,; {}])", _sign, text)
    text = re.sub(r"\^(?:(-?\d)|\{([-+]?\d+)\})", lambda found: (found[1] or found[2]).translate(UPPER), text)
    text = re.sub(r"_(?:(\d)|\{(\d+)\})", lambda found: (found[1] or found[2]).translate(LOWER), text)
    text = re.sub(r"([_^])\{(\w+)\s*\}", r"\1\2", text)
    text = re.sub(r"([_^])\{([^{}]*)\}", r"\1(\2)", text)
    text = re.sub(r"([A-Za-z]{2}) +(?=[_^({])", r"\1", text)  # max (a, b)
    text = re.sub(r"\s+([,)}\]²])", r"\1", text)
    return re.sub(r" {4,}", "   ", text).strip()


def _sign(found: re.Match[str]) -> str:
    return SIGNS.get(found[1], f"{found[1]} " if found[1].isalpha() else found[1])


def _fraction(above: str, below: str) -> str:
    if (above, below) in HALVES:
        return HALVES[above, below] + " "
    above, below = (
        part if re.fullmatch(r"\w(?:_\w)?|\d+|\\\w+(?:_\w)?|\|\\\w+\|", part) else f"({part})"
        for part in (above, below)
    )
    return f"{above}/{below} "


class PlainMaths(Preprocessor):
    """Turn mathematics and tables of reStructuredText into Markdown, before anything else is read."""

    def run(self, lines: list[str]) -> list[str]:
        """Return the lines of a page or docstring, rewritten."""
        text = "\n".join(lines)
        if ":math:" in text or ".. math::" in text:
            text = re.sub(r"^([ ]*)\.\. math::[ ]*(.*(?:\n\1[ ]+\S.*)*)", _display, text, flags=re.MULTILINE)
            text = re.sub(r":math:`([^`]+)`", lambda found: f"`{plain(found[1])}`", text)
        if re.search(r"^=+(?: +=+)+$", text, re.MULTILINE):
            text = re.sub(
                r"^=+(?: +=+)+\n(?:.+\n)+?=+(?: +=+)+\n(?:.+\n)+?=+(?: +=+)+$", _table, text, flags=re.M
            )
        return text.split("\n")


def _display(found: re.Match[str]) -> str:
    return f"\n{found[1]}```text\n{found[1]}{plain(found[2])}\n{found[1]}```\n"


def _table(found: re.Match[str]) -> str:
    lines = found[0].split("\n")
    starts = [match.start() for match in re.finditer("=+", lines[0])]
    rows = [
        [line[a:b].strip() for a, b in zip(starts, [*starts[1:], None], strict=True)]
        for line in lines
        if not line.startswith("==")
    ]
    rows.insert(1, ["---"] * len(starts))
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


class PlainMathsExtension(Extension):
    """The Markdown extension; runs before code fences are read, so that formulas can become some."""

    def extendMarkdown(self, md: Markdown) -> None:
        """Register the preprocessor."""
        md.preprocessors.register(PlainMaths(md), "plain_maths", 28)


def makeExtension(**_: Any) -> PlainMathsExtension:
    """Return the extension; Python-Markdown calls this by its name."""
    return PlainMathsExtension()
