"""Accounts of an identity provider, for tests."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from groundplan.kernel.errors import GroundplanError
from groundplan.kernel.identities.bind_login import VerifiedIdentity, bind_login
from groundplan.kernel.store.store import Store

ADA = VerifiedIdentity("https://id.example.org", "a-1", "ada@example.org", True, "Ada", "local")
OTHER_ADA = replace(ADA, subject="a-2")  # the same address, another account


def log_in(store: Store, identity: VerifiedIdentity, **changes: Any) -> str:
    """Return the person that an account is bound to, or the code of the refusal."""
    try:
        return bind_login(store, replace(identity, **changes)).id
    except GroundplanError as error:
        return error.code
