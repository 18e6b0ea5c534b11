"""Run the pages of the gallery, write what they print into them, and draw their pictures: `make gallery`.

A page draws one figure with matplotlib; it is saved beside the page, under its name. Names of pages as
arguments draw those alone.
"""

import sys
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

from matplotlib import pyplot as plt

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.docs.pages import blocks, refresh

HERE = Path(__file__).parent
STYLE = {
    "figure.figsize": (7.2, 4.0),
    "figure.dpi": 150,
    "figure.constrained_layout.use": True,
    "font.size": 11,
    "axes.titlesize": 12.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.titlepad": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#868e96",
    "axes.labelcolor": "#343a40",
    "axes.prop_cycle": mpl.cycler(color=["#0b7285", "#e8590c", "#868e96", "#5f3dc4", "#2b8a3e"]),
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e9ecef",
    "xtick.color": "#495057",
    "ytick.color": "#495057",
    "legend.frameon": False,
    "savefig.facecolor": "white",
}


def gallery() -> list[Path]:
    """Return the pages that draw a picture."""
    return [page for page in sorted(HERE.glob("*.md")) if blocks(page.read_text("utf-8"))]


def draw(page: Path) -> None:
    """Run a page, and write its output and its picture."""
    plt.close("all")
    with mpl.rc_context(STYLE):
        refresh(page)
        (number,) = plt.get_fignums()
        plt.figure(number).savefig(page.with_suffix(".png"), metadata={"Software": None})


if __name__ == "__main__":
    wanted = sys.argv[1:]
    for each in gallery():
        if not wanted or each.stem in wanted:
            draw(each)
            print(each.with_suffix(".png").name, flush=True)
