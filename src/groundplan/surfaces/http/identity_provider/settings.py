"""Which issuer logs people in, and which of its tokens count."""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import urlsplit

from groundplan.kernel.errors import Invalid
from groundplan.kernel.wording import quote_text

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})


class IssuerSettings(NamedTuple):
    """The settings of the issuer, all from the configuration of the server."""

    issuer: str
    client_id: str
    client_secret: str | None = None  # None: a public client, which PKCE alone protects
    audiences: tuple[str, ...] = ()  # the names of this server in access tokens; without any, none is accepted
    organization: str = "local"  # the one that its people join
    hosts: tuple[str, ...] = ()  # hosts of its endpoints besides the issuer's own
    person_clients: tuple[str, ...] = ()  # clients whose access tokens act as the person, not as an agent

    @property
    def name(self) -> str:
        """The host of the issuer, for the login page."""
        return urlsplit(self.issuer).netloc

    def allows_url(self, url: str) -> bool:
        """Return whether the server may connect to an address: the issuer's, or a named host of its own scheme."""
        own, other = urlsplit(self.issuer), urlsplit(url)
        return (
            url.isascii() and other.scheme == own.scheme and (other.netloc == own.netloc or other.netloc in self.hosts)
        )


def check_issuer(issuer: str, where: str = "oidc_issuer") -> str:
    """Return the address of an issuer.

    Raises:
        Invalid: it is not an https address, or http on this machine.
    """
    try:
        parts = urlsplit(issuer)
        host, _port = parts.hostname, parts.port
    except ValueError:
        host, parts = None, urlsplit("")
    is_encrypted = parts.scheme == "https" or (parts.scheme == "http" and host in LOOPBACK_NAMES)
    if not host or not is_encrypted or "@" in parts.netloc or "?" in issuer or "#" in issuer:
        raise Invalid(
            f"{where} must be the https address of the issuer, without query or password, not {quote_text(issuer)}",
            code="config_invalid_value",
            setting=where,
        )
    return issuer
