"""Two organizations with the same people and contents, and what each of the people gets there by the permission table.

                    in the organization      in its project atlas
    ada             administrator            owner
    ben             member                   editor
    cleo            member                   viewer
    bot             an agent, member         stored as an owner; the project holds agents to the role of an editor
    finn            member                   none; he has a project of his own
    anonymous       no identity at all

Each of them asks for the things of their own organization, and for those of the other one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from msgspec.structs import replace

from groundplan.kernel.access import Permission, Role
from groundplan.kernel.actors import Access, Actor, ActorKind
from groundplan.kernel.store.store import Store
from groundplan.session import Session
from tests.access.examples import EXAMPLES, ROWS
from tests.access.permissions import FOR_ADMINISTRATORS, FOR_PERSONS, RULES, is_allowed
from tests.access.test_matrix import (
    ACCEPTS_A_SUGGESTION,
    MISSING,
    TELLS_NOTHING,
    add_purpose,
    placeholder_values,
    populate_atlas,
)
from tests.engines import Engine

ORGANIZATIONS = ("local", "rival")
ROLES = {"ada": Role.OWNER, "ben": Role.EDITOR, "cleo": Role.VIEWER, "bot": Role.EDITOR}
MEMBERS = (*ROLES, "finn")
OWNERS = ("ada", "finn")  # each of a project that would have no owner without them


@dataclass(frozen=True)
class Tenant:
    """One organization of a database, in the place of an engine."""

    engine: Engine
    organization: str

    @property
    def store(self) -> Store:
        return self.engine.store

    def session(self, actor: Actor | str | None) -> Session:
        if isinstance(actor, str):
            actor = Actor(self.organization, actor, ActorKind.PERSON, Access.OPEN)
        return self.engine.session(actor and replace(actor, organization=self.organization))


class Caller(NamedTuple):
    """Somebody in one of the organizations; nobody, if there is no organization."""

    who: str
    organization: str | None


class Cell(NamedTuple):
    """A request: an example, who sends it, and the organization whose things it names."""

    row: str
    caller: Caller
    asked: str

    @property
    def is_foreign(self) -> bool:
        """Whether the request names things of another organization."""
        return self.asked != self.caller.organization and names_something(self.row)


ANONYMOUS = Caller("anonymous", None)
CALLERS = [ANONYMOUS, *(Caller(who, organization) for organization in ORGANIZATIONS for who in MEMBERS)]


def list_cells() -> Iterator[Cell]:
    """Yield every request of the matrix."""
    for row in ROWS:
        yield Cell(row, ANONYMOUS, ORGANIZATIONS[0])
        for caller in CALLERS[1:]:
            yield from (Cell(row, caller, asked) for asked in ORGANIZATIONS)


def names_something(row: str) -> bool:
    """Return whether the example of a row names a thing that exists, other than people."""
    text = str(EXAMPLES[row])
    return any(f"{{{name}}}" in text for name in MISSING)


def populate(engine: Engine) -> dict[Caller, str]:
    """Fill both organizations alike. Return a token of everybody, which allows all that they may do."""
    engine.create_organization("rival")
    tokens = {}
    for organization in ORGANIZATIONS:
        tenant = Tenant(engine, organization)
        populate_atlas(tenant)
        add_purpose(tenant)
        _add_changes(tenant)
        ada = tenant.session("ada")
        finn = tenant.session(Actor(organization, "finn", ActorKind.PERSON, Access.MEMBERS))
        ada.call("context.commit", runId=ada.call("context.create_draft", scopeId="atlas").run.id)
        renamed = {
            "op": "update_node",
            "node": "G1",
            "title": "A map that is trusted",
        }  # else there is nothing to publish
        ada.call("purpose.edit", project="atlas", operations=[renamed])
        ada.call("template.create", name="Sheet to print", targetEntityType="TASK")
        finn.call("container.create", containerType="project", name="finn's own", tags="coast")
        for who in MEMBERS:
            kind = {"kind": "agent", "role": "owner"} if who == "bot" else {"kind": "person"}
            created = ada.call("token.create", name=who, label="matrix", **kind)
            tokens[Caller(who, organization)] = str(created.secret)
    return tokens


def _add_changes(tenant: Tenant) -> None:
    """Let everyone who may write make a last change that can be undone."""
    writers = [who for who, role in ROLES.items() if is_allowed(role, Permission.WORK_UPDATE)]
    nodes = [{"ref": who, "summary": f"Walk with {who}"} for who in writers]
    planned = tenant.session("ada").call("work.plan", project="atlas", nodes=nodes)
    for one in planned.created:
        kind = ActorKind.AGENT if one.ref == "bot" else ActorKind.PERSON
        writer = Actor(tenant.organization, one.ref, kind, Access.MEMBERS)
        tenant.session(writer).call("work.update", updates=[{"node_id": one.id, "state": "begun"}])


def find_names(engine: Engine, caller: Caller, asked: str) -> dict[str, str]:
    """Return the values of the placeholders for a request: one's own project by name, another one by id."""
    who = "ada" if caller.who in ("bot", "anonymous") else caller.who  # who has a token in `populate_atlas`
    named = placeholder_values(engine, "atlas", who, organization=asked)
    # A run that no version of the purpose stands on, because such a one is not deleted.
    ((named["run"],),) = engine.as_owner(
        f"SELECT id FROM pciv_runs WHERE tenant_id = '{asked}' AND status <> 'draft' "
        "AND id NOT IN (SELECT context_run_id FROM toc_versions WHERE context_run_id IS NOT NULL)"
    )
    if caller.organization not in (asked, None):
        for name in ("project", "undrafted"):
            ((named[name],),) = engine.as_owner(
                f"SELECT id FROM projects WHERE tenant_id = '{asked}' AND name = '{named[name]}'"
            )
    return named


def expected_status(cell: Cell) -> int:
    """Return the status by the hand-written table, whatever the operation says about itself."""
    rule, who = RULES[cell.row], cell.caller.who
    if who == ANONYMOUS.who:
        return 401
    if not rule.in_project:
        return _expected_in_organization(cell)
    if cell.is_foreign or who not in ROLES:
        if rule.if_missing is None:
            return 404
        # It creates what is missing. Names are unique in the organization, so Finn is told that the name is taken
        # (decision 8); the id of another organization is a name that nobody has here.
        return 200 if cell.is_foreign else 404 if cell.row in TELLS_NOTHING else 409
    if not is_allowed(ROLES[who], rule.permission):
        return 403
    return 422 if who == "bot" and cell.row in ACCEPTS_A_SUGGESTION else 200


def _expected_in_organization(cell: Cell) -> int:
    permission, who = RULES[cell.row].permission, cell.caller.who
    if who == "bot" and permission in FOR_PERSONS:
        return 403
    if permission in FOR_ADMINISTRATORS and who != "ada":
        return 403
    if cell.is_foreign or (cell.row == "invitation.revoke" and who != "ada"):  # it is Ada's
        return 404
    return 422 if cell.row == "organization.leave" and who in OWNERS else 200
