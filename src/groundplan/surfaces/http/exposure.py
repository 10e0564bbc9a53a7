"""The addresses at which a server can be reached, and the conditions for reaching it from other machines.

On loopback nothing has to be set up. On any other address a request may come from anybody, so the server starts only
with tokens, with the names that it answers to, and with encryption: its own, or that of a proxy in front of it.
"""

from __future__ import annotations

from collections.abc import Callable
from ipaddress import ip_address, ip_network
from typing import NamedTuple

from groundplan.kernel.errors import Invalid
from groundplan.kernel.wording import quote_text
from groundplan.surfaces.http.front_door import LOOPBACK_HOSTS

LOOPBACK = "127.0.0.1"
COOKIE = "groundplan_session"
ATTEMPT_COOKIE = "groundplan_login"


class UnsafeBind(Invalid):
    """The server would be open to other machines without tokens, allowed host names or encryption."""

    code = "unsafe_bind"


class TlsFiles(NamedTuple):
    """The certificate of the server and its key."""

    certificate: str
    key: str


class Exposure(NamedTuple):
    """The addresses and names of a server, its certificate, and its proxies."""

    host: str = LOOPBACK
    port: int = 0
    allowed_hosts: tuple[str, ...] = ()
    tls: TlsFiles | None = None
    proxies: tuple[str, ...] = ()  # addresses whose X-Forwarded-For and X-Forwarded-Proto are believed

    @property
    def is_loopback(self) -> bool:
        """True if only this machine can reach the server."""
        return ip_address(self.host).is_loopback

    @property
    def is_https(self) -> bool:
        """True if browsers reach the server over TLS, directly or by a proxy."""
        return self.tls is not None or bool(self.proxies)

    @property
    def offers_login_address(self) -> bool:
        """True if the server prints an address that logs in its reader. It does so only for this machine."""
        return self.is_loopback and not self.proxies

    @property
    def hosts(self) -> frozenset[str]:
        """The accepted names in the `Host` header."""
        return LOOPBACK_HOSTS | set(self.allowed_hosts)

    @property
    def address(self) -> str:
        """The address for a browser on this machine."""
        name = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'https' if self.tls else 'http'}://{name}:{self.port}"

    @property
    def cookie(self) -> str:
        """The name of the cookie. Browsers share cookies between the ports of a host, so the name has the port."""
        return self._name_cookie(COOKIE)

    @property
    def attempt_cookie(self) -> str:
        """The name of the cookie for a login in progress at the issuer."""
        return self._name_cookie(ATTEMPT_COOKIE)

    def _name_cookie(self, name: str) -> str:
        return f"__Host-{name}" if self.is_https else f"{name}_{self.port}"


def check_exposure(exposure: Exposure, has_tokens: Callable[[], bool]) -> None:
    """Raise UnsafeBind if other machines can reach the server and it has no token, no allowed host name or no TLS."""
    if exposure.is_loopback and not exposure.proxies:
        return
    missing = []
    if not has_tokens():
        missing.append("a token, because nobody could log in (groundplan token create --kind person)")
    if not exposure.allowed_hosts:
        missing.append("the name that browsers use, against DNS rebinding (--allowed-host plan.example.org)")
    if not exposure.is_https:
        missing.append(
            "encryption, because tokens would be sent in clear (--tls-cert and --tls-key, or --proxy ADDRESS)"
        )
    if missing:
        raise UnsafeBind(
            f"others than this machine could reach {exposure.host}; before that the server needs {'; '.join(missing)}",
            host=exposure.host,
            missing=len(missing),
        )


def parse_host(text: str) -> str:
    """Return the address to listen on from a text."""
    try:
        return str(ip_address(LOOPBACK if text == "localhost" else text.strip("[]")))
    except ValueError:
        raise Invalid(
            f"--host must be an IP address such as 127.0.0.1 or 0.0.0.0, not {quote_text(text)}", code="invalid_host"
        ) from None


def parse_proxy(text: str) -> str:
    """Return the address or network of a proxy from a text."""
    try:
        return str(ip_network(text)) if "/" in text else str(ip_address(text))
    except ValueError:
        raise Invalid(
            f"--proxy must be the IP address or network of the proxy, not {quote_text(text)}", code="invalid_proxy"
        ) from None
