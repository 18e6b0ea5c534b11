"""What a store holds."""


def test_list_names_every_campaign(study):
    assert study("list").out == "There are no campaigns in sqlite:///study.db\n"
    for name in ("two", "one"):
        assert study.begin("--name", name, "--strategy", "random").code == 0
    found = study("list", "--json").json["campaigns"]
    assert [(each["name"], each["budget"], each["spent"], each["open"]) for each in found] == [
        ("one", 50.0, 0.0, 0),
        ("two", 50.0, 0.0, 0),
    ]
    header, *lines = study("list").out.splitlines()
    assert header.split() == ["name", "started", "rows", "columns", "strategy", "spent", "budget", "out"]
    assert [line.split()[0] for line in lines] == ["one", "two"]
