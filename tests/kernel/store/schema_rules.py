"""The constraints and triggers of the schema: each is tried, and each is needed.

A slice lists statements that its rules forbid (`Attempt`) and collects them with the names of its rules
(`SchemaRules`). The owner of the schema runs each attempt twice: as it is, when the named rule must refuse it; and with
that rule switched off, when it must succeed. The methods of `SchemaRules` return the exceptions; a test expects none.
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
from tests.engines import Engine, Rows, Run, run_and_undo
from tests.kernel.store.attacks import Value, sql_set

DONE = "done"
NAMED_RULE = re.compile(r"CONSTRAINT (\w+) (PRIMARY KEY|UNIQUE|FOREIGN KEY|CHECK)|CREATE (TRIGGER|UNIQUE INDEX) (\w+)")
NOT_NUMBERS = {  # spelled differently by each engine
    Dialect.SQLITE: {"'Infinity'": "9e999", "'-Infinity'": "-9e999"},
    Dialect.POSTGRES: {},
}


@dataclass(frozen=True, slots=True)
class Attempt:
    """A statement and the rule that forbids it. Its effect shows in the table that it changes."""

    statement: str
    rule: str
    only: Dialect | None = None

    def sql_for(self, dialect: Dialect) -> str:
        text = self.statement
        for word, spelling in NOT_NUMBERS[dialect].items():
            text = text.replace(word, spelling)
        return text


def _nothing(_: Engine) -> Iterable[str]:
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaRules:
    """Rules of the schema, and the statements that they forbid."""

    names: str  # a pattern of the names of these rules
    tables: Sequence[str]
    attempts: Mapping[str, Attempt]  # by description
    words: Mapping[str, str]  # the refusal word of each trigger
    exempt: AbstractSet[str]  # rules without an attempt
    sqlite_only: AbstractSet[str] = frozenset()
    first: Callable[[Engine], Iterable[str]] = _nothing  # statements that the owner runs first

    def find_uncovered(self) -> list[str]:
        """Return untried rules, triggers without a refusal word, and unknown names, for both engines."""
        tried = {attempt.rule for attempt in self.attempts.values()} | self.exempt
        loose: list[str] = []
        for dialect in Dialect:
            named = named_rules(self.names, dialect)
            triggers = {rule for rule, sort in named.items() if sort == "TRIGGER"}
            elsewhere = self.sqlite_only if dialect is Dialect.POSTGRES else frozenset()
            ends = (named.keys() ^ (tried - elsewhere)) | (triggers ^ (self.words.keys() - elsewhere))
            loose += (f"{name} on {dialect}" for name in sorted(ends))
        return loose

    def find_accepted(self, engine: Engine) -> dict[str, str]:
        """Return the attempts that their rule did not refuse, with the answer."""
        with self._owner_transaction(engine) as run:
            answers = {what: error_text(engine, run, attempt) for what, attempt in self._attempts_on(engine).items()}
        return {
            what: answer
            for what, answer in answers.items()
            if self.expected_text(engine, self.attempts[what]) not in answer
        }

    def find_blocked_elsewhere(self, engine: Engine) -> dict[str, str]:
        """Return the attempts that something else refuses when their rule is off, with the answer."""
        lite = engine.dialect is Dialect.SQLITE
        blocked = {}
        for references in (True, False) if lite else (True,):
            with self._owner_transaction(engine, references=references) as run:
                if lite:
                    # SQLite can only disable all constraints of a kind, and keys not at all.
                    run("PRAGMA ignore_check_constraints = ON")
                before = {table: _sort_rows(run(_sql_select(table))) for table in self.tables}
                for what, attempt in self._attempts_on(engine).items():
                    sort = self._rule_type(engine, attempt)
                    if lite and (sort in ("PRIMARY KEY", "UNIQUE") or references == (sort == "FOREIGN KEY")):
                        continue
                    table = self._changed_table(attempt)
                    steps = (
                        *self._sql_switch_off(engine, attempt),
                        attempt.sql_for(engine.dialect),
                        _sql_select(table),
                    )
                    try:
                        if _sort_rows(run_and_undo(run, *steps)) == before[table]:
                            blocked[what] = "changed nothing"
                    except engine.refusals as refusal:
                        blocked[what] = str(refusal)
        return blocked

    def find_refused(self, engine: Engine, statements: Iterable[str]) -> dict[str, str]:
        """Return the statements that are refused, with the message."""
        return {one: answer for one, answer in self._answers(engine, statements).items() if answer != DONE}

    def find_done(self, engine: Engine, statements: Iterable[str]) -> list[str]:
        """Return the statements that are not refused."""
        return [one for one, answer in self._answers(engine, statements).items() if answer == DONE]

    def expected_text(self, engine: Engine, attempt: Attempt) -> str:
        """Return the text by which a refusal names the rule."""
        sort = self._rule_type(engine, attempt)
        if sort == "TRIGGER":
            return f"{self.words[attempt.rule]}: {self._rule_table(attempt)}"
        if engine.dialect is Dialect.SQLITE and sort != "CHECK":
            # SQLite does not name the key.
            return "FOREIGN KEY constraint failed" if sort == "FOREIGN KEY" else "UNIQUE constraint failed"
        return attempt.rule

    def _sql_switch_off(self, engine: Engine, attempt: Attempt) -> list[str]:
        """Return SQL that removes the rule; [] if SQLite has switched it off already."""
        rule, sort = attempt.rule, self._rule_type(engine, attempt)
        if sort == "UNIQUE INDEX":
            return [f"DROP INDEX {rule}"]
        if engine.dialect is Dialect.SQLITE:
            return [f"DROP TRIGGER {rule}"] if sort == "TRIGGER" else []
        if sort == "TRIGGER":
            return [f"DROP TRIGGER {rule} ON {self._rule_table(attempt)}"]
        return [f"ALTER TABLE {self._rule_table(attempt)} DROP CONSTRAINT {rule}"]

    def _answers(self, engine: Engine, statements: Iterable[str]) -> dict[str, str]:
        with self._owner_transaction(engine) as run:
            return {one: error_text(engine, run, Attempt(one, "")) for one in statements}

    def _attempts_on(self, engine: Engine) -> dict[str, Attempt]:
        return {what: one for what, one in self.attempts.items() if one.only in (None, engine.dialect)}

    def _rule_type(self, engine: Engine, attempt: Attempt) -> str:
        return named_rules(self.names, engine.dialect)[attempt.rule]

    def _changed_table(self, attempt: Attempt) -> str:
        return next(word for word in attempt.statement.split() if word in self.tables)

    def _rule_table(self, attempt: Attempt) -> str:
        return next(table for table in self.tables if attempt.rule.startswith(f"{table}_"))

    @contextmanager
    def _owner_transaction(self, engine: Engine, *, references: bool = True) -> Iterator[Run]:
        """A transaction of the schema's owner that is rolled back."""
        with engine.owner_transaction(references=references) as run:
            for statement in self.first(engine):
                run(statement)
            yield run


@cache
def named_rules(names: str, dialect: Dialect) -> Mapping[str, str]:
    """Return each rule of the schema whose name begins with the pattern, with its type."""
    text = "\n".join(step.text for step in load_migrations(dialect))
    rules = {name or other: sort or kind for name, sort, kind, other in NAMED_RULE.findall(text)}
    return {name: sort for name, sort in rules.items() if re.match(names, name)}


def error_text(engine: Engine, run: Run, attempt: Attempt) -> str:
    """Return the message of the database's refusal, or "done"."""
    try:
        run_and_undo(run, attempt.sql_for(engine.dialect))
    except engine.refusals as refusal:
        return str(refusal)
    return DONE


def write_rows(engine: Engine, statement: str) -> int:
    """Run a statement in atlas as Ada through the store; return the number of changed rows."""
    return engine.store.write(local_actor("ada"), "atlas", lambda tx: tx.run(Query("raw", statement)))


def insert_project(name: str, at: str) -> str:
    """Return SQL that inserts a project of Ada's."""
    return (
        "INSERT INTO projects (tenant_id, id, name, created_at, created_by, updated_at) "
        f"VALUES ('local', '{name}', '{name}', '{at}', 'ada', '{at}')"
    )


def update_row(table: str, id_: str, /, **changes: Value) -> str:
    """Return SQL that updates an existing row."""
    return f"UPDATE {table} SET {sql_set(changes)} WHERE id = '{id_}'"


def _sql_select(table: str) -> str:
    return f"SELECT * FROM {table}"


def _sort_rows(rows: Rows) -> list[str]:
    """Return the rows in a fixed order, for columns of any type."""
    return sorted(map(repr, rows))
