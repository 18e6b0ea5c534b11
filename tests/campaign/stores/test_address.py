import os
import sqlite3
import subprocess
import sys
import traceback
from pathlib import Path

import pytest

from cellworth.campaign.stores import open_store
from cellworth.campaign.stores.address import read_address
from cellworth.errors import CellworthError, DataError, MissingDependencyError, ParameterError
from cellworth.testing.store_contract import make_record

SECRET = "s3cr3t"


@pytest.mark.parametrize("form", ["sqlite:///study.db", "study.db", Path("study.db"), "sqlite:///./study.db"])
def test_relative_paths_stay_where_they_were_given(form, tmp_path, monkeypatch, opened):
    monkeypatch.chdir(tmp_path)
    store = opened(form)
    os.chdir("/")
    store.create(make_record("here"))
    assert (tmp_path / "study.db").is_file()
    assert opened(f"sqlite:///{tmp_path}/study.db").names() == ["here"]


def test_odd_characters_in_a_path(tmp_path, opened):
    path = tmp_path / "a b%20?#&ü.db"
    opened(path).create(make_record("odd"))
    assert path.is_file()
    with sqlite3.connect(path.as_uri(), uri=True) as connection:
        assert connection.execute("SELECT name FROM cellworth_campaign").fetchall() == [("odd",)]


def test_the_home_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert read_address("~/study.db").rest == f"{tmp_path}/study.db"


@pytest.mark.parametrize("scheme", ["postgresql", "postgresql+psycopg", "postgres"])
def test_forms_of_postgresql(scheme, postgresql_url, opened):
    assert opened(postgresql_url.replace("postgresql", scheme)).names() == []


def test_a_server_behind_a_socket_file(server, postgresql_url, opened):
    url = f"postgresql:///postgres?host={server.folder}&port={server.port}&user=cellworth"
    assert opened(url).names() == []


@pytest.mark.parametrize(
    ("url", "said"),
    [
        (f"mysql://me:{SECRET}@host/db", "'mysql' are not supported. Use sqlite:///study.db"),
        ("study.csv", "got 'study.csv'. Use sqlite:///study.db"),
        (f"me:{SECRET}@host/db", "Use sqlite:///study.db"),
        ("", "Use sqlite:///study.db"),
        ("sqlite://", "three slashes"),
        ("sqlite:///", "three slashes"),
        ("sqlite:///:memory:", "three slashes"),
        ("sqlite://study.db", "three slashes"),
        ("sqlite:///study.db?mode=ro", "question mark"),
        (f"postgresql://me:{SECRET}@host", "names no database"),
        (f"postgresql://me:{SECRET}@host:port/db", "cannot be read"),
        (f"postgresql://me:a@{SECRET}@host/db", "cannot be read"),
        (f"postgresql://me:a@b/{SECRET}@host/db", "cannot be read"),
    ],
)
def test_an_address_that_makes_no_sense_is_refused_without_its_password(url, said):
    with pytest.raises(ParameterError) as caught:
        open_store(url)
    assert said in str(caught.value)
    assert SECRET not in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize("patience", [-1, float("nan"), float("inf")])
def test_patience_that_makes_no_sense_is_refused(patience, sqlite_url):
    with pytest.raises(ParameterError, match="patience"):
        open_store(sqlite_url, patience=patience)


def test_a_wrong_password_is_not_shown(server):
    server.execute("DROP ROLE IF EXISTS guarded")
    server.execute("CREATE ROLE guarded LOGIN PASSWORD 'right'")
    url = server.url(user=f"guarded:{SECRET}") + f"?sslpassword={SECRET}"
    with pytest.raises(DataError) as caught:
        open_store(url)
    assert "postgresql://guarded@127.0.0.1" in str(caught.value)
    assert SECRET not in "".join(traceback.format_exception(caught.value))


def test_no_object_shows_the_password():
    assert SECRET not in repr(read_address(f"postgresql://me:{SECRET}@host/db"))


def test_a_missing_driver_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(MissingDependencyError, match=r"psycopg.*pip install"):
        open_store("postgresql://me@host/db")


def test_nothing_heavy_is_imported_before_a_store_is_opened():
    code = (
        "import sys; import cellworth.testing.store_contract\n"
        "from cellworth.campaign.stores import open_store\n"
        "try: open_store('mysql://x/y')\n"
        "except ValueError: print('sqlalchemy' in sys.modules, 'psycopg' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


def test_a_server_that_was_never_there_is_reported_at_once():
    with pytest.raises(CellworthError, match="cannot be reached"):
        open_store("postgresql://me@127.0.0.1:1/db")
