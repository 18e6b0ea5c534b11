"""Work is committed as a whole, and errors come in plain words; test_postgresql.py breaks connections."""

import pytest
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError

from cellworth.campaign.stores.sqlite import SqliteDatabase
from cellworth.campaign.stores.transactions import Transactions
from cellworth.errors import DataError


@pytest.fixture
def transactions(tmp_path):
    database = SqliteDatabase(str(tmp_path / "study.db"), 1.0)
    transactions = Transactions(database)
    transactions.make(lambda connection: connection.execute(text("CREATE TABLE t (x INTEGER PRIMARY KEY)")))
    yield transactions
    transactions.close()


def run(transactions, *statements, writing=True):
    def work(connection):
        return [connection.execute(text(statement)) for statement in statements][-1].returns_rows

    return transactions.run(work, writing=writing, patience=0)


def count(transactions):
    return transactions.run(
        lambda connection: connection.execute(text("SELECT count(*) FROM t")).scalar_one(),
        writing=False,
        patience=0,
    )


def test_work_is_committed_as_a_whole_or_not_at_all(transactions):
    run(transactions, "INSERT INTO t VALUES (1)")
    with pytest.raises(IntegrityError):
        run(transactions, "INSERT INTO t VALUES (2)", "INSERT INTO t VALUES (1)")
    with pytest.raises(DataError, match=r"could not be used; nothing was written.*no such table: u"):
        run(transactions, "INSERT INTO t VALUES (3)", "INSERT INTO u VALUES (1)")
    assert count(transactions) == 1


def test_text_that_cannot_be_read_is_damage(transactions):
    def work(_):
        b"\xff".decode()

    with pytest.raises(DataError, match="text that is not UTF-8"):
        transactions.run(work, writing=False, patience=0)


def test_a_file_that_is_there_is_not_made_again(transactions):
    run(transactions, "INSERT INTO t VALUES (1)")
    transactions.make(lambda connection: connection.execute(text("CREATE TABLE t (x INTEGER PRIMARY KEY)")))
    assert count(transactions) == 1
