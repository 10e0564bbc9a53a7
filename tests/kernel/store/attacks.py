"""Every known way to change a row that must not change, as SQL on the app's own connection.

A slice declares its rows (`TargetRow`) and, where they lie below something that can become final, how they hang
together (`Family`); the attacks are generated from that for either engine. Each attack names its precondition, so that
a test can show both that it is refused and that it would work otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from enum import Enum

from groundplan.kernel.store.migrations import Dialect
from groundplan.kernel.store.schema import FreezeRule
from tests.engines import Engine, Rows, Run, run_and_undo

Value = str | float | bool | None
Row = Mapping[str, Value]


class Precondition(Enum):
    """The condition under which an attack succeeds."""

    EDIT = "the row may still change"
    UNDO = "there are no guards"
    DETACH = "there are neither guards nor references"
    BULK = "there are no guards, and the attacker has the rights of the owner"
    TAMPER = "the attacker has the rights of the owner, and takes the guards down"


@dataclass(frozen=True, slots=True)
class Attack:
    """Statements of one transaction."""

    name: str
    needs: Precondition
    statements: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TargetRow:
    """An existing row, and what an attacker would change in it."""

    table: str
    key: tuple[str, ...]  # a unique key
    row: Row  # every column
    change: Row = field(default_factory=dict)  # columns and other values for them
    fresh: Row = field(default_factory=dict)  # values that make a copy of the row a new row
    anchors: tuple[str, ...] = ()  # references to rows below the same parent, which must move along

    @property
    def where(self) -> str:
        return sql_where({column: self.row[column] for column in self.key})

    @property
    def assignment(self) -> str:
        return sql_set(self.change)

    def sql_move(self, columns: Sequence[str], key: Sequence[Value], there: TargetRow) -> str:
        """Return SQL that moves the row below the parent with this key, where `there` already is."""
        beside = {**there.row, **there.fresh}
        to = dict(zip(columns, key, strict=True)) | {column: beside[column] for column in self.anchors}
        return f"UPDATE {self.table} SET {sql_set(to)} WHERE {self.where}"


@dataclass(frozen=True, slots=True)
class Family:
    """A parent, one row of each child table, and the rows that the children refer to."""

    parent: TargetRow
    children: tuple[TargetRow, ...]
    reopened: Row  # the values that make the parent open again
    beside: tuple[TargetRow, ...] = ()  # rows that the children refer to; a referenced row comes first
    cascades: bool = False  # whether deleting a parent deletes its children, instead of being refused

    def key(self, frozen: FreezeRule) -> tuple[Value, ...]:
        return tuple(self.parent.row[column] for column in frozen.key)

    @property
    def bottom_up(self) -> tuple[TargetRow, ...]:
        return (*self.children, *reversed(self.beside), self.parent)


def row_attacks(prey: TargetRow, dialect: Dialect) -> Iterator[Attack]:
    """Yield the attacks on one row and on its guards."""
    table, where, assignment = prey.table, prey.where, prey.assignment
    update = f"UPDATE {table} SET {assignment} WHERE {where}"
    upsert = f"{sql_insert(table, prey.row)} ON CONFLICT ({', '.join(prey.key)}) DO UPDATE SET {assignment}"
    yield Attack(f"update {table}", Precondition.EDIT, (update,))
    yield Attack(f"upsert {table}", Precondition.EDIT, (upsert,))
    yield Attack(f"delete {table}", Precondition.EDIT, (f"DELETE FROM {table} WHERE {where}",))
    if dialect is Dialect.SQLITE:
        for clause in ("REPLACE", "IGNORE"):
            spelled = update.replace("UPDATE", f"UPDATE OR {clause}", 1)
            yield Attack(f"update or {clause} {table}", Precondition.EDIT, (spelled,))
        yield Attack(f"replace {table}", Precondition.EDIT, (sql_replace(prey),))
        yield from _sqlite_tamper_attacks(prey, update)
    else:
        merge = f"MERGE INTO {table} USING (SELECT 1) AS one ON {where} WHEN MATCHED THEN"
        yield Attack(f"merge {table}", Precondition.EDIT, (f"{merge} UPDATE SET {assignment}",))
        yield Attack(f"merge away {table}", Precondition.EDIT, (f"{merge} DELETE",))
        yield Attack(
            f"update {table} in WITH", Precondition.EDIT, (f"WITH x AS ({update} RETURNING 1) SELECT * FROM x",)
        )
        yield Attack(f"truncate {table}", Precondition.BULK, (f"TRUNCATE {table} CASCADE",))
        yield from _postgres_tamper_attacks(table, update)


def _sqlite_tamper_attacks(prey: TargetRow, update: str) -> Iterator[Attack]:
    unguard = f"DELETE FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = '{prey.table}'"
    yield Attack(f"erase the guards of {prey.table}", Precondition.TAMPER, ("PRAGMA writable_schema = ON", unguard))
    yield Attack(
        f"replace {prey.table} quietly", Precondition.BULK, ("PRAGMA recursive_triggers = OFF", sql_replace(prey))
    )
    yield Attack(f"update {prey.table} unchecked", Precondition.BULK, ("PRAGMA ignore_check_constraints = ON", update))


def _postgres_tamper_attacks(table: str, update: str) -> Iterator[Attack]:
    disable = f"ALTER TABLE {table} DISABLE TRIGGER ALL"
    yield Attack(f"disable the triggers of {table}", Precondition.TAMPER, (disable, update))
    yield Attack(
        f"act as a replica on {table}", Precondition.TAMPER, ("SET session_replication_role = replica", update)
    )


def guard_attacks(engine: Engine, tables: Sequence[str]) -> Iterator[Attack]:
    """Yield the attacks that remove a guard of these tables."""
    for name, table in guards_of(engine, tables):
        yield Attack(f"drop {name}", Precondition.TAMPER, (_sql_drop_trigger(engine, name, table),))
        if engine.dialect is Dialect.POSTGRES:
            yield Attack(f"disable {name}", Precondition.TAMPER, (f"ALTER TABLE {table} DISABLE TRIGGER {name}",))


def family_attacks(frozen: FreezeRule, target: Family, other: Family, dialect: Dialect) -> Iterator[Attack]:
    """Yield the attacks on a family or a part of it. `other` may still change; rows are moved from and to it."""
    yield from _parent_attacks(frozen, target, dialect)
    if dialect is Dialect.SQLITE:
        # The children of the other one would lose their parent.
        taken = sql_set({**other.parent.change, **dict(zip(frozen.key, target.key(frozen), strict=True))})
        over = f"UPDATE OR REPLACE {frozen.parent} SET {taken} WHERE {other.parent.where}"
        yield Attack("trample the parent", Precondition.DETACH, (over,))
    for child, stranger in zip(target.children, other.children, strict=True):
        columns = frozen.children[child.table]
        yield from row_attacks(child, dialect)
        new = sql_insert(child.table, {**child.row, **child.fresh})
        yield Attack(f"insert into {child.table}", Precondition.EDIT, (new,))
        out = child.sql_move(columns, other.key(frozen), stranger)
        yield Attack(f"move out of {child.table}", Precondition.EDIT, (out,))
        into = stranger.sql_move(columns, target.key(frozen), child)
        yield Attack(f"move into {child.table}", Precondition.EDIT, (into,))
        if dialect is Dialect.SQLITE:
            ignoring = new.replace("INSERT", "INSERT OR IGNORE", 1)
            yield Attack(f"insert or ignore into {child.table}", Precondition.EDIT, (ignoring,))
            yield from _overwrite_attacks(child, stranger, columns)
        else:
            yield Attack(f"copy into {child.table}", Precondition.BULK, (sql_copy(child),))


def _parent_attacks(frozen: FreezeRule, target: Family, dialect: Dialect) -> Iterator[Attack]:
    parent = target.parent
    # A parent with children cannot be deleted: they would lose their parent.
    gone = Precondition.UNDO if target.cascades else Precondition.DETACH
    goes = {f"delete {parent.table}", f"replace {parent.table}", f"merge away {parent.table}"}
    for attack in row_attacks(parent, dialect):
        yield replace(attack, needs=gone) if attack.name in goes else attack
    reopened = f"UPDATE {parent.table} SET {sql_set(target.reopened)} WHERE {parent.where}"
    yield Attack("set the status back", Precondition.UNDO, (reopened,))
    if dialect is Dialect.SQLITE:
        anew = sql_insert(parent.table, {**parent.row, **target.reopened}, verb="INSERT OR REPLACE")
        yield Attack("begin the parent again", gone, (anew,))
    elsewhere = sql_set({**parent.change, frozen.key[-1]: "elsewhere"})
    moved = f"UPDATE {parent.table} SET {elsewhere} WHERE {parent.where}"
    yield Attack("give the parent another key", gone, (moved,))
    below = tuple(f"DELETE FROM {prey.table} WHERE {prey.where}" for prey in target.bottom_up)
    yield Attack("delete from the bottom up", Precondition.EDIT, below)


def _overwrite_attacks(child: TargetRow, stranger: TargetRow, columns: Sequence[str]) -> Iterator[Attack]:
    """Yield attacks in which an open row takes the key of another row and so removes it."""
    taken = sql_set({column: child.row[column] for column in child.key})
    over = f"UPDATE OR REPLACE {child.table} SET {taken} WHERE {stranger.where}"
    yield Attack(f"trample a row of {child.table}", Precondition.EDIT, (over,))
    # If the parent is part of the key, the row moves below it, and a guard sees that.
    needs = Precondition.BULK if set(columns) <= set(child.key) else Precondition.TAMPER
    yield Attack(f"trample {child.table} quietly", needs, ("PRAGMA recursive_triggers = OFF", over))


class FreezeAttack:
    """All attacks on families of one engine. `other` may still change; rows are moved from and to it."""

    def __init__(self, engine: Engine, frozen: FreezeRule, other: Family) -> None:
        self.engine = engine
        self.tables = [frozen.parent, *frozen.children]
        self.show = query_state((*other.children, other.parent), engine.dialect)
        self._frozen = frozen
        self._other = other

    def attacks(self, target: Family, *preconditions: Precondition) -> list[Attack]:
        found = [
            attack
            for attack in (
                *family_attacks(self._frozen, target, self._other, self.engine.dialect),
                *guard_attacks(self.engine, self.tables),
            )
            if attack.needs in preconditions
        ]
        assert found
        return found

    def find_accepted(self, run: Run, attacks: Sequence[Attack]) -> list[str]:
        """Return the attacks that are not refused, with or without effect."""
        return [attack.name for attack in attacks if self._outcome(run, attack) is not None]

    def without_effect(self, run: Run, attacks: Sequence[Attack]) -> list[str]:
        """Return the attacks that change nothing, refused or not."""
        before = run(self.show)
        return [attack.name for attack in attacks if self._outcome(run, attack) in (None, before)]

    def with_effect(self, run: Run, attacks: Sequence[Attack]) -> list[str]:
        """Return the attacks that change something."""
        before = run(self.show)
        return [attack.name for attack in attacks if self._outcome(run, attack) not in (None, before)]

    def _outcome(self, run: Run, attack: Attack) -> Rows | None:
        with suppress(*self.engine.refusals):
            return run_and_undo(run, *attack.statements, self.show)
        return None


def query_state(preys: Sequence[TargetRow], dialect: Dialect) -> str:
    """Return one query for all rows of the tables and for their guards."""
    parts = []
    for prey in {prey.table: prey for prey in preys}.values():
        columns = " || '|' || ".join(f"coalesce(CAST({column} AS text), '-')" for column in prey.row)
        parts.append(f"SELECT '{prey.table}' AS place, {columns} AS what FROM {prey.table}")
    if dialect is Dialect.SQLITE:
        parts.append("SELECT 'trigger', sql FROM sqlite_schema WHERE type = 'trigger'")
    else:
        parts.append("SELECT 'trigger', tgname::text || tgenabled::text FROM pg_trigger WHERE NOT tgisinternal")
        parts.append("SELECT 'function', proname::text || prosrc FROM pg_proc WHERE proname LIKE 'guard%'")
    return " UNION ALL ".join(parts) + " ORDER BY 1, 2"


def guards_of(engine: Engine, tables: Sequence[str]) -> Rows:
    """Return name and table of every trigger on these tables."""
    names = ", ".join(f"'{table}'" for table in tables)
    if engine.dialect is Dialect.SQLITE:
        found = f"SELECT name, tbl_name FROM sqlite_schema WHERE type = 'trigger' AND tbl_name IN ({names}) ORDER BY 1"
    else:
        found = (
            "SELECT t.tgname, c.relname FROM pg_trigger AS t JOIN pg_class AS c ON c.oid = t.tgrelid "
            f"WHERE NOT t.tgisinternal AND c.relname IN ({names}) ORDER BY 1"
        )
    return engine.as_owner(found)


def drop_guards(engine: Engine, tables: Sequence[str]) -> None:
    """Drop every trigger on these tables."""
    engine.as_owner(*sql_drop_guards(engine, tables))


def sql_drop_guards(engine: Engine, tables: Sequence[str]) -> list[str]:
    """Return the SQL that drops every trigger on these tables."""
    return [_sql_drop_trigger(engine, name, table) for name, table in guards_of(engine, tables)]


def _sql_drop_trigger(engine: Engine, name: str, table: str) -> str:
    return f"DROP TRIGGER {name}" + ("" if engine.dialect is Dialect.SQLITE else f" ON {table}")


def sql_literal(value: Value) -> str:
    if value is None:
        return "NULL"
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else str(value)


def sql_set(values: Row) -> str:
    return ", ".join(f"{column} = {sql_literal(value)}" for column, value in values.items())


def sql_where(row: Row) -> str:
    return " AND ".join(f"{column} = {sql_literal(value)}" for column, value in row.items())


def sql_insert(table: str, row: Row, *, verb: str = "INSERT") -> str:
    return f"{verb} INTO {table} ({', '.join(row)}) VALUES ({', '.join(map(sql_literal, row.values()))})"


def sql_replace(prey: TargetRow) -> str:
    return sql_insert(prey.table, {**prey.row, **prey.change}, verb="INSERT OR REPLACE")


def sql_copy(prey: TargetRow) -> str:
    row = {**prey.row, **prey.fresh}
    values = "\t".join("\\N" if value is None else str(value) for value in row.values())
    return f"COPY {prey.table} ({', '.join(row)}) FROM STDIN\n{values}\n"
