"""Run the study of the next cell: python -m studies.next_cell; see PROTOCOL.md."""

from __future__ import annotations

import argparse
from pathlib import Path

from studies.money.kept_cases import CaseFolder, start_tasks
from studies.next_cell.report import write_page
from studies.next_cell.row_policies import HALVES, OBSERVED
from studies.next_cell.runs import run, run_learned

PAGE = Path("docs/results/next-cell.md")


def main() -> None:
    """Run what is not kept yet, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=Path("build/next-cell"), help="finished runs")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--tables", nargs="*", help="by default all of the protocol")
    parser.add_argument("--learned", action="store_true", help="run the learned policy, too; needs torch")
    parser.add_argument("--only-kept", action="store_true", help="write the page from finished runs")
    said = parser.parse_args()
    wanted = said.tables or [name for half in HALVES.values() for name in half]
    starts = [(name, OBSERVED, seed) for seed in range(said.seeds) for name in wanted]
    tasks, learned = start_tasks("next", starts), start_tasks("learned", starts)
    kept = CaseFolder(said.folder, said.jobs, said.only_kept).records("next cell", tasks, run)
    no_torch = said.only_kept or not said.learned
    also = CaseFolder(said.folder, said.jobs, no_torch).records("learned policy", learned, run_learned)
    write_page(PAGE, tasks, kept, also)


if __name__ == "__main__":
    main()
