"""The web application."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

from fastapi import FastAPI
from starlette.routing import BaseRoute, Mount
from starlette.staticfiles import StaticFiles

from cellworth import __version__
from cellworth.errors import ParameterError
from cellworth.report import SUMMARIES, summarise
from cellworth.web import error_responses, monitoring, pages
from cellworth.web.api import routers as api_routers
from cellworth.web.campaign_pool import CampaignPool
from cellworth.web.dependencies import OPEN_PATHS, admitted, role_of
from cellworth.web.file_jobs import FileJobs
from cellworth.web.jobs import JobQueue
from cellworth.web.middleware import ConditionalRequests, MessageLanguage
from cellworth.web.monitoring import Metrics, Observation
from cellworth.web.notifications import Notifications
from cellworth.web.security.guards import OwnOrigin, SafeHeaders, SizeLimit
from cellworth.web.security.tokens import Access
from cellworth.web.uploads import Uploads
from cellworth.web.webhooks import Webhooks, check_webhooks
from cellworth.web.worker_tasks import first_look, quick_status

LARGEST_UPLOAD = 50_000_000
"""In bytes."""
LARGEST_JSON = 2_000_000
"""In bytes, for everything that is not a file."""
_STATIC = Path(__file__).parent / "pages" / "static"


def create_app(
    store: str | Path,
    *,
    access: Access | None = None,
    largest_upload: int = LARGEST_UPLOAD,
    public_url: str | None = None,
    webhooks: Sequence[str] = (),
    webhook_secret: str | None = None,
) -> FastAPI:
    """Return the application that serves the campaigns of a store.

    Parameters
    ----------
    store : str or Path
        The address of the store; see `cellworth.campaign.stores.open_store`.
    access : Access, optional
        By default everyone may do everything, but only requests addressed to this machine's loopback names
        are answered.
    largest_upload : int
        Largest request with a file, in bytes; others have at most `LARGEST_JSON`.
    public_url : str, optional
        The address under which browsers know the server, if a proxy does not pass the ``Host`` on.
    webhooks : sequence of str
        Addresses that hear of each ask and answer; see `cellworth.web.webhooks`.
    webhook_secret : str, optional
        Signs what they hear; required with webhooks.

    Returns
    -------
    FastAPI
        Run it in one process, since results are kept in memory. Its worker process starts with the first
        computation and ends with the application.

    Examples
    --------
    >>> import tempfile
    >>> app = create_app(f"sqlite:///{tempfile.mkdtemp()}/study.db")
    >>> app.openapi()["info"]["title"]
    'cellworth'
    """
    access = Access.open_to_all() if access is None else access
    check_webhooks(webhooks, webhook_secret)
    app = FastAPI(
        title="cellworth",
        version=__version__,
        summary="Which missing cells of a table are worth paying for?",
        openapi_url=None,  # served by our own route, which requires a role
        docs_url=None,  # would load scripts from other hosts
        redoc_url=None,
        lifespan=_lifespan,
    )
    app.state.store = store
    app.state.access = access
    app.state.largest_upload = largest_upload
    app.state.public_url = public_url
    app.state.notifications = Notifications()
    app.state.metrics = Metrics()
    app.state.webhooks = (list(webhooks), webhook_secret or "")
    app.state.problem_page = pages.problem_page
    for router in [*api_routers, monitoring.router, *pages.routers]:
        app.router.routes.extend(
            admitted(route, min(LARGEST_JSON, largest_upload)) for route in router.routes
        )
    app.router.routes.append(Mount("/static", StaticFiles(directory=_STATIC), name="static"))
    check_roles(app.routes)
    error_responses.install(app)
    # The middleware added last sees a request first.
    app.add_middleware(MessageLanguage)
    app.add_middleware(SizeLimit, most=largest_upload)
    app.add_middleware(OwnOrigin, only_loopback=access.open, public=public_url)
    app.add_middleware(ConditionalRequests)
    app.add_middleware(SafeHeaders)
    app.add_middleware(Observation, metrics=app.state.metrics)
    return app


def check_roles(routes: Sequence[BaseRoute]) -> None:
    """Raise ParameterError if a route does not declare who may use it."""
    for route in routes:
        path = getattr(route, "path", "")
        if role_of(route) is None and not path.startswith(OPEN_PATHS):
            raise ParameterError(
                f"the route {path} must declare who may use it: dependencies=[require_role('read')]."
            )


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    notifications: Notifications = app.state.notifications
    pool = app.state.pool = CampaignPool(app.state.store, notifications)
    renewed = {what: partial(summarise, summary=summary) for what, summary in SUMMARIES.items()}
    looks = {
        "overview": partial(first_look, look=quick_status),
        "columns": partial(first_look, look=partial(summarise, summary=SUMMARIES["columns"])),
    }
    jobs = app.state.jobs = JobQueue(app.state.store, renewed, notifications, looks)
    jobs.start()
    file_queue = app.state.file_queue = JobQueue(app.state.store, {}, notifications)
    file_queue.start()
    app.state.files = FileJobs(file_queue)
    uploads = app.state.uploads = Uploads()
    urls, secret = app.state.webhooks
    hooks = Webhooks(urls, secret, pool, notifications)
    if urls:
        hooks.start()
    try:
        yield
    finally:
        notifications.close()
        await hooks.close()
        await file_queue.close()
        await jobs.close()
        await pool.close()
        await uploads.close()
