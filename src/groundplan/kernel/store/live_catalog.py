"""What the database in use says of some tables, asked inside a transaction and with the rights that one has there.

What the declarations ask for is one thing, what is really in place another: whoever vouches for tenant isolation or
for the shape of the tables looks here. Only PostgreSQL has row level security; on SQLite there is none to look at.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec
from msgspec import Struct

from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction

sql = load_queries(__file__)

COMMANDS = ("SELECT", "INSERT", "UPDATE", "DELETE")
NOBODY = "false"  # the condition of a policy that lets nothing through
TENANT_FUNCTION = "gp_tenant()"  # what every other condition asks


class Reference(Struct, frozen=True):
    """Columns that lead to the rows of a table."""

    columns: list[str]
    table: str


class Policy(Struct, frozen=True):
    """A policy that adds to what the current role may see or write."""

    name: str
    command: str  # one of COMMANDS, or ALL
    reads: str | None  # the condition over rows that are there
    writes: str | None  # the condition over rows that come of it

    @property
    def checks_tenant(self) -> bool:
        """Whether no row of somebody else can get past it."""
        said = [condition for condition in (self.reads, self.writes) if condition is not None]
        return all(condition == NOBODY or TENANT_FUNCTION in condition for condition in said)


class RowSecurity(Struct, frozen=True):
    """How a table is guarded against the current role."""

    enabled: bool
    forced: bool
    policies: list[Policy]
    owned: bool  # by the current role, itself or by one it is in
    is_superuser: bool
    bypasses_policies: bool

    @property
    def commands(self) -> list[str]:
        """The commands that have a policy of their own, which says what may come of them."""
        return [command for command in COMMANDS if any(_covers(policy, command) for policy in self.policies)]


class LiveTable(Struct, frozen=True):
    """A table as it is."""

    name: str
    columns: dict[str, str]  # with their types
    keys: list[list[str]]  # what is unique
    references: list[Reference]
    row_security: RowSecurity | None  # None: the engine has none


class _Structure(Struct, frozen=True):
    columns: dict[str, str]
    keys: list[list[str]]
    references: list[Reference]


def list_tables_with_prefix(tx: Transaction, prefix: str) -> list[str]:
    """The names of the tables that begin so."""
    return tx.scalars(sql.tables_with_prefix, prefix=prefix)


def read_live_tables(tx: Transaction, names: Iterable[str]) -> dict[str, LiveTable]:
    """Those of the tables that are there, in the order asked for."""
    asked = list(names)
    structures = _read_structures(tx, asked)
    guarded = _read_row_security(tx, asked)
    return {
        name: LiveTable(name, found.columns, found.keys, found.references, guarded[name])
        for name in asked
        if (found := structures.get(name)) is not None
    }


def check_row_security(tx: Transaction, tables: Iterable[str]) -> list[str] | None:
    """What is wrong with the row level security of some tables, in sentences; None where the engine has none."""
    guarded = _read_row_security(tx, list(tables))
    found = {name: facts for name, facts in guarded.items() if facts is not None}
    if guarded and not found:
        return None
    return [*_check_role(found.values()), *(one for name, facts in found.items() for one in _check_table(name, facts))]


def _read_structures(tx: Transaction, names: list[str]) -> dict[str, _Structure]:
    found: dict[str, _Structure] = {}
    for name, text, facts in tx.all(sql.live_structures, names=to_json_array(names)):
        if facts is not None:
            found[name] = msgspec.json.decode(facts, type=_Structure)
        elif name not in found:
            found[name] = _parse_table(text)
        else:
            found[name].keys.extend(_parse_index(text))
    return found


def _parse_table(text: str) -> _Structure:
    from groundplan.kernel.store.sqlite.table_definition import parse_create_table  # PostgreSQL can do without

    table = parse_create_table(text)
    return _Structure(table.columns, table.keys, [Reference(*one) for one in table.references])


def _parse_index(text: str) -> list[list[str]]:
    from groundplan.kernel.store.sqlite.table_definition import parse_unique_index

    columns = parse_unique_index(text)
    return [] if columns is None else [columns]


def _read_row_security(tx: Transaction, names: list[str]) -> dict[str, RowSecurity | None]:
    found: dict[str, str | None] = dict(tx.all(sql.live_row_security, names=to_json_array(names)))
    return {
        name: None if (facts := found[name]) is None else msgspec.json.decode(facts, type=RowSecurity) for name in names
    }


def _check_role(found: Iterable[RowSecurity]) -> Iterator[str]:
    facts = list(found)
    if any(one.is_superuser for one in facts):
        yield "the role that Groundplan connects with is a superuser"
    if any(one.bypasses_policies for one in facts):
        yield "the role that Groundplan connects with bypasses row level security"


def _check_table(name: str, facts: RowSecurity) -> Iterator[str]:
    if facts.owned:
        yield f"the role that Groundplan connects with owns {name}"
    if not facts.enabled:
        yield f"row level security is not enabled on {name}"
    if not facts.forced:
        yield f"row level security is not forced on {name}"
    lacking = [command for command in COMMANDS if command not in facts.commands]
    if lacking:
        yield f"{name} has no policy for {', '.join(lacking)}"
    for policy in facts.policies:
        if not policy.checks_tenant:
            yield f"policy {policy.name} on {name} does not ask for the tenant"


def _covers(policy: Policy, command: str) -> bool:
    says_what_comes = command not in ("INSERT", "UPDATE") or policy.writes is not None
    return policy.command == command and says_what_comes
