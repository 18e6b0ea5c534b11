"""Table 1 with the rivals by their recipes alone."""

from studies.paper.recipes import METHODS, described


def test_means_and_verdicts_are_shown():
    rows = [
        {
            "dataset": "letter",
            "observed": 0.6,
            "method": method,
            "seed": seed,
            "reconstruction_error": 0.1 * (k + 1) + 0.001 * seed,
            "accuracy": 0.9 - 0.1 * k + 0.001 * seed,
        }
        for k, method in enumerate(METHODS)
        for seed in range(3)
    ]
    text = described(rows)
    assert text[1].split() == ["letter", "at", "60%", "0.101", "0.201", "0.301", "0.401"]
    assert text[2].startswith("holds           AFASMC has the lowest reconstruction error")
    assert "1 of 1 confirm" in text[3]
