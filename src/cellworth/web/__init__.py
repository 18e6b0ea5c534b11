"""REST API and web pages for the campaigns of a store.

Everything here can also be done in a notebook: each request makes one call to the library's public API.
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

_SERVER = ("fastapi", "httpx", "jinja2", "plotly", "python_multipart", "segno")
# Where each name is defined, and the packages its module needs.
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
