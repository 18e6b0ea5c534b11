"""Files that are sent: read in memory, under the sender's name for them in messages only."""

from __future__ import annotations

from fastapi import UploadFile

from cellworth.table.files import FileBytes

LONGEST_NAME = 100


async def content_of(upload: UploadFile, otherwise: str, most: int) -> FileBytes:
    """Read a file that was sent, into memory. Its name is for its format and for messages only.

    Unpacked it may have at most so many bytes.
    """
    name = (upload.filename or otherwise).replace("\\", "/").rpartition("/")[2] or otherwise
    return FileBytes(name[-LONGEST_NAME:], await upload.read(), most)
