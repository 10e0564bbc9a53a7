"""One migration file is expanded to the SQL of each engine, and mistakes in it are found before any engine runs it."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from groundplan.kernel.store.migrations import (
    MIGRATIONS_FOLDER,
    PLACEHOLDERS,
    Dialect,
    expand,
    load_migrations,
    parse_lines,
)

Write = Callable[[str], Path]

FILES = sorted(Path(MIGRATIONS_FOLDER).glob("*.sql"))
NOT_CODE = re.compile(r"--.*|'(?:[^']|'')*'|\{\w[^{}]*\}")  # comments, literals and placeholders
REFUSAL = re.compile(r"CREATE TRIGGER \w+\s+(?:BEFORE|AFTER)\b[^;]*?\bON (\w+)[^;]*?RAISE\(ABORT, '\w+: (\w+)'\)")
# Words that only one engine understands, or that differ in meaning.
OF_ONE_ENGINE = re.compile(
    r"""\b(?:TEXT|INTEGER|REAL|BLOB|STRICT|ROWID|VIRTUAL|GLOB|RAISE|fts5|strftime|randomblob)\b
      | \b(?:json_(?:array|object|type|extract|each)|gp_each)\b
      | \b(?:bigint|boolean|double|instant|COLLATE|STORED|FUNCTION|DOMAIN|octet_length|json_typeof|json_build_\w+)\b
      | \w[ ]+text\b | :: | ~ | \$\$ | ->""",
    re.VERBOSE,
)

SHARED = """\
-- What there is.
CREATE TABLE pets (
    id     {text} NOT NULL,
    age    {integer},
    tags   {text} NOT NULL DEFAULT '{}',
    -- only: postgres
    CONSTRAINT pets_id_is_a_name CHECK (id ~ '^[a-z]{2}$'),
    -- end
    -- only: sqlite
    CONSTRAINT pets_id_is_a_name CHECK (id GLOB '[a-z][a-z]'),
    -- end
    CONSTRAINT pets_tags_fit CHECK ({bytes(tags)} <= 10)
){strict};
REFUSE too_old AS pets_stay_young
BEFORE UPDATE ON pets
WHEN NEW.age > 9;
"""
FOR_SQLITE = """\
-- What there is.
CREATE TABLE pets (
    id     TEXT NOT NULL,
    age    INTEGER,
    tags   TEXT NOT NULL DEFAULT '{}',
    CONSTRAINT pets_id_is_a_name CHECK (id GLOB '[a-z][a-z]'),
    CONSTRAINT pets_tags_fit CHECK (length(CAST(tags AS BLOB)) <= 10)
) STRICT;
CREATE TRIGGER pets_stay_young
BEFORE UPDATE ON pets
FOR EACH ROW WHEN (NEW.age > 9)
BEGIN
SELECT RAISE(ABORT, 'too_old: pets');
END;
"""
FOR_POSTGRES = """\
-- What there is.
CREATE TABLE pets (
    id     text COLLATE "C" NOT NULL,
    age    bigint,
    tags   text COLLATE "C" NOT NULL DEFAULT '{}',
    CONSTRAINT pets_id_is_a_name CHECK (id ~ '^[a-z]{2}$'),
    CONSTRAINT pets_tags_fit CHECK (octet_length(tags) <= 10)
);
CREATE FUNCTION gp_pets_stay_young() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER \
SET search_path = groundplan, pg_temp
AS $$
BEGIN
IF true
THEN RAISE EXCEPTION 'too_old: %', TG_TABLE_NAME USING ERRCODE = 'GP001'; END IF;
RETURN coalesce(NEW, OLD);
END
$$;

CREATE TRIGGER pets_stay_young
BEFORE UPDATE ON pets
FOR EACH ROW WHEN (NEW.age > 9)
EXECUTE FUNCTION gp_pets_stay_young();
"""


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a migration into a folder."""

    def written(text: str) -> Path:
        path = tmp_path / str(len(list(tmp_path.iterdir()))) / "0001_pets.sql"
        path.parent.mkdir()
        path.write_text(text, encoding="utf-8")
        return path

    return written


def checksums(path: Path) -> dict[Dialect, str]:
    return {dialect: load_migrations(dialect, path.parent)[0].checksum for dialect in Dialect}


def find_engine_words(path: Path) -> list[str]:
    """Return the words of one engine that are outside a block."""
    return [
        f"{path.name}:{number}: {found[0].strip()}"
        for number, only, line in parse_lines(path)
        if only is None
        for found in OF_ONE_ENGINE.finditer(NOT_CODE.sub("", line))
    ]


@pytest.mark.parametrize(
    ("dialect", "expanded"), [(Dialect.SQLITE, FOR_SQLITE), (Dialect.POSTGRES, FOR_POSTGRES)], ids=str
)
def test_a_file_is_spelled_for_each_engine(write: Write, dialect: Dialect, expanded: str) -> None:
    assert expand(write(SHARED), dialect) == expanded


@pytest.mark.parametrize("dialect", Dialect)
@pytest.mark.parametrize(
    "wrong",
    ["{txt}", "{Text}", "{text()}", "{text(id)}", "{bytes}", "{bytes()}", "{bytes(a, b)}", "{bytes(a.b)}", "{text"],
)
def test_an_unknown_placeholder_is_refused_with_its_line(write: Write, wrong: str, dialect: Dialect) -> None:
    for text in (f"-- A remark.\nid {wrong}\n", f"-- only: postgres\nid {wrong}\n-- end\n"):
        with pytest.raises(ValueError, match=re.escape("0001_pets.sql:2: there is no placeholder {")):
            expand(write(text), dialect)


@pytest.mark.parametrize("sql", ["'{}'", "'{\"a\": 1}'", "x ~ '^[0-9]{4}$'", "'{1}'"])
def test_braces_of_sql_are_no_placeholders(write: Write, sql: str) -> None:
    assert expand(write(sql), Dialect.SQLITE) == sql


@pytest.mark.parametrize("dialect", Dialect)
@pytest.mark.parametrize(
    ("text", "mistake"),
    [
        ("SELECT 1;\n-- only: sqlite\nSELECT 2;\n", "2: the block for sqlite is not closed"),
        (
            "-- only: postgres\nSELECT 1;\n-- only: sqlite\nSELECT 2;\n-- end\n",
            "1: the block for postgres is not closed",
        ),
        ("-- only: sqlite\nSELECT 1;\n-- end\n-- end\n", "4: there is no block to end"),
        ("-- only: mysql\nSELECT 1;\n-- end\n", "1: 'mysql' is not one of sqlite, postgres"),
        ("--Only:  postgres, sqlite\nSELECT 1;\n-- end\n", "1: 'postgres, sqlite' is not one of sqlite, postgres"),
    ],
)
def test_a_block_that_does_not_begin_and_end_is_refused(
    write: Write, text: str, mistake: str, dialect: Dialect
) -> None:
    with pytest.raises(ValueError, match=re.escape(f"0001_pets.sql:{mistake}")):
        expand(write(text), dialect)


@pytest.mark.parametrize(
    ("change", "changed"),
    [
        (("[a-z]{2}", "[a-z]{3}"), {Dialect.POSTGRES}),
        (("GLOB '[a-z]", "GLOB '[x-z]"), {Dialect.SQLITE}),
        (("-- What there is.", "-- What there was."), {Dialect.SQLITE, Dialect.POSTGRES}),
        (("{strict}", "{strict_without_rowid}"), {Dialect.SQLITE}),
        (("    -- only: postgres", "--   only: postgres"), set()),
    ],
    ids=["block of postgres", "block of sqlite", "comment", "placeholder", "mark of a block"],
)
def test_a_checksum_is_of_what_the_engine_is_given(
    write: Write, change: tuple[str, str], changed: set[Dialect]
) -> None:
    assert change[0] in SHARED
    before, after = checksums(write(SHARED)), checksums(write(SHARED.replace(*change)))

    assert {dialect for dialect in Dialect if before[dialect] != after[dialect]} == changed


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_word_of_one_engine_stands_in_a_block_or_is_a_placeholder(path: Path) -> None:
    assert find_engine_words(path) == []


@pytest.mark.parametrize("dialect", Dialect)
def test_a_word_of_one_engine_is_found(write: Write, dialect: Dialect) -> None:
    path = write(SHARED)
    assert find_engine_words(path) == []

    spelled = {name: re.sub(r"\{[01]\}", "id", getattr(one, dialect)) for name, one in PLACEHOLDERS.items()}
    same_as_nothing = {Dialect.SQLITE: {"json"}, Dialect.POSTGRES: {"strict", "strict_without_rowid"}}[dialect]
    unfound = {name for name, text in spelled.items() if not find_engine_words(write(f"    name {text},\n"))}

    assert unfound == same_as_nothing


def test_every_placeholder_is_in_use() -> None:
    used = set(re.findall(r"\{(\w+)", "".join(path.read_text(encoding="utf-8") for path in FILES)))

    assert set(PLACEHOLDERS) - used == set()


def test_a_refusal_on_sqlite_names_the_table_of_its_trigger() -> None:
    named = [tables for step in load_migrations(Dialect.SQLITE) for tables in REFUSAL.findall(step.text)]

    assert len(named) > 30
    assert [tables for tables in named if tables[0] != tables[1]] == []
