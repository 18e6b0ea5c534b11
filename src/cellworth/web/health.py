"""Whether the server is there."""

from fastapi import APIRouter

router = APIRouter(include_in_schema=False)


@router.get("/health")
async def health() -> dict[str, str]:
    """Say that the server answers; nothing of what is in it."""
    return {"status": "ok"}
