"""Read the structure and row level security of tables from the database, with the rights of a transaction.

Checks of tenant isolation and of the schema use this instead of the declarations, because it shows what is really in
place. Only PostgreSQL has row level security.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct

from groundplan.kernel.input_gate.types import get_decoder
from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction

sql = load_queries(__file__)

COMMANDS = ("SELECT", "INSERT", "UPDATE", "DELETE")
NOBODY = "false"  # the condition of a policy that allows nothing
TENANT_FUNCTION = "gp_tenant()"  # occurs in every other condition


class Reference(Struct, frozen=True):
    """A foreign key: its columns and the table that they reference."""

    columns: list[str]
    table: str


class Policy(Struct, frozen=True):
    """A permissive policy for the current role."""

    name: str
    command: str  # one of COMMANDS, or ALL
    reads: str | None  # the condition on existing rows
    writes: str | None  # the condition on new rows

    @property
    def checks_tenant(self) -> bool:
        """True if every condition checks the tenant or allows nothing."""
        conditions = [condition for condition in (self.reads, self.writes) if condition is not None]
        return all(condition == NOBODY or TENANT_FUNCTION in condition for condition in conditions)


class RowSecurity(Struct, frozen=True):
    """The row level security of a table for the current role."""

    enabled: bool
    forced: bool
    policies: list[Policy]
    owned: bool  # by the current role, or by a role that it is a member of
    is_superuser: bool
    bypasses_policies: bool

    @property
    def commands(self) -> list[str]:
        """The commands that have a policy. For INSERT and UPDATE, the policy must check new rows."""
        return [command for command in COMMANDS if any(_covers(policy, command) for policy in self.policies)]

    @property
    def unprotected_commands(self) -> list[str]:
        """The commands without a policy."""
        return [command for command in COMMANDS if command not in self.commands]


class LiveTable(Struct, frozen=True):
    """A table in the database."""

    name: str
    columns: dict[str, str]  # name → type
    keys: list[list[str]]  # unique keys
    references: list[Reference]
    row_security: RowSecurity | None  # None: the engine has none


class _Structure(Struct, frozen=True):
    columns: dict[str, str]
    keys: list[list[str]]
    references: list[Reference]


def list_tables_with_prefix(tx: Transaction, prefix: str) -> list[str]:
    """Return the names of the tables with this prefix."""
    return tx.scalars(sql.tables_with_prefix, prefix=prefix)


def read_migration_time(tx: Transaction, name: str) -> str:
    """Return when the database has taken a migration."""
    return str(tx.scalar(sql.migration_time, name=name))


def read_live_tables(tx: Transaction, names: Iterable[str]) -> dict[str, LiveTable]:
    """Return the tables that exist, in the given order."""
    requested = list(names)
    structures = _read_structures(tx, requested)
    row_security = read_row_security(tx, requested)
    return {
        name: LiveTable(name, structure.columns, structure.keys, structure.references, row_security.get(name))
        for name in requested
        if (structure := structures.get(name)) is not None
    }


def check_row_security(tx: Transaction, tables: Iterable[str]) -> list[str] | None:
    """Return the problems of the row level security of some tables; None if the engine has none."""
    requested = list(tables)
    row_security = read_row_security(tx, requested)
    if requested and not row_security:
        return None
    return [
        *_check_role(row_security.values()),
        *(problem for name, security in row_security.items() for problem in _check_table(name, security)),
    ]


def read_row_security(tx: Transaction, names: list[str]) -> dict[str, RowSecurity]:
    """Return the row level security of tables by name. Missing tables have none. The result is empty on SQLite."""
    problems: dict[str, str] = dict(tx.all(sql.live_row_security, names=to_json_array(names)))
    return {name: get_decoder(RowSecurity).decode(problems[name]) for name in names if name in problems}


def _read_structures(tx: Transaction, names: list[str]) -> dict[str, _Structure]:
    rows = tx.all(sql.live_structures, names=to_json_array(names))
    return {name: get_decoder(_Structure).decode(facts) for name, facts in rows}


def _check_role(tables: Iterable[RowSecurity]) -> Iterator[str]:
    each_table = list(tables)
    if any(security.is_superuser for security in each_table):
        yield "the role that Groundplan connects with is a superuser"
    if any(security.bypasses_policies for security in each_table):
        yield "the role that Groundplan connects with bypasses row level security"


def _check_table(name: str, security: RowSecurity) -> Iterator[str]:
    if security.owned:
        yield f"the role that Groundplan connects with owns {name}"
    if not security.enabled:
        yield f"row level security is not enabled on {name}"
    if not security.forced:
        yield f"row level security is not forced on {name}"
    if security.unprotected_commands:
        yield f"{name} has no policy for {', '.join(security.unprotected_commands)}"
    for policy in security.policies:
        if not policy.checks_tenant:
            yield f"policy {policy.name} on {name} does not check the tenant"


def _covers(policy: Policy, command: str) -> bool:
    checks_new_rows = command not in ("INSERT", "UPDATE") or policy.writes is not None
    return policy.command == command and checks_new_rows
