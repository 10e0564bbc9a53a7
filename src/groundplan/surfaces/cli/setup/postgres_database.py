"""The part of `groundplan init` that sets up a PostgreSQL database for its app role."""

from __future__ import annotations

import shlex
from typing import Any

from groundplan.catalog import build_schema
from groundplan.kernel.access import OrganizationRole
from groundplan.kernel.actors import Actor
from groundplan.kernel.cancellation import Cancellation
from groundplan.kernel.errors import Forbidden, GroundplanError
from groundplan.kernel.store.open_store import NoDriver, open_store
from groundplan.migrations import get_latest_version
from groundplan.session import Session
from groundplan.surfaces.cli.failures import UsageError
from groundplan.surfaces.cli.steps import Step

ROLE_BYTES_MAX = 63  # PostgreSQL truncates longer names, and two roles could become one


def set_up_postgres(
    owner_url: str, app_role: str | None, cancellation: Cancellation, *, new_password: bool, caller: Actor
) -> Step:
    """Create or update the database of an owner's URL, and return the URL for everybody else.

    The caller becomes an administrator of the organization, because stored roles decide on a server.
    """
    if app_role is not None and not 0 < len(app_role.encode("utf-8", "surrogatepass")) <= ROLE_BYTES_MAX:
        raise UsageError(f"--app-role must be a name of at most {ROLE_BYTES_MAX} bytes")
    try:
        from groundplan.kernel.store.postgres.setup import set_up
    except ImportError:
        raise NoDriver from None
    try:
        done = set_up(
            owner_url, build_schema(), app_role=app_role, new_password=new_password, cancellation=cancellation
        )
    except Forbidden:
        raise Forbidden(
            "this role may not set up a database; run groundplan init with the URL of the database's owner, "
            "who must be allowed to create roles"
        ) from None
    refusal = _appoint(owner_url, caller)
    data: dict[str, Any] = {
        "administrator": None if refusal else caller.id,
        "app_role": done.app_role,
        "app_url": done.app_url,
        "role_is_new": done.role_is_new,
        "replaced_role": done.replaced_role,
        "steps_taken": done.steps_taken,
        "schema": get_latest_version(),
    }

    state = f"{done.steps_taken} steps applied" if done.steps_taken else "already up to date"
    lines = [f"The database is ready (schema {data['schema']}; {state})."]
    if done.replaced_role:
        lost = f"Role {done.replaced_role}, which was used until now, has lost its access"
        lines.append(f"{lost}: distribute the new URL.")
    if refusal:
        lines.append(f"{caller.id} was not made an administrator of organization {caller.organization}: {refusal}.")
    else:
        lines.append(f"{caller.id} administers organization {caller.organization}, in which stored roles decide.")
    if done.role_is_new or new_password:
        known = ["The password is shown only once. Keep the URL in a safe place."]
    else:
        known = [
            f"Role {done.app_role} existed already and keeps its password: add it to the URL after the name,",
            "or run this again with --new-password.",
        ]
    return Step(
        data,
        lines,
        secret=[
            *known,
            "",
            "Next steps:",
            f"  export GROUNDPLAN_DB={shlex.quote(done.app_url)}",
            "  groundplan doctor",
            "",
            "Groundplan connects as:",
            "",
            done.app_url,
        ],
    )


def _appoint(owner_url: str, caller: Actor) -> str | None:
    """Make the caller an administrator of the organization, and return why not if that is refused.

    It is no error: the new password has been set, and is shown only once.
    """
    with Session(open_store(owner_url, build_schema, as_owner=True), caller) as session:
        try:
            session.call("organization.add_member", name=caller.id, role=OrganizationRole.ADMINISTRATOR)
        except GroundplanError as error:
            return error.message
    return None
