"""Tasks are run once and kept; the page says what is missing."""

import json

import pytest

from studies.money.kept_cases import CaseFolder, StartTask, start_tasks, what_was_run

STARTS = [(table, share, 0) for share in (0.1, 0.2) for table in ("abalone", "letter", "image")]


def work(task, folder):
    """Write down that the task was run."""
    with (folder / "log").open("a") as log:
        log.write(f"{task}\n")
    if task.table == "letter":
        raise RuntimeError("interrupted")
    return [{"table": task.table, "share": task.observed}]


def test_what_is_finished_is_kept_and_not_repeated(tmp_path):
    folder = CaseFolder(tmp_path / "runs")
    tasks = start_tasks("part", STARTS)
    with pytest.raises(RuntimeError, match="interrupted"):
        folder.records("working", tasks, work)
    kept = CaseFolder(folder.path, only_kept=True).records("working", tasks, work)
    assert [task.start for task in kept] == [("abalone", 0.1, 0)]
    rest = [task for task in tasks if task.table != "letter"]
    found = folder.records("working", rest, work)
    assert [records[0]["share"] for records in found.values()] == [0.1, 0.1, 0.2, 0.2]
    assert list(found) == rest
    log = (folder.path / "log").read_text().splitlines()
    assert len(log) == len({*log}) == 5
    assert log[0] == "abalone, 10% known, seed 0"
    assert not list(folder.path.glob("*.part"))


def test_parts_do_not_share_files(tmp_path):
    folder = CaseFolder(tmp_path)
    for part in ("stops", "forecasts"):
        folder.records(part, [StartTask(part, "heart", 0.2, 0)], lambda task, _: [{"part": task.part}])
    files = sorted(tmp_path.glob("*.json"))
    assert [json.loads(file.read_text())[0]["part"] for file in files] == ["forecasts", "stops"]


def test_the_page_says_what_was_run():
    everything = what_was_run(STARTS, {*STARTS})
    assert everything == (
        "From 3 of the 27 tables (2 tuning, 1 report), 10% and 20% of the cells known, 1 seed: 6 starts."
    )
    some = what_was_run(STARTS, {("abalone", 0.2, 0), ("image", 0.2, 0)})
    assert "From 2 of the 27 tables (2 tuning, 0 report), 20% of the cells known" in some
    assert "4 of 6 starts:** with 10% known, seed 0: all; with 20% known, seed 0: letter." in some
    assert what_was_run(STARTS, set()) == "**Not run yet**: none of the 6 starts."
