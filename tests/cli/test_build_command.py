"""Commands from functions: types, limits, shared options, and what a wrong word is answered with."""

import shlex
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import click
import pytest

from cellworth.cli.build_command import Argument, Option, WrongUsage, build_command


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


@dataclass(frozen=True)
class Shared:
    store: Annotated[str, Option(metavar="URL", help="Where.", envvar="A_STORE")] = "here"
    marks: Annotated[list[str] | None, Option("--mark", help="Marks.")] = None


def even(value):
    if value % 2:
        raise WrongUsage(f"expected an even number; got {value}.")
    return value


def paint(
    *,
    place: Annotated[Path, Argument(metavar="PLACE", help="Where to paint.")],
    names: Annotated[list[str] | None, Argument(metavar="[NAME]...", help="Whom.")] = None,
    colour: Annotated[Colour, Option(help="Which.")] = Colour.RED,
    count: Annotated[int | None, Option("--times", min=1, max=8, help="How often.", callback=even)] = None,
    width: Annotated[float, Option(min=0, help="How wide.")] = 1.5,
    loud: Annotated[bool, Option("--loud", help="Say so.")] = False,
    day: Annotated[datetime | None, Option(help="When.")] = None,
    shared: Shared,
) -> None:
    """Paint something.

    More about it.

    Example: paint wall --times 2
    """
    SAID.update(locals())


SAID = {}


@pytest.fixture
def called():
    def call(*words):
        SAID.clear()
        build_command("paint", paint).main(list(words), "paint", standalone_mode=False)
        return dict(SAID)

    return call


def test_values_have_their_types_and_shared_options_come_together(called, monkeypatch):
    usual = {"names": None, "colour": Colour.RED, "count": None, "width": 1.5, "loud": False, "day": None}
    assert called("wall") == {"place": Path("wall"), "shared": Shared(), **usual}
    words = shlex.split(
        "wall a b --colour blue --times 4 --width 2 --loud --day 2031-12-31 --mark ? --mark -"
    )
    assert called(*words, "--store", "there") == {
        "place": Path("wall"),
        "names": ["a", "b"],
        "colour": Colour.BLUE,
        "count": 4,
        "width": 2.0,
        "loud": True,
        "day": datetime(2031, 12, 31),
        "shared": Shared("there", ["?", "-"]),
    }
    monkeypatch.setenv("A_STORE", "from the environment")
    assert called("wall")["shared"].store == "from the environment"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("wall --times 0", "expected a whole number from 1 to 8; got '0'."),
        ("wall --times 1.5", "expected a whole number from 1 to 8; got '1.5'."),
        ("wall --times 3", "expected an even number; got 3."),
        ("wall --width -1", "expected a number of at least 0; got '-1'."),
        ("wall --width nan", "expected a number of at least 0; got 'nan'."),
        ("wall --width 1,5", "expected a number of at least 0; got '1,5'. Write 1.5."),
        ("wall --colour pink", "'pink' is not one of 'red', 'blue'."),
    ],
)
def test_a_wrong_word_is_answered_with_what_was_expected(called, words, message):
    with pytest.raises(click.BadParameter) as caught:
        called(*words.split())
    assert caught.value.message == message


def test_what_is_needed_is_asked_for(called):
    with pytest.raises(click.MissingParameter) as caught:
        called("--loud")
    assert "PLACE" in caught.value.format_message()


def test_the_help_explains_arguments_and_options_and_ends_with_the_example(capsys):
    build_command("paint", paint).main(["--help"], "paint", standalone_mode=False)
    shown = capsys.readouterr().out
    for part in ("paint [OPTIONS] PLACE [NAME]...", "Where to paint.", "[default: red]", "A_STORE", "Marks."):
        assert part in shown
    assert shown.endswith("Example: paint wall --times 2\n")
    assert build_command("paint", paint).short_help == "Paint something."
