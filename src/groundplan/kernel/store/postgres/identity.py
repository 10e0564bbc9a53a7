"""Tell PostgreSQL who acts, for one transaction: the policies of every table read it."""

from __future__ import annotations

from psycopg import Connection

from groundplan.kernel.actors import Actor
from groundplan.kernel.store.postgres.server_limits import ServerLimits, to_milliseconds
from groundplan.kernel.store.queries import to_json_array

_IDENTIFY = """
SELECT set_config('groundplan.tenant', %(tenant)s, true),
       set_config('groundplan.actor', %(actor)s, true),
       set_config('groundplan.access', %(access)s, true),
       set_config('groundplan.kind', %(kind)s, true),
       set_config('statement_timeout', %(statement_timeout)s, true),
       set_config('idle_in_transaction_session_timeout', %(idle_timeout)s, true),
       gp_now()
"""
# For an actor with a limited token. The settings end with the transaction, so the others need not clear them.
_IDENTIFY_LIMITED = """
SELECT set_config('groundplan.role_max', %(role_max)s, true),
       set_config('groundplan.projects', %(projects)s, true),
       set_config('groundplan.sponsor', %(sponsor)s, true),
""" + _IDENTIFY.strip().removeprefix("SELECT")


def identify(connection: Connection, actor: Actor, limits: ServerLimits) -> str:
    """Set the actor and the limits of the open transaction, and return the time of the database."""
    identity = {
        "tenant": actor.organization,
        "actor": actor.id,
        "access": actor.access.value,
        "kind": actor.kind.value,
        "statement_timeout": str(to_milliseconds(limits.statement_s)),
        "idle_timeout": str(to_milliseconds(limits.idle_s)),
    }
    if actor.is_limited:
        identified = connection.execute(_IDENTIFY_LIMITED, identity | format_limits(actor))
    else:
        identified = connection.execute(_IDENTIFY, identity)
    (*_, now) = identified.fetchall()[0]
    return str(now)


def format_limits(actor: Actor) -> dict[str, str]:
    """Return the limits of the actor's token as settings of the database; an empty text means no limit."""
    return {
        "role_max": actor.role_max or "",
        "projects": "" if actor.projects is None else to_json_array(sorted(actor.projects)),
        "sponsor": actor.sponsor or "",
    }
