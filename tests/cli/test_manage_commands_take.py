"""Take cells that are out, and give them back."""


def test_take_and_give_back(quick):
    quick.asked(count=4)
    done = quick("take", "--count", "2", "--who", "Ann", "--lease", "2h", "--out", "mine.csv")
    assert (done.code, done.err) == (0, "")
    assert "2 cells taken by Ann until" in done.out
    mine = quick.lines("mine.csv")
    assert len(mine) == 2
    cell = f"{mine[0]['row']}:{mine[0]['column']}"
    other = quick("take", cell, "--who", "Bob")
    assert (other.code, other.out) == (4, "")
    assert "is with 'Ann'" in other.err
    assert quick("give-back", cell, "--who", "Bob").code == 4
    assert quick("give-back", cell, "--who", "Ann", "--json").json == {"given_back": 1}
    taken = quick("take", cell, "--who", "Bob", "--json").json["cells"]
    assert [each["holder"] for each in taken] == ["Bob"]
    assert "1 cell taken by Zoe" in quick("take", "--count", "1", "--who", "Zoe").out
    assert quick.kinds() == ["asked", "taken", "given back", "taken", "taken"]
    assert "given back" in quick("log").out
    quick.fill("mine.csv")
    assert quick("tell", "mine.csv", "--who", "Cy").code == 0  # answers of others count all the same


def test_the_open_cells_are_listed_with_their_leases_and_who_has_taken_them(quick):
    """Some may be reserved without a time limit, and some may be free."""
    assert quick("ask", "--count", "1", "--lease", "never").code == 0
    assert quick("ask", "--count", "1").code == 0
    assert quick("ask", "--open").out.splitlines()[0].split()[-2:] == ["why", "until"]
    assert quick("take", "--count", "1", "--who", "Zoe").code == 0
    header, *rows = quick("ask", "--open").out.splitlines()[:3]
    assert header.endswith("taken by")
    assert sorted((row.rstrip().endswith("Zoe"), " UTC" in row) for row in rows) == [
        (False, True),
        (True, False),
    ]


def test_wrong_usage_of_take(quick):
    quick.asked(count=1)
    for words in (
        ["take", "--count", "1"],
        ["take", "--who", "Ann"],
        ["take", "p1:age", "--count", "1", "--who", "Ann"],
        ["take", "--count", "1", "--who", "Ann", "--lease", "soon"],
    ):
        assert quick(*words).code == 2, words
    assert quick("take", "--count", "1", "--who", "Ann", "--out", "nowhere/x.csv").code == 3
    assert quick.kinds() == ["asked"]


def test_it_is_said_that_there_is_nothing_to_take(quick):
    done = quick("take", "--count", "1", "--who", "Zoe")
    assert (done.code, done.out) == (0, "No cell is out and free to take.\n")
