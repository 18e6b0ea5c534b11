"""Optional packages, imported only when needed."""

from __future__ import annotations

import importlib
from types import ModuleType

from cellworth.errors import MissingDependencyError

_INSTALL = {
    "pyarrow": '"cellworth[parquet]"',
    "pandas": '"cellworth[pandas]"',
    "openpyxl": '"cellworth[excel]"',
    "matplotlib": '"cellworth[plot]"',
    "psycopg": '"cellworth[postgres]"',
    **dict.fromkeys(
        ("fastapi", "uvicorn", "jinja2", "plotly", "python_multipart", "httpx", "segno"), '"cellworth[web]"'
    ),
    **dict.fromkeys(("dask", "distributed", "zarr"), '"cellworth[dask]"'),
}


def require(module: str) -> ModuleType:
    """Import an optional package; if it is missing, MissingDependencyError says how to install it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise MissingDependencyError(
            f"This needs the package {package}, which is not installed. "
            f"Install it with: pip install {_INSTALL.get(package, package)}"
        ) from error
