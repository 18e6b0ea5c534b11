"""A file of answers told to a campaign, or checked beforehand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cellworth.campaign.answer_file import FileAnswer, read_answers
from cellworth.campaign.answers import as_answers, told
from cellworth.campaign.campaign import Campaign
from cellworth.campaign.view import CampaignView
from cellworth.errors import (
    MOST_WRONG_LINES,
    ConflictError,
    ConflictingAnswersError,
    DataError,
    WrongAnswersError,
    WrongLine,
)
from cellworth.table.files import AnyFile


@dataclass(frozen=True)
class Told:
    """What became of a file of answers.

    Attributes
    ----------
    new : int
        Answers that were recorded.
    known : int
        Answers that were known before, with the same value.
    blank : int
        Lines without a value: not answered yet.
    """

    new: int
    known: int
    blank: int


@dataclass(frozen=True)
class Checked:
    """What would become of a file of answers.

    Attributes
    ----------
    new : list of FileAnswer
        Lines that would be recorded, the first of each cell.
    known, blank : int
        As in `Told`.
    """

    new: list[FileAnswer]
    known: int
    blank: int


def tell_file(
    campaign: Campaign,
    path: AnyFile,
    *,
    who: str | None = None,
    key: str | None = None,
    unsolicited: bool = False,
    encoding: str | None = None,
) -> Told:
    """Record the answers of a file: all of them or, if one line is wrong, none; O(n + p + lines).

    The keywords are those of `Campaign.tell` and `read_answers`. The same file once more is no error.
    `check_file` says beforehand what would become of it.

    Raises
    ------
    WrongAnswersError
        As in `read_answers`, and if cells were never asked for.
    ConflictingAnswersError
        If the only thing wrong is that other values are known.
    """
    lines = read_answers(path, campaign.table, encoding=encoding)
    given = [answer for answer in lines if answer.value is not None]
    triples = [(answer.row, answer.column, answer.value) for answer in given]
    cells = {answer[:2] for answer in triples}
    try:
        new = campaign.tell(triples, who=who, key=key, unsolicited=unsolicited)
    except (DataError, ConflictError):
        _raise_by_line(campaign, path, given, unsolicited)
        raise  # it is no line that is wrong, but the key or the store
    return Told(new, len(cells) - new, len(lines) - len(given))


def check_file(campaign: CampaignView, path: AnyFile, *, encoding: str | None = None) -> Checked:
    """Say what `tell_file` would do with a file, or raise what it would raise; nothing is recorded."""
    lines = read_answers(path, campaign.table, encoding=encoding)
    given = [answer for answer in lines if answer.value is not None]
    _raise_by_line(campaign, path, given, unsolicited=False)
    state = campaign._log.state
    triples = [(answer.row, answer.column, answer.value) for answer in given]
    found = told(state, as_answers(state, triples), unsolicited=False, price=None)
    recorded = set() if found is None else {(row, column) for row, column, *_ in found["cells"]}
    first = {answer[1:3]: answer for answer in reversed(given)}
    new = [answer for answer in given if answer[1:3] in recorded and first[answer[1:3]] is answer]
    return Checked(new, len(first) - len(new), len(lines) - len(given))


def _raise_by_line(
    campaign: CampaignView, path: AnyFile, answers: Sequence[FileAnswer], unsolicited: bool
) -> None:
    """Raise with all lines that the campaign does not take, if it is a line that is at fault."""
    state = campaign._log.state
    problems: list[WrongLine] = []
    all_conflicts = True
    for line, *triple in answers:
        try:
            told(state, as_answers(state, [triple]), unsolicited=unsolicited, price=None)
        except ConflictError as error:
            problems.append(WrongLine(line, "value", str(error)))
        except DataError as error:
            problems.append(WrongLine(line, "row", str(error)))
            all_conflicts = False
        if len(problems) == MOST_WRONG_LINES:
            break
    if problems:
        raise (ConflictingAnswersError if all_conflicts else WrongAnswersError)(path, problems) from None
