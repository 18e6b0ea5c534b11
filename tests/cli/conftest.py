import pytest

from tests.cli.study import Study


@pytest.fixture
def study(tmp_path, monkeypatch, capsys, linear_model_in_use):
    """A folder with the files of a study; no campaign has begun."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CELLWORTH_STORE", raising=False)
    monkeypatch.setenv("COLUMNS", "200")
    return Study(tmp_path, capsys)


@pytest.fixture
def begun(study):
    """A study whose campaign has begun."""
    assert study.begin().code == 0
    return study


@pytest.fixture
def quick(study):
    """A study whose campaign has begun, with a strategy that fits nothing."""
    assert study.begin("--strategy", "random").code == 0
    return study
