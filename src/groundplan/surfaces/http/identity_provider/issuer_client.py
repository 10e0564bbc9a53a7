"""HTTP requests to the issuer: no other host, no redirect, bounded in time and size."""

from __future__ import annotations

import ssl
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote_plus

import httpx
import msgspec

from groundplan.kernel.errors import Unavailable
from groundplan.surfaces.http.identity_provider.settings import IssuerSettings

TIMEOUT_S = 5.0  # of a whole request; a person waits for it
PHASE_TIMEOUT_S = 3.0  # to connect, to send, and for each part of the answer
ANSWER_BYTES_MAX = 256 * 1024


class IssuerUnavailable(Unavailable):
    """The issuer did not answer, or not as its protocol says."""

    code = "issuer_unavailable"


class IssuerClient:
    """Sends requests to the configured issuer."""

    def __init__(self, settings: IssuerSettings, transport: httpx.BaseTransport | None = None) -> None:
        self._settings = settings
        # Certificates of the operating system, and no proxy from the environment.
        self._http = httpx.Client(
            verify=ssl.create_default_context(),
            timeout=PHASE_TIMEOUT_S,
            follow_redirects=False,
            trust_env=False,
            transport=transport,
        )

    def get_json(self, url: str, *, token: str | None = None) -> dict[str, Any]:
        """Return the JSON object at an address.

        Raises:
            IssuerUnavailable: there is no such answer.
        """
        headers = {"authorization": f"Bearer {token}"} if token else {}
        status, answer = self._send("GET", url, headers=headers)
        if status != httpx.codes.OK:
            raise IssuerUnavailable(f"the issuer {self._settings.name} answered with status {status}; try again later")
        return answer

    def post_form(
        self, url: str, form: Mapping[str, str], *, basic: tuple[str, str] | None = None
    ) -> tuple[int, dict[str, Any]]:
        """Send a form and return the status and the JSON object of the answer.

        Raises:
            IssuerUnavailable: there is no such answer.
        """
        # The parts are encoded before they are joined (RFC 6749, 2.3.1), since a secret may contain a colon.
        auth = httpx.BasicAuth(*map(quote_plus, basic)) if basic else None
        return self._send("POST", url, data=dict(form), auth=auth)

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def _send(self, method: str, url: str, **options: Any) -> tuple[int, dict[str, Any]]:
        if not self._settings.allows_url(url):
            raise IssuerUnavailable(
                f"the issuer {self._settings.name} names an endpoint on another host; "
                "if it is right, add the host to oidc_hosts"
            )
        ends_at = time.monotonic() + TIMEOUT_S
        body = bytearray()
        try:
            with self._http.stream(method, url, **options) as response:
                for part in response.iter_bytes():
                    body += part
                    if len(body) > ANSWER_BYTES_MAX or time.monotonic() > ends_at:
                        raise IssuerUnavailable(f"the answer of the issuer {self._settings.name} is too long or slow")
        except (httpx.HTTPError, httpx.InvalidURL, ssl.SSLError):
            raise IssuerUnavailable(
                f"the issuer {self._settings.name} does not answer; try again, or log in with a token"
            ) from None
        try:
            return response.status_code, msgspec.json.decode(body, type=dict[str, Any])
        except msgspec.DecodeError:
            raise IssuerUnavailable(f"the issuer {self._settings.name} did not answer with a JSON object") from None
