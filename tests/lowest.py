"""Print the lower bounds of pyproject.toml as exact versions, one per line, for pip's --constraint."""

import re
import tomllib
from pathlib import Path

EXTRAS = ("parquet", "excel", "plot", "fast", "postgres", "web", "dask")


def lower_bounds(text: str) -> list[str]:
    """Return "name==version" for each requirement "name>=version" of the core and the tested extras."""
    project = tomllib.loads(text)["project"]
    extras = [r for extra in EXTRAS for r in project["optional-dependencies"][extra]]
    found = [re.match(r"([\w.-]+)(?:\[.*\])?>=([\w.]+)", r) for r in [*project["dependencies"], *extras]]
    return [f"{match[1]}=={match[2]}" for match in found if match]


if __name__ == "__main__":
    print("\n".join(lower_bounds((Path(__file__).parents[1] / "pyproject.toml").read_text())))
