"""REST and pages over the campaigns of a store.

Nothing is computed here that a notebook could not: each request makes one public call of the library.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from cellworth.optional_packages import require

if TYPE_CHECKING:
    from cellworth.web.app import create_app
    from cellworth.web.client import Client
    from cellworth.web.server import serve

__all__ = ["Client", "create_app", "serve"]

_SERVER = ("fastapi", "jinja2", "plotly", "python_multipart")
# Where each name is, and the packages that its module needs.
_HOMES: dict[str, tuple[str, tuple[str, ...]]] = {
    "Client": ("cellworth.web.client", ("httpx",)),
    "create_app": ("cellworth.web.app", _SERVER),
    "serve": ("cellworth.web.server", ("uvicorn", *_SERVER)),
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'cellworth.web' has no attribute {name!r}")
    module, needed = _HOMES[name]
    for package in needed:
        require(package)
    return getattr(importlib.import_module(module), name)
