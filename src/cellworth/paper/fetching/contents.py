"""From the files of the archive to the contents that are kept: bytes in, bytes out.

A content is known by its size and hash, so each of these functions has one right answer per file.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import zlib
from dataclasses import dataclass

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"

_IMAGE_COLUMNS = (
    b"REGION-CENTROID-COL,REGION-CENTROID-ROW,REGION-PIXEL-COUNT,SHORT-LINE-DENSITY-5,SHORT-LINE-DENSITY-2,"
    b"VEDGE-MEAN,VEDGE-SD,HEDGE-MEAN,HEDGE-SD,INTENSITY-MEAN,RAWRED-MEAN,RAWBLUE-MEAN,RAWGREEN-MEAN,"
    b"EXRED-MEAN,EXBLUE-MEAN,EXGREEN-MEAN,VALUE-MEAN,SATURATION-MEAN,HUE-MEAN"
).split(b",")
_CONSTANT_COLUMN = _IMAGE_COLUMNS.index(b"REGION-PIXEL-COUNT")
_IMAGE_LABELS = {
    b"BRICKFACE": b"1",
    b"SKY": b"1",
    b"FOLIAGE": b"1",
    b"PATH": b"1",
    b"CEMENT": b"-1",
    b"WINDOW": b"-1",
    b"GRASS": b"-1",
}


@dataclass(frozen=True)
class Fingerprint:
    """The number of bytes and the sha256 of a file or of its content.

    Examples
    --------
    >>> print(Fingerprint.of(b"abc"))
    3 bytes with sha256 ba7816bf8f01...
    """

    n_bytes: int
    sha256: str

    @classmethod
    def of(cls, data: bytes) -> Fingerprint:
        """Return the fingerprint of some bytes."""
        return cls(len(data), hashlib.sha256(data).hexdigest())

    def __str__(self) -> str:
        return f"{self.n_bytes:,} bytes with sha256 {self.sha256[:12]}..."


def unix_lines(raw: bytes) -> bytes:
    """Return the lines that are not blank, without blanks at their ends, each ended by LF.

    Copies of one table differ in line ends, blank lines and a byte order mark, and in nothing else.
    """
    return _joined(raw, b"\n")


def dos_lines(raw: bytes) -> bytes:
    """Return what `unix_lines` does, with lines ended by CR LF."""
    return _joined(raw, b"\r\n")


def _joined(raw: bytes, line_end: bytes) -> bytes:
    return b"".join(line + line_end for line in _lines(raw))


def _lines(raw: bytes) -> list[bytes]:
    lines = (line.rstrip() for line in raw.removeprefix(_BYTE_ORDER_MARK).splitlines())
    return [line for line in lines if line]


def image_table(raw: bytes) -> bytes:
    r"""Make the paper's image table, 2086 x 18, from the 2310 rows of UCI's image segmentation.

    Parameters
    ----------
    raw : bytes
        The lines of segmentation.data, then those of segmentation.test: a class, then 19 numbers. Other
        lines, such as headings, are passed over.

    Returns
    -------
    bytes
        A CSV file with a header: the 18 features that are not constant, in the units of the source, the
        class, and the label y, 1 or -1. Of equal rows the first is kept. The seven classes are grouped as in
        the IDA benchmark "image": cement, window and grass against the rest.

    Examples
    --------
    >>> rows = "GRASS" + ",1.0" * 19 + "\n" + "SKY" + ",2.0" * 19 + "\n" + "GRASS" + ",1.0" * 19 + "\n"
    >>> for line in image_table(rows.encode()).decode().splitlines():
    ...     print(line[-20:])
    AN,HUE-MEAN,CLASS7,y
    1.0,1.0,1.0,GRASS,-1
    .0,2.0,2.0,2.0,SKY,1
    """
    made = [[*_IMAGE_COLUMNS, b"CLASS7", b"y"]]
    for line in _lines(raw):
        label, *features = line.split(b",")
        if label in _IMAGE_LABELS and len(features) == len(_IMAGE_COLUMNS):
            made.append([*features, label, _IMAGE_LABELS[label]])
    for row in made:
        del row[_CONSTANT_COLUMN]
    distinct = dict.fromkeys(b",".join(row) for row in made)  # in the order of their first occurrence
    return b"".join(line + b"\n" for line in distinct)


def pack(name: str, content: bytes) -> bytes:
    """Return the bytes of the file of that name: packed if it ends in .gz, the same bytes every time."""
    if not name.endswith(".gz"):
        return content
    packed = io.BytesIO()
    # gzip.compress writes another header from one version of Python to the next; GzipFile does not.
    with gzip.GzipFile(filename="", mode="wb", fileobj=packed, mtime=0) as file:
        file.write(content)
    return packed.getvalue()


def unpack(name: str, raw: bytes) -> bytes | None:
    """Return the content of a file of that name; None if it ends in .gz and is damaged."""
    if not name.endswith(".gz"):
        return raw
    try:
        return gzip.decompress(raw)
    except (OSError, EOFError, zlib.error):
        return None
