"""Verdicts: made-up results in which a claim is true, half true or false must be told as such."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import ttest_rel

from studies.paper import claims_on_buying as buying
from studies.paper import claims_on_completion as completion
from studies.paper.samples import Curve, Interval, best, closest_rival, difference
from studies.paper.verdict import Case, Claim, Outcome
from tests.studies.made_up import buying_rows, completion_rows

FOUR = {"Supervised": 0.13, "OptSpace": 0.38, "LMaFit": 0.14, "NNLS": 0.14}
FOUR |= {f"{name}, published": 0.4 for name in ("OptSpace", "LMaFit", "NNLS")}
RECIPES = ", the others by their authors' recipes"


def claim(*signs, strength="always"):
    cases = tuple(Case("", Interval(sign, 0.5), "") for sign in signs)
    return Claim("Table 1", "", "", cases, strength)


@pytest.mark.parametrize(
    ("signs", "always", "mostly"),
    [
        ((1, 1, 1), Outcome.HOLDS, Outcome.HOLDS),
        ((1, 1, 0), Outcome.HOLDS, Outcome.HOLDS),
        ((1, 1, -1), Outcome.IN_PART, Outcome.HOLDS),
        ((1, 0, 0), Outcome.IN_PART, Outcome.IN_PART),
        ((1, 0, -1), Outcome.IN_PART, Outcome.IN_PART),
        ((1, -1), Outcome.FAILS, Outcome.FAILS),
        ((0, 0, 0), Outcome.FAILS, Outcome.FAILS),
        ((-1, -1, 0), Outcome.FAILS, Outcome.FAILS),
        ((), Outcome.UNTOLD, Outcome.UNTOLD),
    ],
)
def test_the_rule(signs, always, mostly):
    assert claim(*signs).outcome == always
    assert claim(*signs, strength="mostly").outcome == mostly


def test_one_seed_tells_nothing():
    cases = (Case("", Interval(1.0, math.nan), ""),)
    assert Claim("", "", "", cases, "always").outcome == Outcome.UNTOLD
    (lowest, *_) = completion.claims(completion_rows(FOUR | {"Gaussian": 0.1}, seeds=[0]))
    assert lowest.outcome == Outcome.UNTOLD
    assert lowest.counts == "4 cases, and no intervals from a single seed"


def test_nothing_beyond_noise_is_said():
    assert claim(0, 0).counts == "0 of 2 confirm, 0 contradict, 2 undecided: no difference beyond noise"
    assert claim(1, 0, -1).counts == "1 of 3 confirm, 1 contradict, 1 undecided"


def told(claims, words):
    """Return the claim with these words, with the rivals as they do best."""
    found, *others = [claim for claim in claims if words in claim.text]
    assert all(other.text.startswith(f"{found.text}, ") for other in others)
    return found


def test_claims_on_table_1():
    true = completion.claims(completion_rows(FOUR | {"Gaussian": 0.1}))
    assert told(true, "lowest reconstruction error").outcome == Outcome.HOLDS
    assert told(true, "lowest reconstruction error").count(1) == 4
    assert told(true, "Gaussian").outcome == Outcome.HOLDS
    false = completion.claims(completion_rows(FOUR | {"NNLS": 0.12, "Gaussian": 0.2}))
    assert told(false, "lowest reconstruction error").outcome == Outcome.FAILS
    assert "against NNLS" in told(false, "lowest reconstruction error").cases[0].note
    assert told(false, "Gaussian").outcome == Outcome.FAILS
    half = completion_rows(FOUR | {"Gaussian": 0.1}) + completion_rows(
        FOUR | {"LMaFit": 0.12, "Gaussian": 0.1}, datasets=["image"]
    )
    assert told(completion.claims(half), "lowest reconstruction error").outcome == Outcome.IN_PART
    accuracies = dict.fromkeys(FOUR, 0.8) | {"Supervised": 0.82, "Gaussian": 0.8}
    better = completion.claims(completion_rows(FOUR | {"Gaussian": 0.1}, accuracies))
    assert told(better, "best accuracy").outcome == Outcome.HOLDS


def test_both_versions_of_hill_valley_are_checked_and_one_is_counted():
    errors = FOUR | {"Supervised": 0.05, "Gaussian": 0.04}
    rows = completion_rows(errors, datasets=["HillValley", "HillValley-without-noise"])
    assert len(completion.claims(rows)[0].cases) == 2
    main = completion.checks(rows, version=lambda name: name == "HillValley")
    other = completion.checks(rows, version=lambda name: name != "HillValley")
    assert [check.entries for check in main + other] == [2, 2, 2, 2]


def test_checks_on_table_1():
    """The paper has 0.13 and 0.07 with 78.5 and 79.7 % on abalone."""
    near = {"Supervised": 0.10, "OptSpace": 0.1, "LMaFit": 0.1, "NNLS": 0.1, "Gaussian": 0.1}
    accuracies = dict.fromkeys(near, 0.79)
    rows = completion_rows(near, accuracies, datasets=["abalone"], spread=0)
    errors, accuracy = completion.checks(rows, version=lambda _: True)
    assert errors.misses == ("abalone at 60%: 0.100 against 0.13", "abalone at 80%: 0.100 against 0.07")
    assert errors.passed  # two may miss
    assert accuracy.passed
    low = completion_rows(near, dict.fromkeys(near, 0.781), datasets=["abalone"], spread=0)
    assert completion.checks(low, version=lambda _: True)[1].misses == ("abalone at 80%: 78.1 against 79.7",)
    assert not completion.checks(low, version=lambda _: True)[1].passed
    assert not completion.checks([], version=lambda _: True)[0].passed


STRATEGIES = {
    "random": 0.80,
    "qbc": 0.82,
    "stability": 0.82,
    "afasmc": 0.84,
    "em-inference": 0.79,
    "qbc, published": 0.81,
    "stability, published": 0.81,
    "em-inference, published": 0.79,
    "linear-impact": 0.86,
    "random-gaussian": 0.85,
    "posterior-impact": 0.86,
}
TABLES = ("abalone", "letter", "image", "chess", "HillValley", "HTRU2")


def test_claims_on_figure_1_when_the_paper_is_right():
    decent = {("image", "em-inference"): 0.835, ("chess", "em-inference"): 0.845}
    decent |= {(table, f"{name}, published"): height for (table, name), height in decent.items()}
    claims = buying.claims_on_figure_1(buying_rows(STRATEGIES | decent, datasets=TABLES))
    told_all = {claim.text: claim for claim in claims}
    assert len(told_all) == 8 + 5
    assert {claim.outcome for claim in claims} == {Outcome.HOLDS}
    assert told(claims, "active selection").count(1) == 18


def test_claims_on_figure_1_when_the_paper_is_wrong():
    wrong = dict.fromkeys(STRATEGIES, 0.8) | {"random": 0.85, "qbc": 0.9, "em-inference": 0.9}
    claims = buying.claims_on_figure_1(buying_rows(wrong, datasets=TABLES))
    assert told(claims, "highest accuracy in most").outcome == Outcome.FAILS
    assert told(claims, "perform alike").outcome == Outcome.FAILS
    assert told(claims, "less competitive").outcome == Outcome.FAILS
    assert told(claims, "EM Inference").outcome == Outcome.FAILS  # poor nowhere
    assert told(claims, "active selection").outcome == Outcome.FAILS


def test_claims_and_check_on_table_2():
    rows = buying_rows(STRATEGIES, datasets=["image"], metric="auc")
    highest, by_recipe, ours = buying.claims_on_table_2(rows)
    assert {highest.outcome, by_recipe.outcome, ours.outcome} == {Outcome.HOLDS}
    assert by_recipe.text == highest.text + RECIPES
    assert len(highest.cases) == 7
    # AFASMC is at 0.84 throughout; the paper goes from 0.822 to 0.857 on image.
    check = buying.check_on_table_2(rows)
    assert check.entries == 7
    assert not check.passed
    assert [miss.split(":")[0] for miss in check.misses] == [
        f"image at {share}%" for share in (30, 40, 50, 80)
    ]
    level = dict.fromkeys(STRATEGIES, 0.86)
    assert buying.check_on_table_2(buying_rows(level, datasets=["image"], metric="auc")).passed
    assert buying.claims_on_table_2(buying_rows(level, metric="auc", spread=0))[0].outcome == Outcome.FAILS


def test_claims_on_figure_2():
    heights = {"afasmc": 0.90, "afasmc-ratio": 0.91, "afasmc-poss": 0.92, "afasmc-knapsack": 0.93}
    heights["afasmc-poss-from-ratio"] = 0.925
    right = buying.claims_on_figure_2(buying_rows(heights | {"linear-impact": 0.94}, datasets=["HTRU2"]))
    assert {claim.outcome for claim in right} == {Outcome.HOLDS}
    wrong = heights | {"afasmc-poss": 0.905, "linear-impact": 0.908, "afasmc-poss-from-ratio": 0.905}
    claims = buying.claims_on_figure_2(buying_rows(wrong, datasets=["HTRU2"]))
    assert told(claims, "both cost-aware").outcome == Outcome.HOLDS
    assert told(claims, "bi-objective selector").outcome == Outcome.FAILS
    assert (
        told(claims, "bi-objective selector (POSS) beats dividing by cost, POSS st").outcome == Outcome.FAILS
    )
    assert told(claims, "two cost-aware ones").outcome == Outcome.FAILS  # as many for as against


def test_money_that_was_not_spent_is_not_compared():
    """POSS ends at 20 % of the money: nothing is said of what it would have bought for more."""
    heights = {"afasmc": 0.90, "afasmc-ratio": 0.91, "afasmc-knapsack": 0.93, "linear-impact": 0.94}
    heights["afasmc-poss-from-ratio"] = 0.92
    rows = buying_rows(heights, datasets=["HTRU2"], end=0.5)
    rows += buying_rows({"afasmc-poss": 0.92}, datasets=["HTRU2"], end=0.2)
    claims = buying.claims_on_figure_2(rows)
    assert len(told(claims, "both cost-aware").cases) == 5 + 3
    assert len(told(claims, "bi-objective selector").cases) == 3


def test_claims_on_figure_3():
    heights = {"last 2": 0.8, "last 4": 0.82, "last 8": 0.8, "last 16": 0.8, "all completions": 0.8}
    (best_window,) = buying.claims_on_figure_3(buying_rows(heights, datasets=["HTRU2"], end=0.6))
    assert best_window.outcome == Outcome.HOLDS
    assert "up to 60%" in best_window.measured
    (part,) = buying.claims_on_figure_3(buying_rows(heights | {"last 8": 0.84}, datasets=["HTRU2"]))
    assert part.outcome == Outcome.IN_PART
    assert [case.sign for case in part.cases] == [1, -1, 1, 1]
    assert part.cases[1].note.startswith("m = 4 against m = 8: -1.9")


@settings(max_examples=60)
@given(st.integers(0, 10_000), st.integers(2, 12), st.floats(0, 2))
def test_the_best_are_those_that_the_t_test_of_scipy_does_not_reject(seed, repeats, effect):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(4, repeats)) + effect * np.arange(4)[:, np.newaxis]
    samples = {f"m{k}": dict(enumerate(row.tolist())) for k, row in enumerate(values)}
    leader = int(values.mean(axis=1).argmax())
    expected = {f"m{leader}"} | {
        f"m{k}" for k in range(4) if k != leader and ttest_rel(values[leader], values[k]).pvalue >= 0.05
    }
    assert best(samples) == expected


def test_the_best_of_equals_are_all_and_of_one_seed_none():
    assert best({"a": {0: 1.0, 1: 2.0}, "b": {0: 1.0, 1: 2.0}}) == {"a", "b"}
    assert best({"a": {0: 1.0}, "b": {0: 2.0}}) == set()


def test_differences_are_paired_by_seed():
    first, second = {0: 1.0, 1: 10.0, 2: 5.0}, {1: 9.0, 0: 0.0}
    assert difference(first, second) == Interval(1.0, 0.0)


def test_the_closest_rival_is_one_that_is_ahead_if_there_is_any():
    rng = np.random.default_rng(0)
    base = rng.normal(size=10)

    def at(shift, sd):
        return dict(enumerate((base + shift + sd * rng.normal(size=10)).tolist()))

    samples = {"mine": at(0, 0), "noisy": at(0, 10), "ahead": at(0.5, 0.01), "behind": at(-1, 0.01)}
    assert closest_rival(samples, "mine", ("noisy", "ahead", "behind"))[0] == "ahead"
    rival, margin = closest_rival(samples, "mine", ("noisy", "behind"))
    assert rival == "noisy"
    assert not margin.above_zero
    assert closest_rival(samples, "mine", ("behind",))[1].above_zero


def test_curves_are_read_on_straight_lines():
    curve = Curve(np.array([0.0, 0.5, 1.0]), np.array([0.0, 1.0, 1.0]))
    assert curve.at(0.25) == 0.5
    assert curve.mean(0.5) == pytest.approx(0.5)
    assert curve.mean(0.25) == pytest.approx(0.25)
    assert curve.mean(1.0) == pytest.approx(0.75)


def test_the_rivals_by_their_authors_recipes_have_verdicts_of_their_own():
    """AFASMC loses to the rivals at their best, and beats them by their recipes: two verdicts, not one."""
    found = completion.claims(completion_rows(FOUR | {"NNLS": 0.05, "Gaussian": 0.04}))
    verdicts = {each.text: each.outcome for each in found}
    of_four = "AFASMC has the lowest reconstruction error of the four"
    assert verdicts[of_four] == Outcome.FAILS
    assert verdicts[of_four + RECIPES] == Outcome.HOLDS
    bought = STRATEGIES | {"qbc": 0.9, "stability": 0.9, "em-inference": 0.9}
    verdicts = {
        each.text: each.outcome for each in buying.claims_on_figure_1(buying_rows(bought, datasets=TABLES))
    }
    for words in (
        "AFASMC has the highest accuracy in most cases",
        "QBC and Stability are less competitive than AFASMC",
    ):
        assert verdicts[words] == Outcome.FAILS
        assert verdicts[words + RECIPES] == Outcome.HOLDS


def test_the_bi_objective_search_is_judged_from_both_starts():
    heights = {"afasmc": 0.90, "afasmc-ratio": 0.91, "afasmc-poss": 0.89, "afasmc-knapsack": 0.93}
    rows = buying_rows(heights | {"afasmc-poss-from-ratio": 0.92, "linear-impact": 0.94}, datasets=["HTRU2"])
    empty, ratio = (
        next(each.outcome for each in buying.claims_on_figure_2(rows) if each.text.endswith(end))
        for end in ("(POSS) beats dividing by cost", "by cost, POSS starting from what dividing by cost buys")
    )
    assert (empty, ratio) == (Outcome.FAILS, Outcome.HOLDS)
