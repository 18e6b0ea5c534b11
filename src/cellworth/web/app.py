"""The web application put together."""

from __future__ import annotations

import importlib.util
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from fastapi import APIRouter, FastAPI
from starlette.routing import BaseRoute, Mount
from starlette.staticfiles import StaticFiles

from cellworth import __version__
from cellworth.errors import ParameterError
from cellworth.web import problems
from cellworth.web.api import routers as api_routers
from cellworth.web.background import Background
from cellworth.web.dependencies import OPEN, role_of
from cellworth.web.desk import Desk
from cellworth.web.events import router as events_router
from cellworth.web.findings import FINDINGS
from cellworth.web.health import router as health_router
from cellworth.web.news import News
from cellworth.web.security.access import Access
from cellworth.web.security.guards import OwnOrigin, SizeLimit
from cellworth.web.security.headers import SafeHeaders

LARGEST_UPLOAD = 50_000_000
"""Bytes."""
_STATIC = Path(__file__).parent / "pages" / "static"


def create_app(
    store: str | Path, *, access: Access | None = None, largest_upload: int = LARGEST_UPLOAD
) -> FastAPI:
    """Return the application that serves the campaigns of a store.

    Parameters
    ----------
    store : str or Path
        The address of the store; see `cellworth.campaign.stores.open_store`.
    access : Access, optional
        By default everybody may do everything, and only requests to the names of this machine are answered.
    largest_upload : int
        Bytes that a request may have at most.

    Returns
    -------
    FastAPI
        To be run by one process, since what is computed is kept in memory. Its worker process starts with
        the first computation and ends with the application.

    Examples
    --------
    >>> import tempfile
    >>> app = create_app(f"sqlite:///{tempfile.mkdtemp()}/study.db")
    >>> app.openapi()["info"]["title"]
    'cellworth'
    """
    access = Access.open_to_all() if access is None else access
    app = FastAPI(
        title="cellworth",
        version=__version__,
        summary="Which missing cells of a table are worth paying for?",
        openapi_url=None,  # served by a route of its own, which asks for a role
        docs_url=None,  # would fetch scripts from elsewhere
        redoc_url=None,
        lifespan=_lifespan,
    )
    app.state.store = store
    app.state.access = access
    app.state.largest_upload = largest_upload
    app.state.news = News()
    for router in [*api_routers, events_router, health_router, *_page_routers(app)]:
        app.router.routes.extend(router.routes)
    app.router.routes.extend(_static_routes())
    check_roles(app.routes)
    problems.install(app)
    # The last one added is the first that sees a request.
    app.add_middleware(SizeLimit, most=largest_upload)
    app.add_middleware(OwnOrigin, only_loopback=access.open)
    app.add_middleware(SafeHeaders)
    return app


def check_roles(routes: Sequence[BaseRoute]) -> None:
    """Refuse an application in which a route says nothing of who may use it."""
    for route in routes:
        path = getattr(route, "path", "")
        if role_of(route) is None and not path.startswith(OPEN):
            raise ParameterError(
                f"the route {path} must say who may use it: dependencies=[require_role('read')]."
            )


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    news: News = app.state.news
    desk = app.state.desk = Desk(app.state.store, news)
    background = app.state.background = Background(app.state.store, FINDINGS, news)
    background.start()
    try:
        yield
    finally:
        news.close()
        await background.close()
        await desk.close()


def _page_routers(app: FastAPI) -> list[APIRouter]:
    if importlib.util.find_spec("cellworth.web.pages") is None:
        return []
    from cellworth.web import pages

    app.state.problem_page = getattr(pages, "problem_page", None)
    return list(getattr(pages, "routers", ()))


def _static_routes() -> list[BaseRoute]:
    return [Mount("/static", StaticFiles(directory=_STATIC), name="static")] if _STATIC.is_dir() else []
