"""The OpenID Connect issuer of `groundplan serve`, from the settings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from groundplan.configuration import Settings
from groundplan.kernel.errors import Invalid

if TYPE_CHECKING:
    from groundplan.surfaces.http.issuer import IdentityProvider


def build_provider(settings: Settings, allowed_hosts: Sequence[str]) -> IdentityProvider | None:
    """Return the issuer; None if none is configured. It is asked for the first time when somebody logs in."""
    if settings.oidc_issuer is None:
        return None
    from groundplan.surfaces.http.issuer import IdentityProvider, IssuerClient, IssuerSettings, check_issuer
    from groundplan.surfaces.http.mcp import MCP_PATH

    issuer = check_issuer(settings.oidc_issuer, settings.sources["oidc_issuer"])
    if settings.oidc_client_id is None:
        raise Invalid(
            "oidc_issuer needs oidc_client_id, the name of this server at the issuer; add it to the configuration",
            code="config_missing_value",
            setting="oidc_client_id",
        )
    named = tuple(f"https://{host}{path}" for host in allowed_hosts for path in ("", MCP_PATH))
    issuer_settings = IssuerSettings(
        issuer,
        settings.oidc_client_id,
        settings.oidc_client_secret,
        settings.oidc_audience or named,
        organization=settings.org,
        hosts=settings.oidc_hosts,
        person_clients=settings.oidc_person_clients,
    )
    return IdentityProvider(issuer_settings, IssuerClient(issuer_settings))
