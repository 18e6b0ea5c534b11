"""Change budget and prices of a running campaign."""


def test_another_budget(quick):
    quick.asked(count=3)
    done = quick("budget", "80", "--reason", "a second grant", "--who", "Ann")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("New budget; ")
    assert "left of 80.00" in done.out
    assert quick("budget", "80", "--json").json["changed"] is False
    low = quick("budget", "0.01")
    assert (low.code, low.out) == (4, "")
    assert "below what is spent" in low.err
    assert quick("budget", "none", "--json").json["budget"] is None
    for wrong in ("much", "nan", "0", "1e400"):
        assert quick("budget", wrong).code == 2, wrong
    assert quick.kinds() == ["asked", "budget changed", "budget changed"]
    shown = quick("log").out
    assert "from 50.0 to 80.0: a second grant" in shown
    assert "from 80.0 to no limit" in shown


def test_other_prices(quick, tmp_path):
    quick.asked(count=2)
    (tmp_path / "new.csv").write_text("column;price\n(other columns);7,5\n")
    before = quick("status", "--json").json["reserved"]
    done = quick("prices", "new.csv", "--delimiter", ";", "--decimal", ",", "--reason", "inflation")
    assert (done.code, done.err) == (0, "")
    asked = quick("ask", "--count", "1", "--json").json
    assert [cell["price"] for cell in asked["cells"]] == [7.5]
    assert asked["reserved"] == before + 7.5
    assert quick("prices", "nowhere.csv").code == 3
    (tmp_path / "few.csv").write_text("column,price\nage,1\n")
    assert "'dose'" in quick("prices", "few.csv").err
    assert quick.kinds() == ["asked", "prices changed", "asked"]
    assert "inflation" in quick("log").out
