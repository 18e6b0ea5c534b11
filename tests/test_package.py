import subprocess
import sys

import cellworth

HEAVY = ["matplotlib", "plotly", "dask", "distributed", "sqlalchemy", "fastapi", "click", "numba", "polars"]


def test_every_public_name_is_there_and_described():
    for name in cellworth.__all__:
        assert getattr(cellworth, name).__doc__


def test_importing_loads_nothing_heavy():
    """scikit-learn itself loads pandas, pyarrow and rich where it finds them; everything else is ours."""
    code = "import cellworth, sys; cellworth.simulation, cellworth.AutoCompleter;"
    code += f"print([m for m in {HEAVY!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_parts_and_names_are_found_without_importing_them_first():
    code = (
        "import cellworth; print(cellworth.strategy.names()[0], cellworth.Prices.same(1)); cellworth.nothing"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["afasmc", "Prices.same(1.0)"]
    assert "no attribute 'nothing'" in done.stderr
