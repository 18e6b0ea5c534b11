"""How often true values are questioned: columns of public tables, split at random into known and told values.

Run it with ``python -m studies.questioned``; it prints the table of docs/explanation/questioned-answers.md.
"""

from __future__ import annotations

import numpy as np

from cellworth.datasets import load
from cellworth.datasets.tables import PAPER_NAMES, TURNEY_NAMES
from cellworth.table import Table
from cellworth.table.seen_values import seen_in

REPEATS = 10
KNOWN = (3, 5, 10, 20, 50, 100, 500, None)


def share_questioned(tables: list[Table], n: int | None, seed: int = 0) -> tuple[int, int]:
    """Return how many true values are questioned, and of how many; n of a column are known, None for half."""
    rng = np.random.default_rng(seed)
    asked = total = 0
    for table in tables:
        for column, values in [*zip(table.columns, table.values.T, strict=True)] * REPEATS:
            dealt = rng.permutation(values[~np.isnan(values)])
            known, true = np.split(dealt, [n or len(dealt) // 2])
            seen = seen_in(column, known) if len(true) else None
            if seen is not None:
                asked += int(((true < seen.least) | (true > seen.most)).sum())
                total += len(true)
    return asked, total


def main() -> None:
    """Print the table."""
    tables = [load(name)[0] for name in (*PAPER_NAMES, *TURNEY_NAMES)]
    print("| known in the column | true values | questioned |\n|---|---|---|")
    for n in KNOWN:
        asked, total = share_questioned(tables, n)
        print(f"| {n or 'half'} | {total:,} | {100 * asked / total:.4f} % |")


if __name__ == "__main__":
    main()
