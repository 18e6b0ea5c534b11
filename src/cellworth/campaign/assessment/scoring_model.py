"""The model that a campaign is judged by: chosen on its own table, and again when much more is known.

What it is depends on the log alone, so that every process, report and page shows the same figures.
"""

from __future__ import annotations

from collections.abc import Sequence

from cellworth.campaign.assessment.assessment_cache import AssessmentCache
from cellworth.campaign.campaign_events import Extended
from cellworth.campaign.cell_events import Told
from cellworth.campaign.event_codec import Event
from cellworth.campaign.log import Log
from cellworth.campaign.table_codec import unpack
from cellworth.errors import DataError
from cellworth.model.cross_validation import rows_to_score
from cellworth.table import Table

GROWTH = 1.5
"""A model is chosen again when this many times the cells are known; from a fifth of them, four times."""
FOLDS = 3
TREES = "extra trees"


def choice_event(original: Table, events: Sequence[Event]) -> int:
    """Return the number of the event after which the model in use is chosen; 0 is the start. O(events)."""
    known = at_choice = int((~original.holes).sum())
    number = 0
    for event in events:
        if isinstance(event.content, Told):
            known += len(event.content.cells)
        elif isinstance(event.content, Extended):
            known += int((~unpack(event.content.table).holes).sum())
        if known >= GROWTH * max(at_choice, 1):
            at_choice, number = known, event.number
    return number


def choose_in_use(table: Table, seed: int) -> str:
    """Return the name of the model for a table with a target, `TREES`, a linear one, or the average of both.

    Costs 2 x `FOLDS` fits on at most 2,000 labelled rows. `Campaign.model` tries more candidates. A table
    with too few labels or cells to choose on gets the linear model.
    """
    from cellworth.model.candidates import candidate_named
    from cellworth.model.model_search import choose_model

    target = table.target
    assert target is not None
    is_number = target.is_number
    names = ["ridge regression" if is_number else "logistic regression", TREES]
    rows = rows_to_score(target.values, seed)
    try:
        return choose_model(
            table.encode(prior=True).X[rows],
            target.values[rows],
            is_number=is_number,
            candidates=[candidate_named(name, is_number=is_number) for name in names],
            folds=FOLDS,
            seed=seed,
            cell_of=table.layout.owner,
        ).name
    except DataError:
        return names[0]


def model_in_use(log: Log, name: str, seed: int, cache: AssessmentCache) -> str:
    """Return the name given or, for "auto", that of the model chosen on the table as of `choice_event`.

    O(events), and the cost of `choose_in_use` if the choice is not in the cache. ParameterError if there is
    no candidate of this name.
    """
    target = log.state.table().target
    if target is None:
        return TREES  # never scored
    if name == "auto":
        number = choice_event(log.original, list(log.events()))
        key = f"{number}, {seed}"
        if key not in cache.models:
            cache.models[key] = choose_in_use(next(log.tables([number])), seed)
        return cache.models[key]
    from cellworth.model.candidates import candidate_named

    return candidate_named(name, is_number=target.is_number).name
