"""Roles, tokens, and the file that stores them.

A token is 32 random bytes, generated here and shown once. The file stores its salted SHA-256. Slow hashes
protect passwords, which can be guessed; nobody guesses 256 random bits, and a slow hash on every request
would only let strangers keep the server busy.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
import stat
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from datetime import UTC, date, datetime, timedelta
from enum import IntEnum
from pathlib import Path

from cellworth.errors import DataError, ParameterError
from cellworth.messages import shorten
from cellworth.setting_names import named
from cellworth.table.files import replace_file
from cellworth.web.security.ended_sessions import EndedSessions

FORMAT = 1
LOOK_AGAIN = 1.0
"""Seconds between checks of the token file for changes."""
LINK_PATH = "/login/link"
LINK_HOURS = 24.0
"""How long a link that signs in once can be used."""
_PREFIX, _LINK_PREFIX = "cw", "cwl"


class Role(IntEnum):
    """What a user may do; each role includes those before it."""

    READ = 1
    ANSWER = 2
    MANAGE = 3

    @classmethod
    def named(cls, name: str) -> Role:
        """Return a role by name; raise ParameterError listing the names if there is no such role."""
        try:
            return cls[name.upper()]
        except KeyError:
            names = ", ".join(role.name.lower() for role in cls)
            raise ParameterError(f"a role must be one of {names}; got {shorten(name)}.") from None


@dataclass(frozen=True)
class Token:
    """A token as stored in the file: its owner, its role, its salted hash, and when it ends.

    ``link`` is the salted hash of the code of a link that signs in once, until ``link_until``. Times are ISO
    texts; None for no end.
    """

    id: str
    who: str
    role: str
    salt: str
    hash: str
    created: str
    expires: str | None = None
    link: str | None = None
    link_until: str | None = None


@dataclass(frozen=True)
class Identity:
    """Who sent a request.

    Attributes
    ----------
    who : str or None
        Name for the log; None for a user of an open server who gave no name.
    role : Role
    token : str or None
        The id of the token; None if no tokens are required.
    """

    who: str | None
    role: Role
    token: str | None = None


class Access:
    """Looks up who owns a token.

    Create one with `Access.open_to_all`, for a server that only this machine can reach, or with
    `Access.from_file`. The file is reread when it changes, so tokens can be added and removed while the
    server runs.

    Attributes
    ----------
    open : bool
        Whether no token is required.
    secret : bytes
        Signs cookies; stored in the file, so that users stay signed in across server restarts.
    ended : EndedSessions
        Sessions that were ended and links that were used.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "tokens.json"
    >>> token = add_token(path, who="Ann", role="answer")
    >>> access = Access.from_file(path)
    >>> access.identify(token)
    Identity(who='Ann', role=<Role.ANSWER: 2>, token=...)
    >>> access.identify(token + "x") is None
    True
    """

    def __init__(self, tokens: Iterable[Token] | None, secret: bytes, path: Path | None = None) -> None:
        self.open = tokens is None
        self.secret = secret
        self._tokens = {token.id: token for token in tokens or ()}
        self._path = path
        self.ended = EndedSessions(None if path is None else path.with_name(f"{path.name}.sessions"))
        self._seen = (0.0, _stamp(path))

    @classmethod
    def open_to_all(cls) -> Access:
        """Require no token: anyone who can reach the server may do everything."""
        return cls(None, secrets.token_bytes(32))

    @classmethod
    def from_file(cls, path: str | os.PathLike[str]) -> Access:
        """Require a token from a file written by `add_token`; raise DataError if others may read the file."""
        tokens, secret = _read(Path(path))
        return cls(tokens, secret, Path(path))

    def identify(self, token: str) -> Identity | None:
        """Return the owner of a token; None if it is unknown. All invalid tokens take the same time."""
        self._look_again()
        prefix, _, rest = token.partition("_")
        known = self._tokens.get(rest.partition("_")[0])
        salt, expected = ("", "0" * 64) if known is None else (known.salt, known.hash)
        right = hmac.compare_digest(_hash(salt, token), expected)
        fits = right and known is not None and prefix == _PREFIX and not _is_over(known.expires)
        return _identity(known) if fits and known is not None else None

    def owner_of_link(self, code: str) -> Identity | None:
        """Return who may sign in with the code of a link; None if it is unknown, used or too old."""
        self._look_again()
        prefix, _, rest = code.partition("_")
        known = self._tokens.get(rest.partition("_")[0])
        salt, expected = ("", None) if known is None else (known.salt, known.link)
        right = hmac.compare_digest(_hash(salt, code), expected or "0" * 64)
        if not right or known is None or expected is None or prefix != _LINK_PREFIX:
            return None
        over = _is_over(known.expires) or _is_over(known.link_until) or self.ended.is_ended(expected)
        return None if over else _identity(known)

    def use_link(self, code: str) -> Identity | None:
        """Return who signs in with the code of a link, which then is used up; None as `owner_of_link`."""
        found = self.owner_of_link(code)
        if found is not None and found.token is not None:
            known = self._tokens[found.token]
            until = datetime.fromisoformat(str(known.link_until)).timestamp()
            self.ended.end(str(known.link), until)
        return found

    @property
    def tokens(self) -> list[Token]:
        """The tokens in the file, as it is now; with hashes, which are not for others."""
        self._look_again()
        return list(self._tokens.values())

    def add(self, *, who: str, role: str, expires: datetime | None = None) -> str:
        """Create a token; see `add_token`. DataError if there is no file."""
        token = add_token(self._file(), who=who, role=role, expires=expires)
        self._seen = (0.0, None)
        return token

    def link(self, token_id: str) -> str:
        """Return a code that signs in once with a token; see `add_link`."""
        code = add_link(self._file(), token_id)
        self._seen = (0.0, None)
        return code

    def expire(self, token_id: str, expires: datetime | None) -> None:
        """Say when a token ends, None for never; see `expire_token`."""
        expire_token(self._file(), token_id, expires)
        self._seen = (0.0, None)

    def remove(self, token_id: str) -> None:
        """Remove a token from the file; DataError if it does not exist, or there is no file."""
        remove_token(self._file(), token_id)
        self._seen = (0.0, None)

    def _file(self) -> Path:
        if self._path is None:
            raise DataError("this server requires no tokens, so there are none to change.")
        return self._path

    def holder(self, token_id: str) -> Identity | None:
        """Return the owner of a token by its id, for a session started with it; None if it was removed."""
        self._look_again()
        known = self._tokens.get(token_id)
        return None if known is None or _is_over(known.expires) else _identity(known)

    def _look_again(self) -> None:
        """Reread the file if it has changed; an unreadable file lets nobody in."""
        if self._path is None or time.monotonic() - self._seen[0] < LOOK_AGAIN:
            return
        stamp = _stamp(self._path)
        if stamp != self._seen[1]:
            try:
                tokens, self.secret = _read(self._path)
            except DataError:
                tokens = []
            self._tokens = {token.id: token for token in tokens}
        self._seen = time.monotonic(), stamp


def add_token(path: str | os.PathLike[str], *, who: str, role: str, expires: datetime | None = None) -> str:
    """Create a token, store its hash in a file that only you can read, and return it; it is not stored.

    Creates the file if necessary. Existing tokens stay valid. ``expires``, with a time zone, is when the
    token and its sessions end.
    """
    file = Path(path)
    tokens, secret = _read(file) if file.exists() else ([], secrets.token_bytes(32))
    if not who.strip():
        raise ParameterError(f"{named('who')} must not be blank; got {shorten(who)}.")
    ends = _end(expires)
    name = Role.named(role).name.lower()
    token_id, salt = secrets.token_hex(6), secrets.token_hex(16)
    token = f"{_PREFIX}_{token_id}_{secrets.token_urlsafe(32)}"
    created = datetime.now(UTC).isoformat("T", "seconds")
    made = Token(token_id, who, name, salt, _hash(salt, token), created, ends)
    _write(file, [*tokens, made], secret)
    return token


def expire_token(path: str | os.PathLike[str], token_id: str, expires: datetime | None) -> None:
    """Change when a token and its sessions end, None for never; raise DataError if it does not exist."""
    tokens, secret = _read(Path(path))
    known = _known(path, tokens, token_id)
    changed = replace(known, expires=_end(expires))
    _write(Path(path), [changed if token is known else token for token in tokens], secret)


def end_of(day: date | None) -> datetime | None:
    """Return the end of a day on the server's clock: a token's last moment; None for no end."""
    if day is None:
        return None
    return (datetime(day.year, day.month, day.day) + timedelta(days=1)).astimezone(UTC)


def _end(expires: datetime | None) -> str | None:
    if expires is not None and expires <= datetime.now(UTC):
        last = (expires.astimezone() - timedelta(microseconds=1)).date()
        raise ParameterError(f"{named('expires')} must lie in the future; got {last.isoformat()}.")
    return None if expires is None else expires.isoformat("T", "seconds")


def id_of(token: str) -> str:
    """Return the id of a token, which is no secret."""
    return token.split("_")[1]


def add_link(path: str | os.PathLike[str], token_id: str, *, hours: float = LINK_HOURS) -> str:
    """Return a code that signs in once with a token within some hours; it replaces an earlier one."""
    tokens, secret = _read(Path(path))
    known = _known(path, tokens, token_id)
    code = f"{_LINK_PREFIX}_{token_id}_{secrets.token_urlsafe(16)}"
    until = (datetime.now(UTC) + timedelta(hours=hours)).isoformat("T", "seconds")
    linked = replace(known, link=_hash(known.salt, code), link_until=until)
    _write(Path(path), [linked if token is known else token for token in tokens], secret)
    return code


def link_of(address: str, code: str) -> str:
    """Return the link that signs in with a code.

    >>> link_of("https://clinic.example/", "cwl_1_x")
    'https://clinic.example/login/link?code=cwl_1_x'
    """
    return f"{address.rstrip('/')}{LINK_PATH}?code={code}"


def list_tokens(path: str | os.PathLike[str]) -> list[Token]:
    """Return the tokens in a file, oldest first."""
    return _read(Path(path))[0]


def remove_token(path: str | os.PathLike[str], token_id: str) -> None:
    """Remove a token, which ends all sessions started with it; raise DataError if it does not exist."""
    tokens, secret = _read(Path(path))
    gone = _known(path, tokens, token_id)
    _write(Path(path), [token for token in tokens if token is not gone], secret)


def _known(path: object, tokens: Iterable[Token], token_id: str) -> Token:
    found = next((token for token in tokens if token.id == token_id), None)
    if found is None:
        raise DataError(f"{path}: there is no token with the id {shorten(token_id)}. List them first.")
    return found


def _is_over(until: str | None) -> bool:
    return until is not None and datetime.fromisoformat(until) <= datetime.now(UTC)


def _identity(token: Token) -> Identity:
    return Identity(token.who, Role.named(token.role), token.id)


def _hash(salt: str, token: str) -> str:
    return hashlib.sha256(f"{salt}:{token}".encode("utf-8", "surrogatepass")).hexdigest()


def _stamp(path: Path | None) -> tuple[int, int] | None:
    try:
        status = None if path is None else path.stat()
    except OSError:
        return None
    return None if status is None else (status.st_mtime_ns, status.st_ino)


def _read(path: Path) -> tuple[list[Token], bytes]:
    try:
        mode = path.stat().st_mode
        text = path.read_text("utf-8")
    except FileNotFoundError:
        raise DataError(
            f"{path}: there is no such token file. Create one with: cellworth token --who NAME --role "
            f"manage --tokens {path}"
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path}: the tokens cannot be read ({error}).") from None
    if os.name == "posix" and stat.S_IMODE(mode) & 0o077:
        raise DataError(f"{path}: other users may read this token file. Make it private: chmod 600 {path}")
    try:
        plain = json.loads(text)
        if plain["format"] != FORMAT:
            raise ValueError(f"format {plain['format']!r}")
        tokens = [Token(**token) for token in plain["tokens"]]
        for token in tokens:
            Role.named(token.role)
            for until in filter(None, (token.expires, token.link_until)):
                datetime.fromisoformat(until)
        return tokens, bytes.fromhex(plain["secret"])
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(
            f"{path}: expected a token file of format {FORMAT}; got something else ({error}). Give "
            "another path, or create new tokens."
        ) from None


def _write(path: Path, tokens: Iterable[Token], secret: bytes) -> None:
    plain = {"format": FORMAT, "secret": secret.hex(), "tokens": [asdict(token) for token in tokens]}

    def write(part: Path) -> None:
        part.write_text(json.dumps(plain, indent=2) + "\n", "utf-8")

    if not path.exists():  # a replaced file keeps its mode
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        except OSError as error:
            raise DataError(f"{path}: the file cannot be written ({error.strerror}).") from None
    replace_file(path, write)
