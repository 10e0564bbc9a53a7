"""Every named query is used, runs on both engines, and reads only its own tables with its tenant."""

from __future__ import annotations

import ast
import contextlib
import importlib
import re
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

import groundplan
from groundplan.catalog import build_schema
from groundplan.kernel.store.queries import Query, load_queries
from groundplan.kernel.store.schema import SCHEMA_NAME
from groundplan.kernel.store.sqlite.log_identity import MARK_TABLE
from groundplan.knowledge import tables as knowledge_tables
from groundplan.work import tables as work_tables
from tests.engines import Engine, PostgresEngine, SqliteEngine

PACKAGE = Path(groundplan.__file__).parent
FILES = sorted(
    path
    for path in PACKAGE.rglob("*.sql")
    if not path.name.endswith(".postgres.sql") and not path.is_relative_to(PACKAGE / "migrations")
)
INDEXES = (*work_tables.INDEXES, *knowledge_tables.INDEXES)

# A name after FROM with parentheses is a function.
TABLE = re.compile(r"\b(?:INTO|UPDATE|(?:FROM|JOIN)(?!\s+\w+\s*\())\s+(?!SET\b)([a-z_]+)\b", re.IGNORECASE)
CTE = re.compile(
    r"(?:\bWITH\s+(?:RECURSIVE\s+)?|,\s*)([a-z_]+)\s*(?:\([^)]*\)\s*)?AS\s*(?:MATERIALIZED\s*)?\(", re.IGNORECASE
)
# The tenant, the tenant of a checked row, or a whole key that was looked up with the tenant.
FENCE = re.compile(r"tenant_id = (?::tenant_id|\w+\.tenant_id)\b|\(tenant_id,[^)]*\)\s+IN\b")
UNFENCED = {
    "schema_migrations",  # the applied migrations, which belong to nobody
    "work_text",  # an index with one key for all; a range of it is the project's
    "work_text_content",  # its texts, by the same key
    *("graph_text", "graph_trigrams"),  # other such indexes
}
# Queries that find out which tenant it is.
TENANT_IS_UNKNOWN = {"kernel/tokens: token_by_digest"}
# Catalogs of the engines. Only the kernel reads them.
CATALOG = re.compile(r"sqlite_schema|pg_[a-z]+")


FOLDERS = sorted({path.parent for path in FILES})


def file_id(path: Path) -> str:
    """Return the folder of a `queries.sql`, or the module whose statements a file has."""
    where = path.parent if path.name == "queries.sql" else path.with_suffix("")
    return where.relative_to(PACKAGE).as_posix()


# Checked in loops, because collecting a test for each takes longer than running it.
QUERIES = [(f"{file_id(path)}: {query.name}", path, query) for path in FILES for query in load_queries(str(path))]


def spellings(query: Query) -> set[str]:
    """Return the statement of each engine, with parameters written `:name`."""
    return {query.sqlite, re.sub(r"%\((\w+)\)s", r":\1", query.postgres).replace("%%", "%")}


def tables_in(text: str) -> list[str]:
    named_here = set(CTE.findall(text))
    return [name for name in TABLE.findall(text) if name not in named_here]


def tables_without_tenant(text: str) -> list[str]:
    """Return the tables that a statement uses without a tenant."""
    asked = [table for table in tables_in(text) if table not in UNFENCED and not CATALOG.fullmatch(table)]
    fences = len(FENCE.findall(text))
    if "organizations" in asked and re.search(r"\bid = :tenant_id\b", text):
        asked.remove("organizations")
    if (inserted := re.match(r"\s*INSERT\s+INTO\s+(\w+)", text)) and ":tenant_id" in text:
        asked.remove(inserted[1])
    return asked[fences:]


def test_a_query_asks_only_tables_of_its_own_slice(subtests: pytest.Subtests) -> None:
    for name, path, query in QUERIES:
        with subtests.test(name):
            owner = path.relative_to(PACKAGE).parts[0]
            tables = importlib.import_module(f"groundplan.{owner}.tables")
            own = {table.name for table in tables.TABLES} | set(getattr(tables, "INDEXES", ()))
            own |= set(getattr(tables, "VIEWS", ()))
            asked = {table for text in spellings(query) for table in tables_in(text)}
            assert {table for table in asked - own if owner != "kernel" or not CATALOG.fullmatch(table)} == set()


def test_a_query_names_its_tenant_for_every_table_it_touches(subtests: pytest.Subtests) -> None:
    for name, _, query in QUERIES:
        with subtests.test(name):
            without = {text: missing for text in spellings(query) if (missing := tables_without_tenant(text))}
            assert bool(without) == (name in TENANT_IS_UNKNOWN), without


def test_a_forgotten_tenant_is_noticed() -> None:
    joined = "SELECT 1 FROM projects AS p JOIN events AS e ON {} WHERE p.tenant_id = :tenant_id"
    assert tables_without_tenant("SELECT 1 FROM projects WHERE id = :id") == ["projects"]
    assert tables_without_tenant(joined.format("e.project_id = p.id")) == ["events"]
    assert tables_without_tenant(joined.format("e.tenant_id = p.tenant_id")) == []
    assert tables_without_tenant("UPDATE organizations SET rev = 1") == ["organizations"]
    assert tables_without_tenant("INSERT INTO events (tenant_id) VALUES (:other)") == ["events"]
    assert tables_without_tenant("INSERT INTO events (tenant_id) SELECT :tenant_id FROM projects") == ["projects"]


def test_a_query_says_in_a_sentence_what_it_is_for(subtests: pytest.Subtests) -> None:
    for name, path, query in QUERIES:
        with subtests.test(name):
            text = path.read_text(encoding="utf-8")
            about = text.partition(f"-- name: {query.name}\n")[2].partition("\n")[0]
            assert re.fullmatch(r"-- [A-Z].+", about), "the line below the name says what it is for"


def test_an_override_for_postgres_says_why_it_differs() -> None:
    for path in PACKAGE.rglob("*.postgres.sql"):
        for text in path.read_text(encoding="utf-8").split("-- name: ")[1:]:
            assert "\n-- Differs from SQLite" in text, f"{path.relative_to(PACKAGE)}: {text.partition(chr(10))[0]}"


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.relative_to(PACKAGE).as_posix())
def test_every_query_is_used_and_every_query_used_is_there(folder: Path) -> None:
    used = {path: names for path in folder.glob("*.py") if (names := queries_used_in(path)) is not None}
    shared = (
        {query.name for query in load_queries(str(folder / "queries.sql"))}
        if folder / "queries.sql" in FILES
        else set()
    )
    for path in FILES:
        if path.parent == folder and path.name != "queries.sql":
            own = {query.name for query in load_queries(str(path))}
            module = path.with_suffix(".py")
            assert own - used[module] == set(), f"{path.name} has statements that {module.name} does not use"
            used[module] -= own
    assert set().union(*used.values()) == shared


def queries_used_in(path: Path) -> set[str] | None:
    """Return the names of the queries that a module reads from its `sql`; None if it has none."""
    text = path.read_text(encoding="utf-8")
    if "sql = load_queries(__file__)" not in text:
        return None
    attributes = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Attribute))
    return {node.attr for node in attributes if isinstance(node.value, ast.Name) and node.value.id == "sql"}


def test_every_query_can_be_prepared(engine: Engine) -> None:
    refused = {}
    with preparer(engine) as prepare:
        for name, _, query in QUERIES:
            try:
                prepare(query)
            except engine.refusals as error:
                refused[name] = str(error)
    assert not refused


# Queries that read all rows of an organization or of a project on purpose, and why.
READ_ALL = {
    "work/waiting/order: parents_of_open_nodes": "an import sorts the whole project",
    "work/waiting/order: resolved_nodes": "the same",
    "work/waiting/order: dependencies": "the same",
    "work/what_if: open_nodes": "an analysis is about every open node of a project",
    "work/what_if: open_dependencies": "the same, of those that wait, by their index",
    "context/resolve: latest_committed": "an index in the order of commits, whose first run in view is taken",
    "context/resolve: latest_committed_of_user": "the same, until a run of theirs or a shared one is met",
    "context/suggestions: pending_suggestions": "the runs of a project, in each draft of which suggestions are sought",
    "context/facts_in_force: draft_facts": "the drafts of a project, which are few, in each of which rows are sought",
    "knowledge/areas: largest_molecules": "the molecules of a project, whose atoms are counted by their index",
    "context/history: fact_in_runs": "the runs of a project, newest first, until enough of them have the fact",
    "context/facts_in_force: facts_with_words": "the drafts of some projects, which are few, and the run in force",
    "kernel/projects: projects": "the list of them, as long as the caller wants it",
    "kernel/identities: invitations": "the list of them, for administrators",
    "kernel/identities: allowed_domains": "the settings of an organization, which are one row",
    "kernel/organizations: roles_of_people": "who can let people in, asked by doctor",
    "kernel/organizations: settings": "the settings of an organization, which are one row",
    "kernel/projects: default_policies": "the same",
    "kernel/store: project_creators": "the same",
    "kernel/organizations: last_event": "the end of an index by revision, until one of them is visible",
    "kernel/tokens: tokens": "the list of them, for owners of the organization",
    "kernel/projects: projects_without_person": "each of them is looked at, by doctor",
    "kernel/projects: created_without_person": "a project has few members, among whom the inbox looks for a person",
    "kernel/store: live_structures": "the catalog of a file, which has an entry for each table and index",
    "kernel/store: project_names": "a slip of the pen is compared with each; it has a LIMIT",
    "kernel/store: stored_answer": "the number of the last answer, which is the end of an index",
    "kernel/store: store_answer": "the same",
    "kernel/store: sweep_answers": "the same",
    "kernel/store: tables_with_prefix": "the same catalog",
    "purpose/versions/versions: versions": "the versions of a project, which are few; the draft is the last of them",
    "purpose/search: newest_versions": "the end of an index by number, of which the last two entries are taken",
    "context/facts_in_force: drafts_of_project": "the few runs of a project, if the one in force lacks a fact",
    "kernel/links: any_link": "an index of the project's links, of which the first entry is taken",
    "purpose/observing: kinds_by_key": "the same, in each of which a key is sought",
    "purpose/observing: latest_decisions": "the end of the key, of which the last entries are taken for suggestions",
    "purpose/observing: latest_requests": "the same",
    "purpose/observing: assumptions_in_doubt": "an index that has only reviews with doubts",
    "context/history: ever_committed": "the runs of a project, which are few, if something rests on facts",
    "work/links: tree_of_project": "each node inherits from its ancestors, so which work serves a goal depends on all",
    "purpose/observing: edges_between_keys": "the same, in each of which an edge is sought",
    "purpose/search: items_with_words": "the versions of some projects, which are few; the texts of two of them",
    "work/graph/next: next_nodes": "two indexes in the order of ranking, of which the first few entries are taken",
    "work/graph/next: next_matching": "the same two indexes, until enough nodes with the wanted properties were met",
    "work/graph/search: ready_nodes_with_text": "the first so many entries of the index in the order of ranking",
    "work/graph/dependency_graph: waiting_nodes": "an index of the blocked, until enough of them wait themselves",
    "work/graph/next: node_with_property": "the nodes until one has the property, if a filter for it found nothing",
    "work/waiting/cycles: nodes_with_open_dependencies": "a loop can go through any of them: a new policy, and doctor",
    "work/graph/open: recompute_counts": "counts each node once more, after a change of policy",
    "knowledge: atoms_by_name": "a list of them all, which says how many there are",
    "knowledge: first_matched_atoms": "asked when hundreds of atoms are meant; an index has all that it needs",
    "knowledge: molecules_by_name": "a list of them all, which says how many there are",
    "work/containers/next_and_blocked: blocked_containers": "an index of those that wait, by importance; with a count",
    "work/containers/query: search_tasks": "a list of what is meant, by words and statuses that no index has",
    "work/containers/query: count_tasks": "how many they are",
    "work/containers/tags: container_tags": "counts each tag of the projects, from an index alone",
    "work/containers/tags: container_tags_by_kind": "the same for one kind",
    "work/containers/tags: section_tags": "counts each tag of the sections, from an index alone",
    "work/containers/templates: templates": "the list of them, which the caller narrows",
    "work/containers/templates: template_names": "a slip of the pen is compared with each; it has a LIMIT",
    "kernel/store: migration_time": "a row for each migration, asked by doctor",
    "knowledge: entities_with_entries": "the same as for texts of nodes",
    "work/graph/search: nodes_with_texts": "texts have no index; asked only where few summaries have the words",
    "work/tracing: recently_changed": "an index in the order of change, of which the last few entries are taken",
    "work/tracing: open_nodes": "coverage asks of each whether it serves something",
    "work/tracing: resolved_without_evidence": "no index has it; coverage counts all of it",
    "work/importing: graph_nodes": "an import computes what follows for every node",
    "work/importing: graph_dependencies": "the same",
    "work/importing: feature_counts": "the same; there are few features",
    "work/importing: exported_nodes": "an export is of the whole project",
    "work/importing: exported_edges": "the same",
    "work/importing: exported_tags": "the same",
    "work/importing: exported_sections": "the same",
    "work/importing: exported_evidence": "the same",
    "work/importing: imported_items": "the same",
    "work/graph/onboard: recently_blocked": "an index in the order of change, of which the last few entries are taken",
}
STEP = re.compile(r"^(SCAN|SEARCH) (\w+)(?! VIRTUAL)\b(?: USING (?:COVERING )?INDEX (\w+))?[^(]*(?:\(([^)]*)\))?")
ALIAS = re.compile(r"\b(?:FROM|JOIN|UPDATE|INTO)\s+([a-z_]+)\b(?!\s*\()(?:\s+AS\s+([a-z_]+))?", re.IGNORECASE)
# The last one is every node but the root: the meaning of "has a parent".
MANY_ROWS = {
    "tenant_id=?",
    "id=?",
    "tenant_id=? AND project_id=?",
    "tenant_id=? AND project_id=? AND parent_n>?",
}
# Indexes with few entries, all of which may be read.
SMALL = {
    "work_nodes_claimed",  # as many as there are claims
    "toc_versions_one_draft_a_project",
    "principals_of_other_kinds",  # agents and services
}
SMALL_TABLES = {"work_merged_texts"}  # a row for each merge
ONE_ROW = {
    ("organizations", "id=?"),
    ("work_projects", "tenant_id=? AND project_id=?"),
    ("graph_projects", "tenant_id=? AND project_id=?"),
    ("graph_files", "tenant_id=? AND project_id=?"),
}


def find_scans(connection: sqlite3.Connection, text: str, parameters: frozenset[str]) -> list[str]:
    """Return the steps of SQLite's plan that scan a table, a tenant or a project for a few rows."""
    plan = connection.execute(f"EXPLAIN QUERY PLAN {text}", dict.fromkeys(parameters, 1))
    tables = {alias or name: name for name, alias in ALIAS.findall(text) if name in tables_in(text)}
    found = []
    for *_, step in plan:
        match = STEP.match(step)
        # Other names are parts of the statement itself, or lists of the caller.
        if match and (table := tables.get(match[2])) and match[3] not in SMALL:
            sought = match[4] or ""
            is_few = (table, sought) in ONE_ROW or table in SMALL_TABLES
            if match[1] == "SCAN" or (sought in MANY_ROWS and not is_few):
                found.append(step)
    return found


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
def test_a_query_seeks_and_never_reads_what_it_does_not_need(engine: SqliteEngine) -> None:
    with contextlib.closing(sqlite3.connect(engine.path)) as connection:
        found = {name: find_scans(connection, query.sqlite, query.parameters) for name, _, query in QUERIES}
        slow = {name: steps for name, steps in found.items() if steps}
        assert slow.keys() == READ_ALL.keys(), {name: slow.get(name) for name in slow.keys() ^ READ_ALL.keys()}
        either = "SELECT 1 FROM projects WHERE tenant_id = 'local' AND (id = 'x' OR name = 'x')"
        assert find_scans(connection, either, frozenset())
        project = "SELECT 1 FROM work_nodes AS c WHERE c.tenant_id = 'local' AND c.project_id = 'x' AND c.depth = 1"
        assert find_scans(connection, project, frozenset())


@contextlib.contextmanager
def preparer(engine: Engine) -> Iterator[Callable[[Query], object]]:
    """Let the engine plan statements without running them; on PostgreSQL as the app role, so grants count."""
    if isinstance(engine, SqliteEngine):
        with contextlib.closing(sqlite3.connect(engine.path)) as lite:
            yield lambda query: lite.execute(f"EXPLAIN {query.sqlite}", dict.fromkeys(query.parameters))
        return
    assert isinstance(engine, PostgresEngine)
    with psycopg.connect(engine.app_url, autocommit=True, options=f"-c search_path={SCHEMA_NAME}") as connection:

        def prepare(query: Query) -> None:
            names = sorted(set(re.findall(r"%\((\w+)\)s", query.postgres)))
            text = query.postgres.replace("%%", "%")
            for number, name in enumerate(names, 1):
                text = text.replace(f"%({name})s", f"${number}")
            nothing = f"({', '.join(['NULL'] * len(names))})" if names else ""
            connection.execute(f"PREPARE one AS {text}")
            connection.execute(f"EXPLAIN EXECUTE one{nothing}")
            connection.execute("DEALLOCATE one")

        yield prepare


def test_every_table_of_the_migrations_is_declared() -> None:
    declared = {table.name for table in build_schema().tables} | {*INDEXES, MARK_TABLE}
    for path in (PACKAGE / "migrations").glob("*.sql"):
        made = re.findall(r"^CREATE (?:VIRTUAL )?TABLE (\w+)", path.read_text(encoding="utf-8"), re.MULTILINE)
        assert set(made) <= declared, f"{path.name} makes tables that no schema declares, so nothing guards them"
