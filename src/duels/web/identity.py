"""Who a visitor is: a random cookie, of which only the hash is kept. No names, no accounts."""

import re
import secrets
from hashlib import sha256

COOKIE = "duels"
COOKIE_BEHIND_TLS = "__Host-duels"
_YEAR = 365 * 24 * 3600
_LENGTH = 43  # of 256 bits in URL-safe letters
_MATCH_BITS = 128


def new_cookie() -> str:
    """A value that nobody can guess: 256 bits."""
    return secrets.token_urlsafe(32)


def new_match_id() -> str:
    """An address that nobody can guess."""
    return secrets.token_urlsafe(_MATCH_BITS // 8)


def new_invite() -> str:
    """A token that nobody can guess: 128 bits."""
    return secrets.token_urlsafe(_MATCH_BITS // 8)


def identity(cookie: str) -> str:
    """What is kept of a visitor."""
    return sha256(cookie.encode()).hexdigest()


def cookie_name(secure: bool) -> str:
    """The cookie's name; behind TLS one that a browser takes from this host alone."""
    return COOKIE_BEHIND_TLS if secure else COOKIE


def set_cookie(value: str, secure: bool) -> str:
    """The header that leaves the cookie with the browser."""
    kept = f"{cookie_name(secure)}={value}; Path=/; Max-Age={_YEAR}; HttpOnly; SameSite=Lax"
    return f"{kept}; Secure" if secure else kept


_SENT = {
    secure: re.compile(rf"(?:^|;) *{cookie_name(secure)}=([\w-]{{{_LENGTH}}}) *(?:;|$)", re.ASCII)
    for secure in (False, True)
}


def visitor(cookies: str, secure: bool) -> str | None:
    """The identity of whoever sends this Cookie header; None without anything that could be our cookie."""
    found = _SENT[secure].search(cookies)
    return identity(found[1]) if found else None
