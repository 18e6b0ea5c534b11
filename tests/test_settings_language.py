"""Messages name settings in the language of the door."""

import threading

import pytest

from cellworth import Table
from cellworth.errors import DataError
from cellworth.settings_language import setting, speaking
from cellworth.table.files import FileBytes

TABLES = {
    b"a,b\n1,x\nsoon,x\n2,y\n": ("missing=['soon']", "--missing soon"),
    b"a,b\n01.02.2020,x\n": ("date_format='DD.MM.YYYY'", "--date-format DD.MM.YYYY"),
    b"a;b\n1;2\n": ("delimiter=';'", "--delimiter ';'"),
}


@pytest.mark.parametrize("content", TABLES)
def test_the_same_error_in_two_languages(content):
    in_python, in_the_shell = TABLES[content]
    with pytest.raises(DataError) as error:
        Table.read(FileBytes("t.csv", content))
    assert in_python in str(error.value)
    with speaking("command line"), pytest.raises(DataError) as error:
        Table.read(FileBytes("t.csv", content))
    assert in_the_shell in str(error.value)
    assert in_python not in str(error.value)


def test_a_door_speaks_for_its_own_thread():
    said = []
    with speaking("command line"):
        thread = threading.Thread(target=lambda: said.append(setting("row_id", "id")))
        thread.start()
        thread.join()
        said.append(setting("row_id", "id"))
    assert said == ["row_id='id'", "--row-id id"]
    assert setting("unsolicited", True) == "unsolicited=True"
