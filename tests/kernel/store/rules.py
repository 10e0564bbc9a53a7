"""The rules that a migration writes into the schema itself: none is untried, and each one holds alone.

A slice names what its rules forbid (`Attempt`) and gathers that with its migration (`Rulebook`). The owner of the
schema makes every attempt twice: as things are, when the rule that is named must refuse it; and with that one rule
switched off, to see that nothing else stood in the way. A rulebook answers with what went otherwise; that should be
nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache

from groundplan.kernel.actors import local_actor
from groundplan.kernel.store.migrations import Dialect, load_migrations
from groundplan.kernel.store.queries import Query
from tests.engines import Engine, Rows, Run, undone
from tests.kernel.store.attacks import Value, assigned

DONE = "done"
NAMED = re.compile(r"CONSTRAINT (\w+) (PRIMARY KEY|UNIQUE|FOREIGN KEY|CHECK)|CREATE (TRIGGER|UNIQUE INDEX) (\w+)")
NOT_NUMBERS = {  # of which each engine has its own spelling
    Dialect.SQLITE: {"'Infinity'": "9e999", "'-Infinity'": "-9e999"},
    Dialect.POSTGRES: {},
}


@dataclass(frozen=True, slots=True)
class Attempt:
    """A statement and the rule that forbids it. Its effect is looked for in the table that it changes."""

    statement: str
    rule: str
    only: Dialect | None = None

    def spelled(self, dialect: Dialect) -> str:
        text = self.statement
        for word, spelling in NOT_NUMBERS[dialect].items():
            text = text.replace(word, spelling)
        return text


def _nothing(_: Engine) -> Iterable[str]:
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Rulebook:
    """The rules of one migration, and what they forbid."""

    migration: str
    tables: Sequence[str]
    attempts: Mapping[str, Attempt]  # by what they are attempts at
    words: Mapping[str, str]  # what each trigger says
    excused: AbstractSet[str]  # rules that need no attempt here
    on_sqlite_alone: AbstractSet[str] = frozenset()
    first: Callable[[Engine], Iterable[str]] = _nothing  # what the owner says before anything else

    def loose_ends(self) -> list[str]:
        """On either engine: the rules that nothing tries, the triggers without a word, and names that are no rule's."""
        tried = {attempt.rule for attempt in self.attempts.values()} | self.excused
        loose: list[str] = []
        for dialect in Dialect:
            named = rules(self.migration, dialect)
            triggers = {rule for rule, sort in named.items() if sort == "TRIGGER"}
            elsewhere = self.on_sqlite_alone if dialect is Dialect.POSTGRES else frozenset()
            ends = (named.keys() ^ (tried - elsewhere)) | (triggers ^ (self.words.keys() - elsewhere))
            loose += (f"{name} on {dialect}" for name in sorted(ends))
        return loose

    def unrefused(self, engine: Engine) -> dict[str, str]:
        """The attempts that were not refused by their rule, and what was said to them instead."""
        with self._owned(engine) as run:
            answers = {what: said(engine, run, attempt) for what, attempt in self._here(engine).items()}
        return {
            what: answer for what, answer in answers.items() if self.expected(engine, self.attempts[what]) not in answer
        }

    def blocked(self, engine: Engine) -> dict[str, str]:
        """The attempts that something else stops when their rule is switched off, and what it says."""
        lite = engine.dialect is Dialect.SQLITE
        blocked = {}
        for references in (True, False) if lite else (True,):
            with self._owned(engine, references=references) as run:
                if lite:
                    # A single constraint cannot be taken down there, only all of a kind, and a key not at all.
                    run("PRAGMA ignore_check_constraints = ON")
                before = {table: _picture(run(_shown(table))) for table in self.tables}
                for what, attempt in self._here(engine).items():
                    sort = self._sort(engine, attempt)
                    if lite and (sort in ("PRIMARY KEY", "UNIQUE") or references == (sort == "FOREIGN KEY")):
                        continue
                    table = self._changed_table(attempt)
                    steps = (*self._switched_off(engine, attempt), attempt.spelled(engine.dialect), _shown(table))
                    try:
                        if _picture(undone(run, *steps)) == before[table]:
                            blocked[what] = "changed nothing"
                    except engine.refusals as refusal:
                        blocked[what] = str(refusal)
        return blocked

    def refused(self, engine: Engine, statements: Iterable[str]) -> dict[str, str]:
        """Which of the statements are refused, and in what words."""
        return {one: answer for one, answer in self._answers(engine, statements).items() if answer != DONE}

    def done(self, engine: Engine, statements: Iterable[str]) -> list[str]:
        """Which of the statements are not refused."""
        return [one for one, answer in self._answers(engine, statements).items() if answer == DONE]

    def expected(self, engine: Engine, attempt: Attempt) -> str:
        """How the refusal names the rule."""
        sort = self._sort(engine, attempt)
        if sort == "TRIGGER":
            return f"{self.words[attempt.rule]}: {self._rule_table(attempt)}"
        if engine.dialect is Dialect.SQLITE and sort != "CHECK":
            # It does not say which.
            return "FOREIGN KEY constraint failed" if sort == "FOREIGN KEY" else "UNIQUE constraint failed"
        return attempt.rule

    def _switched_off(self, engine: Engine, attempt: Attempt) -> list[str]:
        """The statements that take the rule away; where SQLite has none, its constraints are off already."""
        rule, sort = attempt.rule, self._sort(engine, attempt)
        if sort == "UNIQUE INDEX":
            return [f"DROP INDEX {rule}"]
        if engine.dialect is Dialect.SQLITE:
            return [f"DROP TRIGGER {rule}"] if sort == "TRIGGER" else []
        if sort == "TRIGGER":
            return [f"DROP TRIGGER {rule} ON {self._rule_table(attempt)}"]
        return [f"ALTER TABLE {self._rule_table(attempt)} DROP CONSTRAINT {rule}"]

    def _answers(self, engine: Engine, statements: Iterable[str]) -> dict[str, str]:
        with self._owned(engine) as run:
            return {one: said(engine, run, Attempt(one, "")) for one in statements}

    def _here(self, engine: Engine) -> dict[str, Attempt]:
        return {what: one for what, one in self.attempts.items() if one.only in (None, engine.dialect)}

    def _sort(self, engine: Engine, attempt: Attempt) -> str:
        return rules(self.migration, engine.dialect)[attempt.rule]

    def _changed_table(self, attempt: Attempt) -> str:
        return next(word for word in attempt.statement.split() if word in self.tables)

    def _rule_table(self, attempt: Attempt) -> str:
        return next(table for table in self.tables if attempt.rule.startswith(f"{table}_"))

    @contextmanager
    def _owned(self, engine: Engine, *, references: bool = True) -> Iterator[Run]:
        """A transaction of the owner's, of which nothing is left."""
        with engine.owned(references=references) as run:
            for statement in self.first(engine):
                run(statement)
            yield run


@cache
def rules(migration: str, dialect: Dialect) -> Mapping[str, str]:
    """Every rule that the migration names, and of what sort it is."""
    text = next(step.text for step in load_migrations(dialect) if step.name == migration)
    return {name or other: sort or kind for name, sort, kind, other in NAMED.findall(text)}


def said(engine: Engine, run: Run, attempt: Attempt) -> str:
    """What the database says to it."""
    try:
        undone(run, attempt.spelled(engine.dialect))
    except engine.refusals as refusal:
        return str(refusal)
    return DONE


def written(engine: Engine, statement: str) -> int:
    """How many rows it changed, when Ada writes it to atlas by way of the store."""
    return engine.store.write(local_actor("ada"), "atlas", lambda tx: tx.run(Query("raw", statement)))


def a_project(name: str, at: str) -> str:
    """The statement that begins a project of Ada's."""
    return (
        "INSERT INTO projects (tenant_id, id, name, created_at, created_by, updated_at) "
        f"VALUES ('local', '{name}', '{name}', '{at}', 'ada', '{at}')"
    )


def old(table: str, id_: str, /, **changes: Value) -> str:
    """The statement that changes a row which is there."""
    return f"UPDATE {table} SET {assigned(changes)} WHERE id = '{id_}'"


def _shown(table: str) -> str:
    return f"SELECT * FROM {table}"


def _picture(rows: Rows) -> list[str]:
    """The rows in an order of their own, whatever their columns are."""
    return sorted(map(repr, rows))
