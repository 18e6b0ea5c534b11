"""The completion study: figures of the paper, files, page and plots, and the same for any number of jobs."""

import pytest
from joblib import parallel_config

from cellworth.errors import DataError, ParameterError
from studies.completion import __main__ as command
from studies.completion import study
from studies.completion.report import claims, summarise
from studies.completion.study import Coverage, Outcome, read_results, write_results
from studies.published import TABLE_1, WITHOUT_NOISE


def made_up(gaussian=0.08, auto=0.08):
    """Return results of two seeds on one table."""
    errors = {"Supervised": 0.13, "Gaussian": gaussian, "Auto": auto}
    outcomes = [
        Outcome("abalone", 0.6, method, seed, error + 0.01 * seed, 0.8, None, 1.0)
        for method, error in errors.items()
        for seed in (0, 1)
    ]
    coverages = [Coverage("abalone", 0.6, seed, level, level) for seed in (0, 1) for level in (0.5, 0.9)]
    return outcomes, coverages


def test_the_papers_figures():
    assert len(TABLE_1) == (6 + 1) * 2 * 4
    assert TABLE_1[WITHOUT_NOISE, 0.6, "OptSpace"] == TABLE_1["HillValley", 0.6, "OptSpace"]
    assert TABLE_1["abalone", 0.6, "Supervised"] == pytest.approx((0.13, 0.01, 0.785, 0.012))
    assert TABLE_1["chess", 0.8, "NNLS"] == pytest.approx((1.21, 0.01, 0.779, 0.036))
    assert TABLE_1["image", 0.6, "LMaFit"] == pytest.approx((0.36, 0.05, 0.755, 0.021))


def test_results_come_back_from_files(tmp_path):
    outcomes, coverages = made_up()
    write_results(outcomes, coverages, tmp_path)
    assert read_results(tmp_path) == (outcomes, coverages)
    with pytest.raises(DataError, match="run the study first"):
        read_results(tmp_path / "nowhere")


def test_claims_say_where_they_fail():
    outcomes, coverages = made_up()
    assert all("Not in" not in text for text in claims(summarise(outcomes), coverages))
    outcomes, coverages = made_up(gaussian=0.1, auto=0.12)
    supervised, gaussian, auto, intervals = claims(summarise(outcomes), coverages)
    assert "1 of 1" in supervised
    assert "Not in: abalone: 0.105" in gaussian
    assert "Not in: abalone at 60%: 0.0200 above Gaussian, whose sd is 0.0071" in auto
    assert "abalone 90.0%" in intervals


def test_both_versions_of_hill_valley_are_judged():
    outcomes = [
        Outcome(dataset, 0.6, method, 0, error, 0.5, None, 1.0)
        for dataset, error in (("abalone", 0.13), ("HillValley", 0.056), (WITHOUT_NOISE, 0.043))
        for method in ("Supervised", "Gaussian", "Auto")
    ]
    text = claims(summarise(outcomes), [])[0]
    assert "Holds in 1 of 2. Not in: HillValley at 60%: 0.056 against 0.04." in text
    assert "without noise in its place: in 2 of 2." in text


def test_page_and_plots_are_made_from_the_files(tmp_path):
    pytest.importorskip("matplotlib")
    write_results(*made_up(), tmp_path)
    command.main(["--report-only", "--out", str(tmp_path)])
    text = (tmp_path / "completion.md").read_text(encoding="utf-8")
    assert "python -m studies.completion --repeats 2 --datasets abalone" in text
    assert "| abalone | 60% | 0.135 ± 0.007 [0.13] | **0.085 ± 0.007** |" in text
    for name in ("completion.png", "coverage.png"):
        assert (tmp_path / name).read_bytes().startswith(b"\x89PNG")


def test_refuses_what_it_does_not_know():
    with pytest.raises(ParameterError, match="abalone"):
        study.run_study(["iris"], 1)


@pytest.mark.slow
def test_the_figures_do_not_depend_on_the_number_of_jobs(paper_folder, monkeypatch):
    kept = {name: study.COMPLETERS[name] for name in ("Supervised", "Gaussian")}
    monkeypatch.setattr(study, "COMPLETERS", kept)
    # Threads, for they see the shorter list of methods.
    with parallel_config(backend="threading"):
        one, two = (study.run_study(["letter"], 2, jobs=jobs, fast=True) for jobs in (1, 2))
    assert len(one[0]) == 2 * 2 * 2
    assert len(one[1]) == 2 * 2 * len(study.LEVELS)
    assert [o[:-1] for o in one[0]] == [o[:-1] for o in two[0]]
    assert one[1] == two[1]
    for outcome in one[0]:
        assert 0 < outcome.error < 0.5
        assert 0.5 < outcome.accuracy <= 1
