"""What the Tab key offers, in a folder with a campaign."""

from types import SimpleNamespace

import pytest

from cellworth.cli import main, shell_completion


def context(**params):
    return SimpleNamespace(params=params, args=[])


def test_names_of_campaigns(quick):
    assert shell_completion.names_of_store(context(), "st") == ["study"]
    assert shell_completion.names_of_store(context(store="sqlite:///study.db"), "x") == []
    assert shell_completion.names_of_store(context(store="elsewhere.db"), "") == []
    assert not (quick.folder / "elsewhere.db").exists()


def test_rows_and_columns_of_a_campaign(quick):
    rows = list(quick.table.row_ids)
    offered = shell_completion.cell_to_correct
    assert offered(context(), "") == rows
    assert offered(context(), rows[0]) == [row for row in rows if row.startswith(rows[0])]
    assert offered(context(), f"{rows[0]}:d") == [f"{rows[0]}:dose"]
    assert offered(context(words=[rows[0], ":"], name="study"), "d") == ["dose"]  # bash splits at the colon
    assert offered(context(words=[rows[0]]), ":d") == [":dose"]
    assert offered(context(words=[rows[0]]), "d") == ["dose"]
    assert offered(context(words=[rows[0], "dose"]), "d") == []
    assert offered(context(name="another"), "") == []


def test_cells_that_are_out_also_where_the_shell_splits_them_at_the_colon(quick):
    cells = [f"{line['row']}:{line['column']}" for line in quick.asked()]
    assert shell_completion.open_cells(context(), "") == cells
    row, column = cells[0].split(":")
    assert shell_completion.open_cells(context(cells=[]), f"{row}:")[0] == cells[0]
    assert f":{column}" in shell_completion.open_cells(context(cells=[row]), ":")
    assert column in shell_completion.open_cells(context(cells=[row, ":"]), column[:1])


def test_columns_of_a_table_that_is_read(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("\ufeffa b;größe;n\n1;2;3\n", encoding="utf-8")
    assert shell_completion.columns_of_table(context(table=path), "") == ["a b", "größe", "n"]
    assert shell_completion.settings_of_columns(context(table=str(path)), "g") == ["größe="]
    assert shell_completion.columns_of_table(context(table=path, delimiter=","), "") == ["a b;größe;n"]
    assert shell_completion.columns_of_table(context(table=tmp_path / "none.csv"), "") == []
    assert shell_completion.columns_of_table(context(), "") == []


def test_columns_of_a_workbook(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.append(["age", "dose"])
    book.active.append([1, 2])
    book.active.append([2, 3])
    book.save(tmp_path / "t.xlsx")
    assert shell_completion.columns_of_table(context(table=tmp_path / "t.xlsx"), "a") == ["age"]


def test_no_more_than_a_shell_can_list(monkeypatch):
    monkeypatch.setattr(shell_completion, "MOST", 2)
    assert len(shell_completion.strategies(context(), "")) == 2


def test_the_shell_asks_for_them(quick, monkeypatch, capsys):
    """Through the program, as bash does."""
    for words, place, expected in (
        ("cellworth status --name st", 3, "study"),
        ("cellworth correct X:X X --na", 4, "--name"),
        ("cellworth init table.csv --target out", 4, "outcome"),
        ("cellworth init table.csv --kind do", 4, "dose="),
    ):
        monkeypatch.setenv("_CELLWORTH_COMPLETE", "bash_complete")
        monkeypatch.setenv("COMP_WORDS", words)
        monkeypatch.setenv("COMP_CWORD", str(place))
        with pytest.raises(SystemExit):
            quick()
        assert capsys.readouterr().out.split() == [f"plain,{expected}"]


@pytest.mark.parametrize(
    ("shell", "place"),
    [("bash", ".bashrc"), ("zsh", ".zshrc"), ("fish", ".config/fish/completions/cellworth.fish")],
)
def test_completion_is_set_up_once_and_keeps_what_is_there(shell, place, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("SHELL", f"/usr/bin/{shell}")
    (tmp_path / ".bashrc").write_text("alias ll='ls -l'")
    assert main(["--install-completion"]) == 0
    assert place in capsys.readouterr().out
    written = (tmp_path / place).read_text()
    assert f"_CELLWORTH_COMPLETE={shell}_" in written
    assert main(["--install-completion"]) == 0
    assert (tmp_path / place).read_text() == written
    assert (tmp_path / ".bashrc").read_text().startswith("alias ll='ls -l'")


def test_an_unknown_shell_is_named(monkeypatch, capsys):
    monkeypatch.setenv("SHELL", "/bin/tcsh")
    assert main(["--install-completion"]) == 2
    assert "your shell is tcsh" in capsys.readouterr().err
