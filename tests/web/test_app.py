"""The application is put together of routes that say who may use them."""

import pytest

from cellworth.errors import ParameterError
from cellworth.web.app import check_roles


def test_an_app_with_a_route_that_nobody_guards_is_refused(http):
    from fastapi import APIRouter

    router = APIRouter()

    @router.get("/secret")
    async def secret():
        return "open"

    with pytest.raises(ParameterError, match="/secret must declare who may use it"):
        check_roles(router.routes)
    check_roles(http.app.routes)
