"""The Pareto optimisation loop over sparse sets, on arrays only, compiled if numba is installed.

Costs and values are integers (int64), so that addition and subtraction are exact. A set is a sorted slice of
one array of candidate numbers. Candidates are numbered by row, then column, so the members of a row are
contiguous in a set.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cellworth.arrays import Float64Array, Int64Array

Sorted = NDArray[np.signedinteger[Any]]


class Problem(NamedTuple):
    """The cost and value of a set of the N candidates.

    A set costs the sum of ``own``, the largest ``fee`` per row and group, and ``visit`` per row. Its value is
    the sum over rows of the members' scores in decreasing order, the r-th times ``discount[r]``. ``row_end``
    and ``row_begin`` (N,) bound the candidates of a candidate's row. ``coupled`` is False if there are no
    fees, visits, discounts or limits per row. A set must cost less than ``limit`` and have at most ``most``
    members, at most ``per_row`` in a row.
    """

    own: Int64Array
    score: Int64Array
    fee: Int64Array
    group: Int64Array
    row_begin: Int64Array
    row_end: Int64Array
    discount: Float64Array
    visit: int
    per_row: int
    most: int
    limit: int
    coupled: bool
    crowded: bool


class ParetoArchive(NamedTuple):
    """Sets of which none is both cheaper and worth more than another, by increasing cost.

    ``cost`` and ``value`` increase strictly; set i is ``members[begin[i] : begin[i] + length[i]]``.
    ``used`` holds the number of sets and of entries of ``members`` in use. The first set is the empty one.
    """

    cost: Int64Array
    value: Int64Array
    begin: Int64Array
    length: Int64Array
    members: NDArray[np.int32]
    used: Int64Array


class Scratch(NamedTuple):
    """Working memory: the members of one row before and after, their scores, and fees paid by group."""

    before: Int64Array
    after: Int64Array
    scores: Int64Array
    paid: Int64Array


def first_not_below(values: Sorted, begin: int, end: int, value: int) -> int:
    """Return the first index in the sorted values[begin:end] that is not below ``value``, or end."""
    while begin < end:
        middle = (begin + end) >> 1
        if values[middle] < value:
            begin = middle + 1
        else:
            end = middle
    return begin


def toggle(
    source: Sorted, begin: int, end: int, flips: Sorted, lo: int, hi: int, out: Sorted, at: int
) -> int:
    """Write the sorted source[begin:end] with the sorted flips[lo:hi] added or removed; return its end."""
    while begin < end or lo < hi:
        if lo >= hi or (begin < end and source[begin] < flips[lo]):
            out[at] = source[begin]
            begin += 1
            at += 1
        elif begin >= end or flips[lo] < source[begin]:
            out[at] = flips[lo]
            lo += 1
            at += 1
        else:
            begin += 1
            lo += 1
    return at


def row_cost(problem: Problem, members: Int64Array, size: int, paid: Int64Array) -> int:
    """Return what the members of one row cost; ``paid`` is all 0 before and after."""
    if size == 0:
        return 0
    cost = problem.visit
    for i in range(size):
        c = members[i]
        cost += problem.own[c]
        g = problem.group[c]
        if problem.fee[c] > paid[g]:
            cost += problem.fee[c] - paid[g]
            paid[g] = problem.fee[c]
    for i in range(size):
        paid[problem.group[members[i]]] = 0
    return cost


def row_value(problem: Problem, members: Int64Array, size: int, scores: Int64Array) -> int:
    """Return what the members of one row are worth together."""
    value = 0
    if not problem.crowded:
        for i in range(size):
            value += problem.score[members[i]]
        return value
    for i in range(size):  # insertion sort, highest first: rows are short
        score = problem.score[members[i]]
        j = i
        while j > 0 and scores[j - 1] < score:
            scores[j] = scores[j - 1]
            j -= 1
        scores[j] = score
    for i in range(size):
        value += int(problem.discount[i] * scores[i])
    return value


def change(
    problem: Problem,
    archive: ParetoArchive,
    scratch: Scratch,
    parent: int,
    flips: Int64Array,
    lo: int,
    hi: int,
) -> tuple[int, int, bool]:
    """Return how flips[lo:hi] change the parent's cost and value, and whether row limits allow it."""
    cost, value = 0, 0
    begin = archive.begin[parent]
    end = begin + archive.length[parent]
    while lo < hi:
        c = flips[lo]
        at = first_not_below(archive.members, begin, end, problem.row_begin[c] if problem.coupled else c)
        if not problem.coupled:
            present = at < end and archive.members[at] == c
            cost += -problem.own[c] if present else problem.own[c]
            value += -problem.score[c] if present else problem.score[c]
            lo += 1
            continue
        size = 0
        while at < end and archive.members[at] < problem.row_end[c]:
            scratch.before[size] = archive.members[at]
            size += 1
            at += 1
        last = lo
        while last < hi and flips[last] < problem.row_end[c]:
            last += 1
        new = toggle(scratch.before, 0, size, flips, lo, last, scratch.after, 0)
        if new > problem.per_row:
            return 0, 0, False
        cost += row_cost(problem, scratch.after, new, scratch.paid)
        cost -= row_cost(problem, scratch.before, size, scratch.paid)
        value += row_value(problem, scratch.after, new, scratch.scores)
        value -= row_value(problem, scratch.before, size, scratch.scores)
        lo = last
    return cost, value, True


def insert(archive: ParetoArchive, lo: int, hi: int, cost: int, value: int, begin: int, length: int) -> None:
    """Replace the sets lo..hi-1 with a new set, or insert it before set lo if there are none."""
    count = archive.used[0]
    move = 1 - (hi - lo)
    if move != 0:
        archive.cost[hi + move : count + move] = archive.cost[hi:count].copy()
        archive.value[hi + move : count + move] = archive.value[hi:count].copy()
        archive.begin[hi + move : count + move] = archive.begin[hi:count].copy()
        archive.length[hi + move : count + move] = archive.length[hi:count].copy()
    archive.cost[lo] = cost
    archive.value[lo] = value
    archive.begin[lo] = begin
    archive.length[lo] = length
    archive.used[0] = count + move


def evolve(
    problem: Problem,
    archive: ParetoArchive,
    scratch: Scratch,
    choice: Float64Array,
    starts: Int64Array,
    flips: Int64Array,
    first: int,
) -> int:
    """Run the iterations from ``first`` on; return the next one to run, earlier if memory ran out.

    Iteration t takes the archived set number ``choice[t]`` (in [0, 1)) times the size of the archive and
    flips the candidates ``flips[starts[t] : starts[t + 1]]``, sorted and distinct.
    """
    for t in range(first, len(choice)):
        lo, hi = starts[t], starts[t + 1]
        if lo == hi:
            continue  # a copy of its parent would replace the parent
        count, room = archive.used[0], archive.used[1]
        parent = int(choice[t] * count)
        begin, length = archive.begin[parent], archive.length[parent]
        if count == len(archive.cost) or room + length + (hi - lo) > len(archive.members):
            return t
        d_cost, d_value, allowed = change(problem, archive, scratch, parent, flips, lo, hi)
        cost = archive.cost[parent] + d_cost
        if not allowed or cost >= problem.limit or cost == 0:
            continue
        # The empty set is archived below any value; as a parent it is worth 0.
        value = (archive.value[parent] if parent > 0 else 0) + d_value
        after = first_not_below(archive.cost, 0, count, cost + 1)  # sets before it cost no more
        if archive.value[after - 1] > value:
            continue
        if archive.value[after - 1] == value and archive.cost[after - 1] < cost:
            continue
        end = toggle(archive.members, begin, begin + length, flips, lo, hi, archive.members, room)
        if end - room > problem.most:
            continue
        at = after - 1 if archive.cost[after - 1] == cost else after
        beaten = first_not_below(archive.value, at, count, value + 1)
        insert(archive, at, beaten, cost, value, room, end - room)
        archive.used[1] = end
    return len(choice)


PARTS = (first_not_below, toggle, row_cost, row_value, change, insert)


@functools.cache
def compiled(kernel: Callable[..., Any], *parts: Callable[..., Any]) -> Callable[..., Any]:
    """Return a kernel compiled together with the functions it calls, or unchanged without numba.

    No floating-point operation is reordered, so both give bitwise identical results.
    """
    try:
        numba = importlib.import_module("numba")
        extending = importlib.import_module("numba.extending")
    except ImportError:
        return kernel
    for part in parts:
        extending.register_jitable(part)
    return numba.njit(cache=True)(kernel)
