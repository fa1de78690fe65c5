"""Who may come in: tokens beyond loopback, compared in constant time; nobody from another web page."""

from __future__ import annotations

import hmac
import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs, urlsplit

from ..errors import BadInput
from .refusals import NotAllowed, Refusal

COOKIE = "onmargin_token"
TOKEN = re.compile(r"[A-Za-z0-9\-._~+/=]+")
OPEN = ("/healthz",)
READING = ("GET", "HEAD", "OPTIONS")


class Forbidden(Refusal):
    """A token that may only read, or a request that another site's page makes."""

    status = 403


@dataclass(frozen=True)
class Access:
    """`token` may do everything, `read_token` only look and predict; `guarded`: one of them is wanted."""

    guarded: bool = False
    token: str | None = None
    read_token: str | None = None

    @classmethod
    def of(cls, host: str, environment: Mapping[str, str]) -> Access:
        """As a host and ONMARGIN_TOKEN, ONMARGIN_READ_TOKEN say; beyond loopback there must be a token."""
        guarded = not is_loopback(host)
        token, read = (environment.get(name) or None for name in ("ONMARGIN_TOKEN", "ONMARGIN_READ_TOKEN"))
        for name, given in (("ONMARGIN_TOKEN", token), ("ONMARGIN_READ_TOKEN", read)):
            if given is not None and not TOKEN.fullmatch(given):  # (headers and cookies carry no other)
                raise BadInput(f"{name} has other signs than letters, digits and -._~+/=; choose another one")
        if guarded and token is None:
            raise BadInput(f"--host {host} is reached by others; set ONMARGIN_TOKEN first, or use 127.0.0.1")
        return cls(guarded, token, read)

    def check(self, method: str, path: str, query: bytes, headers: Mapping[bytes, bytes]) -> str | None:
        """Refuse whoever may not; the token, if the address had it (for a cookie)."""
        self._check_origin(headers)
        if not self.guarded or path in OPEN:
            return None
        given, asked = _given(query, headers)
        if self.token is not None and _same(given, self.token):
            return given if asked else None
        if self.read_token is None or not _same(given, self.read_token):
            raise NotAllowed(
                "no token, or a wrong one; send 'Authorization: Bearer TOKEN', or open /?token=TOKEN once"
            )
        reads = method in READING or path.endswith("/predict") and path.startswith("/v1/")
        if not reads or path.endswith("/label"):
            raise Forbidden("this token may only read and predict")
        return given if asked else None

    def _check_origin(self, headers: Mapping[bytes, bytes]) -> None:
        """A page of another site may not use a browser that can reach us (CORS is off)."""
        host = headers.get(b"host", b"").decode("latin-1")
        origin = headers.get(b"origin")
        if origin is not None and urlsplit(origin.decode("latin-1")).netloc != host:
            raise Forbidden("this request comes from the page of another site")
        if not self.guarded and host and not is_loopback(_name_of(host)):
            raise Forbidden(f"this server is known as localhost, not as {host[:60]!r}")


def is_loopback(host: str) -> bool:
    """Does it mean this machine alone?"""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _name_of(host: str) -> str:
    """Without its port."""
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0]


def _given(query: bytes, headers: Mapping[bytes, bytes]) -> tuple[str, bool]:
    """A token, by header, cookie or address; and whether it was the address."""
    header = headers.get(b"authorization", b"").decode("latin-1")
    if header.lower().startswith("bearer "):
        return header[7:].strip(), False
    if b"token=" in query:
        return parse_qs(query.decode("latin-1")).get("token", [""])[0], True
    try:
        cookie = SimpleCookie(headers.get(b"cookie", b"").decode("latin-1")).get(COOKIE)
    except CookieError:
        cookie = None
    return ("" if cookie is None else cookie.value), False


def _same(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode("utf-8", "replace"), other.encode("utf-8", "replace"))
