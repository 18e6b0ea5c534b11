"""The members that a committee of completers may have, by name."""

from __future__ import annotations

from collections.abc import Sequence

from cellworth.complete import OptSpaceCompleter, SoftImputeCompleter
from cellworth.complete.committee import CommitteeCompleter, default_members
from cellworth.complete.completer import Completer

DEFAULT_COMMITTEE = ("LMaFit", "NNLS", "Gaussian")
"""The members of `cellworth.complete.committee.default_members`, by name and in their order."""

MEMBERS = (*DEFAULT_COMMITTEE, "SoftImpute", "OptSpace")
"""All names; the last two are completers as they come, which search their rank and take longer."""


def committee_of(names: Sequence[str]) -> CommitteeCompleter:
    """Return a committee of the members with these names, of `MEMBERS`."""
    members: dict[str, Completer] = dict(zip(DEFAULT_COMMITTEE, default_members(), strict=True))
    members |= {"SoftImpute": SoftImputeCompleter(), "OptSpace": OptSpaceCompleter()}
    return CommitteeCompleter([members[name] for name in names])
