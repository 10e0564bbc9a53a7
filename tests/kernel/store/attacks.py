"""Every way we know to change a row that must not change, as SQL of somebody who has the app's own connection.

A slice names its rows (`Prey`) and, where they lie below something that can become final, how they hang together
(`Family`); the attacks are generated from that, for either engine. Each says in which `Way` it could succeed, so that a
test can show both that it is refused and that it is no blank shot.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from enum import Enum

from groundplan.kernel.store.migrations import Dialect
from groundplan.kernel.store.tables import FreezeRule
from tests.engines import Engine, Rows, Run, undone

Value = str | float | bool | None
Row = Mapping[str, Value]


class Way(Enum):
    """What it takes for an attack to succeed."""

    EDIT = "the row may still change"
    UNDO = "there are no guards"
    DETACH = "there are neither guards nor references"
    BULK = "there are no guards, and the attacker has the rights of the owner"
    TAMPER = "the attacker has the rights of the owner, and takes the guards down"


@dataclass(frozen=True, slots=True)
class Attack:
    """Statements for one transaction."""

    name: str
    way: Way
    statements: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Prey:
    """A row that is there, and what an attacker would make of it."""

    table: str
    key: tuple[str, ...]  # a unique one
    row: Row  # every column
    change: Row = field(default_factory=dict)  # columns and other values for them
    fresh: Row = field(default_factory=dict)  # what makes a copy of the row another row
    anchors: tuple[str, ...] = ()  # columns that point to rows below the same parent, and so must go along

    @property
    def where(self) -> str:
        return matching({column: self.row[column] for column in self.key})

    @property
    def assignment(self) -> str:
        return assigned(self.change)

    def moved(self, columns: Sequence[str], key: Sequence[Value], there: Prey) -> str:
        """The statement that puts it below the parent with this key, where another one is already."""
        beside = {**there.row, **there.fresh}
        to = dict(zip(columns, key, strict=True)) | {column: beside[column] for column in self.anchors}
        return f"UPDATE {self.table} SET {assigned(to)} WHERE {self.where}"


@dataclass(frozen=True, slots=True)
class Family:
    """A parent with one row below it in every child table that nothing refers to, and what those refer to."""

    parent: Prey
    children: tuple[Prey, ...]
    reopened: Row  # what would make the parent open again
    beside: tuple[Prey, ...] = ()  # what the children refer to, before what refers to it
    cascades: bool = False  # whether a parent takes with it what lies below, or may not go while there is anything

    def key(self, frozen: FreezeRule) -> tuple[Value, ...]:
        return tuple(self.parent.row[column] for column in frozen.key)

    @property
    def bottom_up(self) -> tuple[Prey, ...]:
        return (*self.children, *reversed(self.beside), self.parent)


def row_attacks(prey: Prey, dialect: Dialect) -> Iterator[Attack]:
    """The ways to change or remove one row, and those to take away what watches over it."""
    table, where, assignment = prey.table, prey.where, prey.assignment
    update = f"UPDATE {table} SET {assignment} WHERE {where}"
    upsert = f"{inserted(table, prey.row)} ON CONFLICT ({', '.join(prey.key)}) DO UPDATE SET {assignment}"
    yield Attack(f"update {table}", Way.EDIT, (update,))
    yield Attack(f"upsert {table}", Way.EDIT, (upsert,))
    yield Attack(f"delete {table}", Way.EDIT, (f"DELETE FROM {table} WHERE {where}",))
    if dialect is Dialect.SQLITE:
        for clause in ("REPLACE", "IGNORE"):
            spelled = update.replace("UPDATE", f"UPDATE OR {clause}", 1)
            yield Attack(f"update or {clause} {table}", Way.EDIT, (spelled,))
        yield Attack(f"replace {table}", Way.EDIT, (replaced(prey),))
        yield from _sqlite_tampering(prey, update)
    else:
        merge = f"MERGE INTO {table} USING (SELECT 1) AS one ON {where} WHEN MATCHED THEN"
        yield Attack(f"merge {table}", Way.EDIT, (f"{merge} UPDATE SET {assignment}",))
        yield Attack(f"merge away {table}", Way.EDIT, (f"{merge} DELETE",))
        yield Attack(f"update {table} in WITH", Way.EDIT, (f"WITH x AS ({update} RETURNING 1) SELECT * FROM x",))
        yield Attack(f"truncate {table}", Way.BULK, (f"TRUNCATE {table} CASCADE",))
        yield from _postgres_tampering(table, update)


def _sqlite_tampering(prey: Prey, update: str) -> Iterator[Attack]:
    unguard = f"DELETE FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = '{prey.table}'"
    yield Attack(f"erase the guards of {prey.table}", Way.TAMPER, ("PRAGMA writable_schema = ON", unguard))
    yield Attack(f"replace {prey.table} quietly", Way.BULK, ("PRAGMA recursive_triggers = OFF", replaced(prey)))
    yield Attack(f"update {prey.table} unchecked", Way.BULK, ("PRAGMA ignore_check_constraints = ON", update))


def _postgres_tampering(table: str, update: str) -> Iterator[Attack]:
    disable = f"ALTER TABLE {table} DISABLE TRIGGER ALL"
    yield Attack(f"disable the triggers of {table}", Way.TAMPER, (disable, update))
    yield Attack(f"act as a replica on {table}", Way.TAMPER, ("SET session_replication_role = replica", update))


def guard_attacks(engine: Engine, tables: Sequence[str]) -> Iterator[Attack]:
    """The ways to take down each guard of these tables."""
    for name, table in guards_of(engine, tables):
        yield Attack(f"drop {name}", Way.TAMPER, (_dropped(engine, name, table),))
        if engine.dialect is Dialect.POSTGRES:
            yield Attack(f"disable {name}", Way.TAMPER, (f"ALTER TABLE {table} DISABLE TRIGGER {name}",))


def family_attacks(frozen: FreezeRule, target: Family, other: Family, dialect: Dialect) -> Iterator[Attack]:
    """The ways to change a family as a whole or in part. `other` is one that may still change, to move rows about."""
    yield from _parent_attacks(frozen, target, dialect)
    if dialect is Dialect.SQLITE:
        # What lies below the other one would be left without a parent.
        taken = assigned({**other.parent.change, **dict(zip(frozen.key, target.key(frozen), strict=True))})
        over = f"UPDATE OR REPLACE {frozen.parent} SET {taken} WHERE {other.parent.where}"
        yield Attack("trample the parent", Way.DETACH, (over,))
    for child, stranger in zip(target.children, other.children, strict=True):
        columns = frozen.children[child.table]
        yield from row_attacks(child, dialect)
        new = inserted(child.table, {**child.row, **child.fresh})
        yield Attack(f"insert into {child.table}", Way.EDIT, (new,))
        out = child.moved(columns, other.key(frozen), stranger)
        yield Attack(f"move out of {child.table}", Way.EDIT, (out,))
        into = stranger.moved(columns, target.key(frozen), child)
        yield Attack(f"move into {child.table}", Way.EDIT, (into,))
        if dialect is Dialect.SQLITE:
            ignoring = new.replace("INSERT", "INSERT OR IGNORE", 1)
            yield Attack(f"insert or ignore into {child.table}", Way.EDIT, (ignoring,))
            yield from _trampling(child, stranger, columns)
        else:
            yield Attack(f"copy into {child.table}", Way.BULK, (copied(child),))


def _parent_attacks(frozen: FreezeRule, target: Family, dialect: Dialect) -> Iterator[Attack]:
    parent = target.parent
    # While rows lie below, a parent cannot go: they would be seen without one.
    gone = Way.UNDO if target.cascades else Way.DETACH
    goes = {f"delete {parent.table}", f"replace {parent.table}", f"merge away {parent.table}"}
    for attack in row_attacks(parent, dialect):
        yield replace(attack, way=gone) if attack.name in goes else attack
    reopened = f"UPDATE {parent.table} SET {assigned(target.reopened)} WHERE {parent.where}"
    yield Attack("set the status back", Way.UNDO, (reopened,))
    if dialect is Dialect.SQLITE:
        anew = inserted(parent.table, {**parent.row, **target.reopened}, verb="INSERT OR REPLACE")
        yield Attack("begin the parent again", gone, (anew,))
    elsewhere = assigned({**parent.change, frozen.key[-1]: "elsewhere"})
    moved = f"UPDATE {parent.table} SET {elsewhere} WHERE {parent.where}"
    yield Attack("give the parent another key", gone, (moved,))
    below = tuple(f"DELETE FROM {prey.table} WHERE {prey.where}" for prey in target.bottom_up)
    yield Attack("delete from the bottom up", Way.EDIT, below)


def _trampling(child: Prey, stranger: Prey, columns: Sequence[str]) -> Iterator[Attack]:
    """An open row that takes the key of another one removes it."""
    taken = assigned({column: child.row[column] for column in child.key})
    over = f"UPDATE OR REPLACE {child.table} SET {taken} WHERE {stranger.where}"
    yield Attack(f"trample a row of {child.table}", Way.EDIT, (over,))
    # Where the parent is a part of the key, the row comes below it, which is not quiet any more.
    way = Way.BULK if set(columns) <= set(child.key) else Way.TAMPER
    yield Attack(f"trample {child.table} quietly", way, ("PRAGMA recursive_triggers = OFF", over))


class FreezeAttack:
    """Every attack on families of one engine, and what comes of it. `other` is open, to move rows about."""

    def __init__(self, engine: Engine, frozen: FreezeRule, other: Family) -> None:
        self.engine = engine
        self.tables = [frozen.parent, *frozen.children]
        self.show = picture((*other.children, other.parent), engine.dialect)
        self._frozen = frozen
        self._other = other

    def attacks(self, target: Family, *ways: Way) -> list[Attack]:
        found = [
            attack
            for attack in (
                *family_attacks(self._frozen, target, self._other, self.engine.dialect),
                *guard_attacks(self.engine, self.tables),
            )
            if attack.way in ways
        ]
        assert found
        return found

    def unrefused(self, run: Run, attacks: Sequence[Attack]) -> list[str]:
        """The attacks that are let through in a transaction, whatever comes of them."""
        return [attack.name for attack in attacks if self._outcome(run, attack) is not None]

    def without_effect(self, run: Run, attacks: Sequence[Attack]) -> list[str]:
        """The attacks that change nothing, refused or not."""
        before = run(self.show)
        return [attack.name for attack in attacks if self._outcome(run, attack) in (None, before)]

    def with_effect(self, run: Run, attacks: Sequence[Attack]) -> list[str]:
        """The attacks that change something."""
        before = run(self.show)
        return [attack.name for attack in attacks if self._outcome(run, attack) not in (None, before)]

    def _outcome(self, run: Run, attack: Attack) -> Rows | None:
        with suppress(*self.engine.refusals):
            return undone(run, *attack.statements, self.show)
        return None


def picture(preys: Sequence[Prey], dialect: Dialect) -> str:
    """One query for all rows of the tables, and for everything that guards them."""
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
    """The name and the table of every trigger on these tables."""
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
    """Leave these tables to whoever comes."""
    engine.as_owner(*guards_dropped(engine, tables))


def guards_dropped(engine: Engine, tables: Sequence[str]) -> list[str]:
    """The statements that do it."""
    return [_dropped(engine, name, table) for name, table in guards_of(engine, tables)]


def _dropped(engine: Engine, name: str, table: str) -> str:
    return f"DROP TRIGGER {name}" + ("" if engine.dialect is Dialect.SQLITE else f" ON {table}")


def literal(value: Value) -> str:
    if value is None:
        return "NULL"
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else str(value)


def assigned(values: Row) -> str:
    return ", ".join(f"{column} = {literal(value)}" for column, value in values.items())


def matching(row: Row) -> str:
    return " AND ".join(f"{column} = {literal(value)}" for column, value in row.items())


def inserted(table: str, row: Row, *, verb: str = "INSERT") -> str:
    return f"{verb} INTO {table} ({', '.join(row)}) VALUES ({', '.join(map(literal, row.values()))})"


def replaced(prey: Prey) -> str:
    return inserted(prey.table, {**prey.row, **prey.change}, verb="INSERT OR REPLACE")


def copied(prey: Prey) -> str:
    row = {**prey.row, **prey.fresh}
    values = "\t".join("\\N" if value is None else str(value) for value in row.values())
    return f"COPY {prey.table} ({', '.join(row)}) FROM STDIN\n{values}\n"
