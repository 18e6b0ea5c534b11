"""What routes ask for: the open campaigns, the job queue, who is there and what they may do, files.

Each route says who may use it, by ``dependencies=[require_role("answer")]``; an app with a route that does
not is refused when it is made, but for `OPEN_PATHS`. A form post also has ``Depends(check_csrf)``, and its
page a field ``csrf_token`` with ``{{ csrf_token }}`` in it.

`cellworth.web.pages` has ``routers``, a list of APIRouter whose own routes are complete (routers are not
nested: how FastAPI keeps nested ones differs between its versions), and may have ``async
problem_page(request, problem)``, which shows a problem to a browser.
"""

# Annotations are real ones here: FastAPI reads those of `RoleCheck.__call__`, and older versions cannot look
# up texts of a method.

from pathlib import Path as FilePath
from typing import Annotated, Any
from urllib.parse import unquote

from fastapi import Depends, HTTPException, Path, Request, UploadFile
from fastapi.templating import Jinja2Templates
from jinja2 import Environment, FileSystemLoader

from cellworth.table.files import FileBytes
from cellworth.web.campaign_pool import CampaignPool
from cellworth.web.jobs import JobQueue
from cellworth.web.security.sessions import csrf_token, remembered_who, session_of
from cellworth.web.security.tokens import Access, Identity, Role
from cellworth.web.wire_format import name_of, segment

OPEN_PATHS = ("/login", "/static", "/health")
"""Paths that begin like this need no role."""
WHO_HEADER = "cellworth-who"
LONGEST_FILE_NAME = 100


class SignInNeededError(HTTPException):
    """The request has no token, or a wrong one; pages redirect to the sign-in page."""

    def __init__(self, detail: str) -> None:
        super().__init__(401, detail, {"WWW-Authenticate": "Bearer"})


class RoleCheck:
    """Admits whoever has a role, or a higher one."""

    def __init__(self, role: Role) -> None:
        self.role = role

    async def __call__(self, request: Request) -> None:
        """Raise 401 or 403 unless the sender has the role."""
        identity = identity_of(request)
        if identity.role < self.role:
            has, needs = identity.role.name.lower(), self.role.name.lower()
            raise HTTPException(
                403, f"This needs the role {needs!r}; yours is {has!r}. Ask for a token with it."
            )


def require_role(role: str) -> Any:
    """Return the dependency of a route that needs a role: "read", "answer" or "manage"."""
    return Depends(RoleCheck(Role.named(role)))


def identity_of(request: Request) -> Identity:
    """Return who sends a request; 401 if a valid token is needed and there is none.

    On an open server it is the name in the header ``Cellworth-Who`` or in the page's cookie, both
    percent-encoded.
    """
    found: Identity | None = getattr(request.state, "identity", None)
    if found is None:
        found = request.state.identity = _identify(request)
    return found


async def campaign_name(name: Annotated[str, Path(description="The name of a campaign.")]) -> str:
    """Return the name of the campaign in a path; see `segment`."""
    return name_of(name)


async def row_name(row: Annotated[str, Path(description="The id of a row.")]) -> str:
    """Return the id of the row in a path; see `segment`."""
    return name_of(row)


# All of these are coroutines, though none waits: FastAPI runs plain functions in threads, each for itself.
async def _pool(request: Request) -> CampaignPool:
    pool: CampaignPool = request.app.state.pool
    return pool


async def _jobs(request: Request) -> JobQueue:
    jobs: JobQueue = request.app.state.jobs
    return jobs


async def _who(request: Request) -> str | None:
    return identity_of(request).who


async def _identity(request: Request) -> Identity:
    return identity_of(request)


PoolDep = Annotated[CampaignPool, Depends(_pool)]
JobsDep = Annotated[JobQueue, Depends(_jobs)]
IdentityDep = Annotated[Identity, Depends(_identity)]
Who = Annotated[str | None, Depends(_who)]
CampaignName = Annotated[str, Depends(campaign_name)]
RowName = Annotated[str, Depends(row_name)]


async def read_upload(upload: UploadFile, otherwise: str, most: int) -> FileBytes:
    """Read a file that was sent, into memory.

    Its name, ``otherwise`` if it has none, is only for its format and for messages. Unpacked it may have at
    most ``most`` bytes.
    """
    name = (upload.filename or otherwise).replace("\\", "/").rpartition("/")[2] or otherwise
    return FileBytes(name[-LONGEST_FILE_NAME:], await upload.read(), most)


def role_of(route: Any) -> Role | None:
    """Return the role that a route declares; None if it declares none."""
    dependencies = getattr(getattr(route, "dependant", None), "dependencies", ())
    roles = [each.call.role for each in dependencies if isinstance(each.call, RoleCheck)]
    return max(roles, default=None)


def _identify(request: Request) -> Identity:
    access: Access = request.app.state.access
    if access.open:
        named = unquote(request.headers.get(WHO_HEADER, "")).strip()
        return Identity(named or remembered_who(request), Role.MANAGE)
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        found = access.identify(token.strip())
        if found is None:
            raise SignInNeededError("The token is not known here. Check it, or ask for a new one.")
        return found
    found = session_of(request)
    if found is None:
        raise SignInNeededError("Sign in, or send a token as in Authorization: Bearer TOKEN.")
    return found


def _context(request: Request) -> dict[str, Any]:
    """Return what every template can use."""
    try:
        identity = identity_of(request)
    except HTTPException:  # the sign-in page
        identity = Identity(None, Role.READ)
    return {
        "csrf_token": csrf_token(request),
        "who": identity.who,
        "role": identity.role.name.lower(),
        "signed_in": identity.token is not None,
    }


_environment = Environment(
    loader=FileSystemLoader(FilePath(__file__).parent / "pages" / "templates"), autoescape=True
)
_environment.filters["segment"] = segment
templates = Jinja2Templates(env=_environment, context_processors=[_context])
