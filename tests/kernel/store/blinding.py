"""Statements that change the identity of their transaction between two rows, to hide rows from the guards.

Row level security evaluates the list of readable projects once for a statement, at its first row; a trigger asks again
for every row. So the first row of each statement here is harmless and is written with an identity that may write it;
then the statement itself changes the identity, and a guard that looks under the policies of the caller sees nothing
when the second, forbidden row arrives.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from groundplan.kernel.actors import Access, Actor, ActorKind
from tests.engines import PostgresEngine, Run, run_and_undo
from tests.kernel.store.attacks import Row, sql_literal, sql_set, sql_where

Shapes = Iterator[tuple[str, tuple[str, ...]]]  # by name, the statements of one attempt


UNREADABLE = frozenset({"digest"})  # of a token


@dataclass(frozen=True)
class IdentitySwitch:
    """A setting of the transaction, the identity that writes the first row, and the value that blinds."""

    setting: str
    honest: Actor
    blind: str

    def sql(self, when: str) -> str:
        """Return a condition that is always true and sets the blind value for rows where `when` holds."""
        value = f"CASE WHEN {when} THEN '{self.blind}' ELSE '{self.honest_value}' END"
        return f"set_config('groundplan.{self.setting}', {value}, true) IS NOT NULL"

    def sql_back(self) -> str:
        """Return a statement that sets the honest value again."""
        return f"SELECT set_config('groundplan.{self.setting}', '{self.honest_value}', true)"

    def sql_begin(self) -> str:
        """Return a statement that sets the honest identity."""
        actor = self.honest
        identity = {"tenant": actor.organization, "actor": actor.id, "access": actor.access, "kind": actor.kind}
        return "SELECT " + ", ".join(
            f"set_config('groundplan.{name}', '{value}', true)" for name, value in identity.items()
        )

    @property
    def honest_value(self) -> str:
        actor = self.honest
        values = {"actor": actor.id, "tenant": actor.organization}
        return values.get(self.setting) or (actor.access if self.setting == "access" else actor.kind).value


_ADA = Actor("local", "ada", ActorKind.PERSON, Access.MEMBERS)
_VISITOR = Actor("local", "visitor", ActorKind.PERSON, Access.OPEN)
SWITCHES = (
    IdentitySwitch("actor", _ADA, "nobody"),
    IdentitySwitch("tenant", _ADA, "elsewhere"),
    IdentitySwitch("access", _VISITOR, "members"),
    IdentitySwitch("kind", _ADA, "agent"),
)


@dataclass(frozen=True)
class Insertion:
    """Two rows to insert: the first is allowed, the second is not."""

    table: str
    allowed: Row
    forbidden: Row

    @property
    def effect(self) -> str:
        """Return a query that has a row when the forbidden row is there."""
        return f"SELECT 1 FROM {self.table} WHERE {_sql_identity(self.forbidden, self.allowed)}"

    def shapes(self, switch: IdentitySwitch) -> Shapes:
        columns = ", ".join(self.allowed)
        rows = f"json_populate_recordset(NULL::{self.table}, {sql_literal(json.dumps([self.allowed, self.forbidden]))})"
        is_second = _sql_identity(self.forbidden, self.allowed, of="r.")
        source = f"SELECT {_sql_columns('r', self.allowed)} FROM {rows} AS r WHERE {switch.sql(is_second)}"
        insert = f"INSERT INTO {self.table} ({columns}) {source}"
        yield "insert", (insert,)
        yield "insert in WITH", (f"WITH x AS ({insert} RETURNING 1) SELECT * FROM x",)
        yield "insert on conflict", (f"{insert} ON CONFLICT DO NOTHING",)
        yield (
            "merge",
            (
                f"MERGE INTO {self.table} USING ({source}) AS s ON false "
                f"WHEN NOT MATCHED THEN INSERT ({columns}) VALUES ({_sql_columns('s', self.allowed)})",
            ),
        )
        one = f"json_populate_record(NULL::{self.table}, {{}}) AS r"
        first, second = (one.format(sql_literal(json.dumps(row))) for row in (self.allowed, self.forbidden))
        picked = _sql_columns("r", self.allowed)
        yield (
            "two inserts in one statement",
            (
                f"WITH x AS (INSERT INTO {self.table} ({columns}) SELECT {picked} FROM {first} "
                f"RETURNING {switch.sql('true')} AS done) "
                f"INSERT INTO {self.table} ({columns}) SELECT {picked} FROM x, {second} WHERE x.done",
            ),
        )
        lines = [
            "\t".join("\\N" if value is None else str(value) for value in row.values())
            for row in (self.allowed, self.forbidden)
        ]
        is_second = _sql_identity(self.forbidden, self.allowed)
        yield (
            "copy",
            (f"COPY {self.table} ({columns}) FROM STDIN WHERE {switch.sql(is_second)}\n" + "\n".join(lines) + "\n",),
        )


@dataclass(frozen=True)
class Update:
    """A change of two rows: the first row may change like this, the second may not."""

    table: str
    allowed: Row  # columns that identify the row
    forbidden: Row
    change: Row
    all_columns: Sequence[str] = ()  # for an upsert, with the columns of `conflict`
    conflict: str = "tenant_id, id"

    @property
    def effect(self) -> str:
        changed = {name: value for name, value in self.change.items() if value is not None}
        return f"SELECT 1 FROM {self.table} WHERE {sql_where(self.forbidden)} AND {sql_where(changed)}"

    def shapes(self, switch: IdentitySwitch) -> Shapes:
        both = f"(({sql_where(self.allowed)}) OR ({sql_where(self.forbidden)}))"
        hidden = switch.sql(sql_where(self.forbidden))
        update = f"UPDATE {self.table} SET {sql_set(self.change)} WHERE {both} AND {hidden}"
        yield "update", (update,)
        yield "update in WITH", (f"WITH x AS ({update} RETURNING 1) SELECT * FROM x",)
        yield "update in SET", (f"UPDATE {self.table} SET {self._sql_set_with(hidden)} WHERE {both}",)
        yield (
            "update at a cursor",
            (
                f"DECLARE c CURSOR FOR SELECT 1 FROM {self.table} WHERE {sql_where(self.forbidden)} FOR UPDATE",
                "FETCH c",
                f"UPDATE {self.table} SET {self._sql_set_with(switch.sql('true'))} WHERE CURRENT OF c",
            ),
        )
        keys = f"SELECT {_sql_columns('o', self.forbidden)} FROM {self.table} AS o"
        matched = " AND ".join(f"s.{name} = t.{name}" for name in self.forbidden)
        second = sql_where({f"s.{name}": value for name, value in self.forbidden.items()})
        among = f"(({_sql_where_of('s', self.allowed)}) OR ({_sql_where_of('s', self.forbidden)}))"
        yield (
            "merge",
            (
                f"MERGE INTO {self.table} AS t USING ({keys}) AS s ON {matched} AND {among} "
                f"WHEN MATCHED AND {switch.sql(second)} THEN UPDATE SET {sql_set(self.change)}",
            ),
        )
        if self.all_columns:
            columns = ", ".join(self.all_columns)
            yield (
                "upsert",
                (
                    f"INSERT INTO {self.table} ({columns}) "
                    f"SELECT {columns} FROM {self.table} WHERE {both} AND {hidden} "
                    f"ON CONFLICT ({self.conflict}) DO UPDATE SET {sql_set(self.change)}",
                ),
            )

    def _sql_set_with(self, condition: str) -> str:
        """Return the assignments, the last of which evaluates a condition that is always true."""
        *others, (column, value) = self.change.items()
        return ", ".join(
            (
                *(sql_set({name: one}) for name, one in others),
                f"{column} = CASE WHEN {condition} THEN {sql_literal(value)} END",
            )
        )


@dataclass(frozen=True)
class Deletion:
    """A row that must not be deleted. One is enough: no policy is checked after the condition."""

    table: str
    forbidden: Row

    @property
    def effect(self) -> str:
        return f"SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM {self.table} WHERE {sql_where(self.forbidden)})"

    def shapes(self, switch: IdentitySwitch) -> Shapes:
        # The switch names a column: without one, PostgreSQL may evaluate it before the policies.
        delete = f"DELETE FROM {self.table} WHERE {(where := sql_where(self.forbidden))} AND {switch.sql(where)}"
        yield "delete", (delete,)
        yield "delete in WITH", (f"WITH x AS ({delete} RETURNING 1) SELECT * FROM x",)
        yield (
            "merge",
            (
                f"MERGE INTO {self.table} AS t USING (SELECT 1) AS s ON {(at := _sql_where_of('t', self.forbidden))} "
                f"WHEN MATCHED AND {switch.sql(at)} THEN DELETE",
            ),
        )


Breach = Insertion | Update | Deletion


def find_passing_shapes(run: Run, breach: Breach, switch: IdentitySwitch) -> Iterator[str]:
    """Yield the shapes in which the forbidden row gets through, in a transaction with the honest identity."""
    for name, statements in breach.shapes(switch):
        if _has_effect(run, (*statements, switch.sql_back(), breach.effect)):
            yield name


def _has_effect(run: Run, statements: Sequence[str]) -> bool:
    with suppress(*PostgresEngine.refusals):
        return bool(run_and_undo(run, *statements))
    return False


def _sql_identity(row: Row, other: Row, of: str = "") -> str:
    """Return the condition for the values in which a row differs from another, and which the app role can read."""
    differing = {name: value for name, value in row.items() if value != other[name] and name not in UNREADABLE}
    return sql_where({f"{of}{name}": value for name, value in differing.items()})


def _sql_where_of(alias: str, row: Row) -> str:
    return sql_where({f"{alias}.{name}": value for name, value in row.items()})


def _sql_columns(alias: str, row: Row) -> str:
    return ", ".join(f"{alias}.{column}" for column in row)
