"""What routes depend on: the campaign pool, the job queue, the sender's identity and role, and uploads.

Each route declares who may use it with ``dependencies=[require_role("answer")]``; except for `OPEN_PATHS`, an
app with a route that does not is rejected on creation. A form post also needs ``Depends(check_csrf)``, and
its form a field ``csrf_token`` set to ``{{ csrf_token }}``.

`cellworth.web.pages` provides ``routers``, a list of flat APIRouters (FastAPI versions differ in how they
store nested ones), and optionally ``async problem_page(request, problem)``, which shows a problem in a
browser.
"""

# No `from __future__ import annotations` here: FastAPI reads the annotations of `RoleCheck.__call__`, and
# older versions cannot resolve a method's string annotations.

import copy
from typing import Annotated, Any
from urllib.parse import unquote

from fastapi import Depends, HTTPException, Path, Request, UploadFile, params

from cellworth.messages import shorten
from cellworth.table.files import FileBytes
from cellworth.web.campaign_pool import CampaignPool
from cellworth.web.file_jobs import FileJobs
from cellworth.web.jobs import JobQueue
from cellworth.web.security.guards import Admission
from cellworth.web.security.sessions import remembered_who, session_of
from cellworth.web.security.tokens import Access, Identity, Role
from cellworth.web.uploads import Uploads
from cellworth.web.url_paths import name_of

OPEN_PATHS = ("/login", "/static", "/health")
"""Paths with these prefixes need no role."""
WHO_HEADER = "cellworth-who"
LONGEST_FILE_NAME = 100


class SignInNeededError(HTTPException):
    """The request has no token or an invalid one; pages redirect to the sign-in page."""

    def __init__(self, detail: str) -> None:
        super().__init__(401, detail, {"WWW-Authenticate": "Bearer"})


class RoleCheck:
    """Admits senders with a given role or a higher one; programs only with parameters that there are."""

    def __init__(self, role: Role, parameters: set[str] | None = None) -> None:
        self.role = role
        self._parameters = parameters

    async def __call__(self, request: Request) -> None:
        """Raise 401 or 403 unless the sender has the role, 422 if a parameter is unknown."""
        identity = identity_of(request)
        if identity.role < self.role:
            has, needs = identity.role.name.lower(), self.role.name.lower()
            raise HTTPException(
                403, f"This needs the role {needs!r}; yours is {has!r}. Ask for a token with that role."
            )
        for name in request.query_params:
            if self._parameters is not None and name not in self._parameters:
                known = ", ".join(sorted(self._parameters)) or "none"
                raise HTTPException(422, f"There is no parameter {shorten(name)} here; there are: {known}.")


def require_role(role: str) -> Any:
    """Return the dependency of a route that needs a role: "read", "answer" or "manage"."""
    return Depends(RoleCheck(Role.named(role)))


def identity_of(request: Request) -> Identity:
    """Return who sent a request; raise 401 if a valid token is required and missing.

    On an open server, the name comes from the ``Cellworth-Who`` header or the page's cookie, both
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


# These are coroutines although none awaits: FastAPI would run each plain function in its own thread.
async def _pool(request: Request) -> CampaignPool:
    pool: CampaignPool = request.app.state.pool
    return pool


async def _jobs(request: Request) -> JobQueue:
    jobs: JobQueue = request.app.state.jobs
    return jobs


async def _files(request: Request) -> FileJobs:
    files: FileJobs = request.app.state.files
    return files


async def _uploads(request: Request) -> Uploads:
    uploads: Uploads = request.app.state.uploads
    return uploads


async def _who(request: Request) -> str | None:
    return identity_of(request).who


async def _identity(request: Request) -> Identity:
    return identity_of(request)


PoolDep = Annotated[CampaignPool, Depends(_pool)]
JobsDep = Annotated[JobQueue, Depends(_jobs)]
FilesDep = Annotated[FileJobs, Depends(_files)]
UploadsDep = Annotated[Uploads, Depends(_uploads)]
IdentityDep = Annotated[Identity, Depends(_identity)]
Who = Annotated[str | None, Depends(_who)]
CampaignName = Annotated[str, Depends(campaign_name)]
RowName = Annotated[str, Depends(row_name)]


async def read_upload(upload: UploadFile, otherwise: str, most: int) -> FileBytes:
    """Read an uploaded file into memory.

    Its name, ``otherwise`` if it has none, only determines the format and appears in messages. The
    decompressed file may have at most ``most`` bytes.
    """
    name = (upload.filename or otherwise).replace("\\", "/").rpartition("/")[2] or otherwise
    return FileBytes(name[-LONGEST_FILE_NAME:], await upload.read(), most)


def role_of(route: Any) -> Role | None:
    """Return the role that a route declares; None if it declares none."""
    dependencies = getattr(getattr(route, "dependant", None), "dependencies", ())
    roles = [each.call.role for each in dependencies if isinstance(each.call, RoleCheck)]
    return max(roles, default=None)


def admitted(route: Any, most: int) -> Any:
    """Return a route that checks the sender's role before it reads a body.

    The body may have ``most`` bytes, unless the route takes files.
    """
    role = role_of(route)
    if role is None:
        return route
    found = copy.copy(route)  # routers belong to their modules, and serve other applications, too
    takes_files = any(isinstance(each.field_info, params.File) for each in route.dependant.body_params)
    check = RoleCheck(role, _query_names(route.dependant) if route.path.startswith("/api/") else None)
    found.app = Admission(route.app, check, most=None if takes_files else most)
    return found


def _query_names(dependant: Any) -> set[str]:
    """Return the query parameters that a route and what it depends on take."""
    own = {each.alias for each in dependant.query_params}
    return own.union(*map(_query_names, dependant.dependencies))


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
