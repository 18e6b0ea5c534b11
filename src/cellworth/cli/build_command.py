"""Commands from functions: the annotations of a function's parameters say what may stand on the command line.

A parameter is ``Annotated[type, Option(...)]`` or ``Annotated[type, Argument(...)]``; the types are str, int,
float, bool (a flag), Path, datetime (a day), a StrEnum (one of its values), each of them with ``| None``, and
``list[str]`` (repeated). A parameter whose type is a dataclass stands for all its fields, so that commands
share options. The last paragraph of a docstring, which begins with "Example:", is the end of the help.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, is_dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints

import click

from cellworth.shown_numbers import in_english, people_write

Completion = Callable[[click.Context, str], list[str]]
"""Takes the context and the start of a word; returns the words that a shell may offer."""


@dataclass(frozen=True)
class Argument:
    """A word that is known by its place.

    Attributes
    ----------
    metavar, help : str
    autocompletion : callable, optional
    """

    metavar: str
    help: str
    autocompletion: Completion | None = None


@dataclass(frozen=True)
class Option:
    """A named option.

    Attributes
    ----------
    name : str
        As in ``--count``; by default that of the parameter.
    help : str
    metavar : str, optional
        What its value is called; by default named by its type.
    min, max : float, optional
        The range of a number.
    envvar : str, optional
        The variable of the environment that gives its value if the option is not there.
    autocompletion : callable, optional
    callback : callable, optional
        Takes the value, and returns it or raises `WrongUsage`.
    """

    name: str = ""
    help: str = ""
    metavar: str | None = None
    min: float | None = None
    max: float | None = None
    envvar: str | None = None
    autocompletion: Completion | None = None
    callback: Callable[[Any], Any] | None = None


class WrongUsage(click.UsageError):
    """Something on the command line that cannot be meant; the message says what was expected."""


def comma_hint(text: object) -> str:
    """Return how to write a number that has a decimal comma, as a sentence with a leading space, or "".

    >>> comma_hint("1.500,50")
    ' Write 1500.50.'
    """
    from cellworth.table.text_file import point_number

    number = point_number(text) if isinstance(text, str) and "," in text else None
    return "" if number is None else f" Write {number}."


class _Number(click.ParamType):  # type: ignore[type-arg] # it takes none in older versions
    """A number within limits; the messages say which."""

    def __init__(self, kind: type, low: float | None, high: float | None) -> None:
        self._kind, self._low, self._high = kind, low, high
        self.name = "integer" if kind is int else "number"

    @property
    def expected(self) -> str:
        noun = "a whole number" if self._kind is int else "a number"
        if self._low is not None and self._high is not None:
            return f"{noun} from {self._low:g} to {self._high:g}"
        return noun if self._low is None else f"{noun} of at least {self._low:g}"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            number = self._kind(value)
        except ValueError:
            number = None
        low = -math.inf if self._low is None else self._low
        high = math.inf if self._high is None else self._high
        if number is not None and low <= number <= high:
            return number
        return self.fail(f"expected {self.expected}; got {value!r}.{comma_hint(value)}", param, ctx)


def build_command(name: str, function: Callable[..., None], **settings: Any) -> click.Command:
    """Return the command that calls a function with what stands on the command line."""
    parameters: list[click.Parameter] = []
    bundles: dict[str, tuple[type, list[str]]] = {}
    hints = get_type_hints(function, include_extras=True)
    for each in inspect.signature(function).parameters.values():
        hint = hints[each.name]
        if is_dataclass(hint) and isinstance(hint, type):
            own = get_type_hints(hint, include_extras=True)
            shared = [field for field in fields(hint) if field.init]
            bundles[each.name] = hint, [field.name for field in shared]
            parameters += [_parameter(field.name, own[field.name], field.default) for field in shared]
        else:
            parameters.append(_parameter(each.name, hint, each.default))

    def call(**said: Any) -> None:
        made = {
            bundle: kind(**{field: said.pop(field) for field in names})
            for bundle, (kind, names) in bundles.items()
        }
        mark = next((bundle.decimal for bundle in made.values() if hasattr(bundle, "decimal")), "")
        with in_english() if said.get("as_json") else people_write(mark or "."):
            function(**said, **made)

    text, _, example = (inspect.getdoc(function) or "").partition("\n\nExample:")
    return click.Command(
        name,
        params=parameters,
        callback=call,
        help=text,
        epilog=f"Example: {' '.join(example.split())}",
        short_help=" ".join(text.partition("\n\n")[0].split()),
        context_settings={"help_option_names": ["-h", "--help"], **settings},
    )


def _parameter(name: str, hint: Any, default: Any) -> click.Parameter:
    annotation, said = get_args(hint)
    kind, repeated = _plain_type(annotation)
    required = default is inspect.Parameter.empty
    usual = str(default) if isinstance(default, StrEnum) else default
    shared: dict[str, Any] = {
        "required": required,
        "metavar": said.metavar,
        "shell_complete": _completion(said.autocompletion),
    }
    if not (required or repeated):
        shared["default"] = usual
    if isinstance(said, Argument):
        shared["metavar"] = said.metavar if required or said.metavar.startswith("[") else f"[{said.metavar}]"
        shared |= {"type": _click_type(kind), "nargs": -1 if repeated else 1}
        return _HelpedArgument([name], **shared, callback=_checked(kind, None, repeated), help=said.help)
    flag = {"is_flag": True} if kind is bool else {"type": _click_type(kind, said.min, said.max)}
    return click.Option(
        [said.name or f"--{name.replace('_', '-')}", name],
        **shared,
        **flag,
        multiple=repeated,
        envvar=said.envvar,
        show_envvar=said.envvar is not None,
        show_default=kind is not bool and default is not None and default != "",
        callback=_checked(kind, said.callback, repeated),
        help=said.help,
    )


class _HelpedArgument(click.Argument):
    """An argument that the help explains, too."""

    def __init__(self, *words: Any, help: str, **settings: Any) -> None:
        super().__init__(*words, **settings)
        self.help: str = help

    def get_help_record(self, ctx: click.Context) -> tuple[str, str]:
        return str(self.metavar), self.help


def _plain_type(annotation: Any) -> tuple[type, bool]:
    """Return the type of a value, and whether there may be several."""
    if isinstance(annotation, UnionType):
        (annotation,) = (each for each in get_args(annotation) if each is not NoneType)
    repeated = get_origin(annotation) is list
    return (get_args(annotation)[0] if repeated else annotation), repeated


def _click_type(kind: type, low: float | None = None, high: float | None = None) -> click.ParamType[Any]:
    if kind in (int, float):
        return _Number(kind, low, high)
    if kind is Path:
        return click.Path(path_type=Path)
    if kind is datetime:
        return click.DateTime(["%Y-%m-%d"])
    if issubclass(kind, StrEnum):
        return click.Choice([each.value for each in kind])
    return click.STRING


def _checked(kind: type, check: Callable[[Any], Any] | None, repeated: bool) -> Callable[..., Any]:
    """Return click's callback: it gives a value its type, and leaves the check to the option's own."""

    def called(ctx: click.Context, param: click.Parameter, value: Any) -> Any:
        if repeated:
            return list(value) if value else None
        if value is not None and issubclass(kind, StrEnum):
            value = kind(value)
        if check is None or value is None:
            return value
        try:
            return check(value)
        except WrongUsage as error:
            raise click.BadParameter(error.message, ctx, param) from None

    return called


def _completion(offer: Completion | None) -> Callable[..., Any] | None:
    if offer is None:
        return None
    found: Completion = offer

    def complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> Sequence[Any]:
        return found(ctx, incomplete)

    return complete
