import pytest

from cellworth.cli import main
from cellworth.datasets.paper_files import FILES
from tests.cli.commands import run
from tests.datasets.web_server import Site, serving


@pytest.mark.slow
def test_it_fetches_and_says_where_the_files_are(paper_folder, tmp_path):
    words = ("fetch-data", "--data", paper_folder, "--to", tmp_path / "to")
    done = run(*words)
    assert (done.returncode, done.stderr) == (0, "")
    *lines, blank, last = done.stdout.splitlines()
    assert [line.split()[0] for line in lines] == [file.name for file in FILES]
    assert all(line.endswith(str(paper_folder)) for line in lines)
    assert (blank, last) == ("", f"The paper's tables are in {tmp_path / 'to'}")


def test_by_default_the_files_go_to_the_cache(paper_folder, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("CELLWORTH_DATA", str(paper_folder.parent))
    assert main(["fetch-data"]) == 0
    first = capsys.readouterr().out
    assert first.count(str(paper_folder)) == len(FILES)
    assert main(["fetch-data"]) == 0
    again = capsys.readouterr().out
    assert again.count("already there") == len(FILES)
    assert again.splitlines()[-1] == first.splitlines()[-1]


def test_an_empty_archive_is_told_in_one_line(tmp_path):
    with serving(Site({})) as site:
        done = run("fetch-data", "--archive", site.address, "--to", tmp_path)
    assert done.returncode == 3
    assert done.stderr.startswith("cellworth: ")
    assert done.stderr.count("\n") == 1
    assert f"{site.address}/static/public/1/abalone.zip: expected a file, got 404 Not Found" in done.stderr


def test_an_address_that_is_none_is_refused(tmp_path, capsys):
    assert main(["fetch-data", "--archive", "uci", "--to", str(tmp_path)]) == 3
    assert "http:// or https://" in capsys.readouterr().err
