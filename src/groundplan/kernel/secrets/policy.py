"""What happens to a write that contains a secret: the policy `secrets` of its project decides."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from groundplan.kernel.errors import RuleViolated
from groundplan.kernel.secrets.scan import FoundSecret
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import format_argument_path

SECRETS_POLICY = "secrets"
OFF, WARN, REFUSE = "off", "warn", "refuse"
NAMED_MAX = 3  # fields in a warning; an error lists more
LISTED_MAX = 20
ADVICE = "write where it is kept instead of the secret itself"


class SecretFound(RuleViolated):
    """The request contains what looks like a secret, and the project refuses that."""

    code = "secret_found"

    def __init__(self, found: Sequence[FoundSecret]) -> None:
        super().__init__(
            f"looks like a secret: {_format_found(found)}; nothing was written. {ADVICE.capitalize()}, "
            f"or ask an owner to set the policy {SECRETS_POLICY} to {WARN}",
            fields=[{"field": format_argument_path(one.path), "kind": one.kind} for one in found[:LISTED_MAX]],
            policy={SECRETS_POLICY: REFUSE},
        )


def check_secrets(tx: Transaction, request: Any, found: Sequence[FoundSecret]) -> list[str]:
    """Return the warnings about the secrets in a request: one line, or none if the project does not want any."""
    policy = _get_policy(tx, request)
    if policy == OFF or not found:
        return []
    if policy == REFUSE:
        raise SecretFound(found)
    return [
        f"looks like a secret: {_format_found(found)}; it is stored and stays in the history, "
        f"so revoke it if it is real, and {ADVICE}"
    ]


def _get_policy(tx: Transaction, request: Any) -> str:
    if tx.has_project:
        policies = msgspec.json.decode(tx.project.policies)
    else:  # a request that creates a project is held to the policies that it sets
        policies = msgspec.to_builtins(getattr(request, "policies", None)) or {}
    return str(policies.get(SECRETS_POLICY, WARN))


def _format_found(found: Sequence[FoundSecret]) -> str:
    named = [f"{format_argument_path(one.path)} ({one.kind})" for one in found[:NAMED_MAX]]
    more = f" and {len(found) - NAMED_MAX} more" if len(found) > NAMED_MAX else ""
    return ", ".join(named) + more
