"""Commands overwrite no file unless told to, and keep what people typed."""

import pytest

from cellworth.cli.output import make_way
from cellworth.errors import DataError


def test_a_filled_in_list_is_not_overwritten_and_no_money_is_reserved(quick):
    quick.asked()
    quick.fill(skip=1)
    before = (quick.folder / "asks.csv").read_bytes()
    done = quick("ask", "--count", "2", "--out", "asks.csv")
    assert (done.code, done.out) == (3, "")
    assert "asks.csv already exists and has 3 values filled in" in done.err
    assert "cellworth tell asks.csv" in done.err
    assert "--force" in done.err
    assert (quick.folder / "asks.csv").read_bytes() == before
    assert quick.kinds() == ["asked"]


def test_with_force_what_was_typed_is_kept_beside_it(quick):
    quick.asked()
    quick.fill()
    typed = (quick.folder / "asks.csv").read_bytes()
    for _ in range(2):  # a second replacement does not replace the copy
        assert quick("ask", "--open", "--out", "asks.csv", "--force").code == 0
    assert (quick.folder / "asks.csv.bak").read_bytes() == typed
    assert {line["value"] for line in quick.lines("asks.csv")} == {""}
    assert not (quick.folder / "asks.csv.bak1").exists()  # there was nothing typed in the second
    quick.fill()
    assert quick("ask", "--open", "--out", "asks.csv", "--force").code == 0
    assert (quick.folder / "asks.csv.bak1").read_bytes() == typed


@pytest.mark.parametrize(
    "words",
    [
        ["export"],
        ["report"],
        ["fill"],
        ["take", "--count", "1", "--who", "Ann"],
        ["ask", "--open"],
    ],
)
def test_no_command_replaces_the_input(quick, words):
    before = (quick.folder / "table.csv").read_bytes()
    done = quick(*words, "--out", "table.csv")
    assert (done.code, done.out) == (3, "")
    assert "table.csv already exists. Give another --out, or replace it with --force." in done.err
    assert (quick.folder / "table.csv").read_bytes() == before


def test_a_dangling_link_counts_as_a_file(tmp_path):
    link = tmp_path / "asks.csv"
    link.symlink_to(tmp_path / "nowhere.csv")
    with pytest.raises(DataError, match="already exists"):
        make_way(link, force=False)
    make_way(link, force=True)
    make_way(tmp_path / "new.csv", force=False)
    make_way(None, force=False)


def test_a_file_in_the_way_is_not_said_to_be_read(quick):
    (quick.folder / "alt.csv").write_bytes("Größe;Straße\n1;2\n".encode("cp1252"))
    done = quick("export", "--out", "alt.csv")
    assert done.err.startswith("cellworth: alt.csv already exists.")
