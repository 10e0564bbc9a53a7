"""Final rows stay as they are, for any SQL on the app's own connection and for concurrent writers."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest

from groundplan.kernel.access import Permission
from groundplan.kernel.store.queries import Query
from groundplan.kernel.store.schema import FreezeRule, Frozen, Schema, Table, generate_postgres_guards, in_project
from tests.engines import Engine, Rows, Run, person
from tests.kernel.store.attacks import Family, FreezeAttack, Precondition, TargetRow, drop_guards, sql_insert
from tests.proof import scaled

ADA = person("ada")
ROUNDS = scaled(10, 40)
CHILDREN = ("test_nodes", "test_edges")
# Both keys cascade, which no real table should do: the guards must hold even then.
TABLES = """
CREATE TABLE test_versions (
    tenant_id text NOT NULL, project_id text NOT NULL, id text NOT NULL, status text NOT NULL, title text NOT NULL,
    PRIMARY KEY (tenant_id, id), UNIQUE (tenant_id, project_id, id)
);
""" + "".join(
    f"""
CREATE TABLE {child} (
    tenant_id text NOT NULL, project_id text NOT NULL, version_id text NOT NULL, id text NOT NULL, body text,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, project_id, version_id) REFERENCES test_versions (tenant_id, project_id, id)
        ON UPDATE CASCADE ON DELETE CASCADE
);
"""
    for child in CHILDREN
)
FROZEN = FreezeRule(
    parent="test_versions",
    key=("tenant_id", "id"),
    column="status",
    values=("PUBLISHED", "ARCHIVED"),
    children=dict.fromkeys(CHILDREN, ("tenant_id", "version_id")),
)
READ, WRITE = in_project(Permission.PROJECT_READ), in_project(Permission.PROJECT_WRITE)
DECLARED = Schema(
    tuple(Table(name, READ, WRITE, WRITE, WRITE) for name in ("test_versions", *CHILDREN)),
    (FROZEN,),
)


def family(project: str, version: str, status: str) -> Family:
    """Return a version with a row in each table below it."""
    ours = {"tenant_id": "local", "project_id": project}
    return Family(
        TargetRow(
            "test_versions",
            FROZEN.key,
            {**ours, "id": version, "status": status, "title": "first"},
            change={"title": "changed"},
            fresh={"id": f"{version}-fresh"},
        ),
        tuple(
            TargetRow(
                child,
                ("tenant_id", "id"),
                {**ours, "version_id": version, "id": f"{version}-row", "body": "first"},
                change={"body": "changed"},
                fresh={"id": f"{version}-fresh"},
            )
            for child in CHILDREN
        ),
        reopened={"status": "REOPENED"},
        cascades=True,
    )


def insert_family(engine: Engine, placed: Family) -> None:
    """Write a family as a draft, then set its status."""
    engine.as_app(
        ADA,
        sql_insert("test_versions", {**placed.parent.row, "status": "DRAFT"}),
        *(sql_insert(child.table, child.row) for child in placed.children),
        f"UPDATE test_versions SET status = '{placed.parent.row['status']}' WHERE {placed.parent.where}",
    )


class Scene:
    """A published version and two drafts, with all attacks on the published one and on a draft."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.project: str = engine.session(ADA.id).call("project.create", name="atlas").project.id
        engine.install(TABLES, DECLARED)
        self.published = family(self.project, "published", "PUBLISHED")
        self.draft = family(self.project, "draft", "DRAFT")
        self.other = family(self.project, "other", "DRAFT")
        for placed in (self.published, self.draft, self.other):
            insert_family(engine, placed)
        self.siege = FreezeAttack(engine, FROZEN, self.other)


@pytest.fixture
def scene(engine: Engine) -> Scene:
    return Scene(engine)


def test_a_published_version_and_all_below_it_withstand_every_attack_of_the_app(scene: Scene) -> None:
    engine, siege = scene.engine, scene.siege
    before = engine.as_owner(siege.show)
    with engine.transaction(ADA) as run:  # an effect of an attack would be committed
        assert siege.find_accepted(run, siege.attacks(scene.published, *Precondition)) == []

    assert engine.as_owner(siege.show) == before


def test_the_same_edits_change_a_draft(scene: Scene) -> None:
    attacks = scene.siege.attacks(scene.draft, Precondition.EDIT)

    with scene.engine.transaction(ADA, keep=False) as run:
        assert scene.siege.without_effect(run, attacks) == []


def test_without_the_guards_the_same_attacks_change_what_is_published(scene: Scene) -> None:
    attacks = scene.siege.attacks(scene.published, Precondition.EDIT, Precondition.UNDO)
    drop_guards(scene.engine, scene.siege.tables)

    with scene.engine.transaction(ADA, keep=False) as run:
        assert scene.siege.without_effect(run, attacks) == []


def test_only_the_owner_can_take_the_guards_down(scene: Scene) -> None:
    attacks = scene.siege.attacks(scene.published, Precondition.TAMPER)

    with scene.engine.owner_transaction() as run:
        assert scene.siege.without_effect(run, attacks) == []
    with scene.engine.transaction(ADA, keep=False) as run:
        assert scene.siege.with_effect(run, attacks) == []


def test_what_only_the_owner_may_do_stops_at_the_guards_as_well(scene: Scene) -> None:
    attacks = scene.siege.attacks(scene.published, Precondition.BULK)

    with scene.engine.owner_transaction() as run:
        assert scene.siege.with_effect(run, attacks) == []
    drop_guards(scene.engine, scene.siege.tables)
    with scene.engine.owner_transaction() as run:
        assert scene.siege.without_effect(run, attacks) == []


def test_every_final_status_freezes(scene: Scene, subtests: pytest.Subtests) -> None:
    for status in FROZEN.values:
        with subtests.test(str(status)):
            final = family(scene.project, f"final-{status}", status)
            insert_family(scene.engine, final)

            for prey in (final.parent, *final.children):
                with pytest.raises(scene.engine.refusals, match=f"frozen: {prey.table}"):
                    scene.engine.as_app(ADA, f"UPDATE {prey.table} SET {prey.assignment} WHERE {prey.where}")


def test_nothing_can_be_put_below_a_version_that_does_not_exist(scene: Scene, subtests: pytest.Subtests) -> None:
    for prey in scene.draft.children:
        with subtests.test(str(prey.table)):
            row = {**prey.row, **prey.fresh, "version_id": "nowhere"}

            with pytest.raises(scene.engine.refusals, match=f"frozen: {prey.table}"):
                scene.engine.as_app(ADA, sql_insert(prey.table, row))


@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
def test_nothing_can_be_put_below_a_version_that_the_actor_cannot_see(scene: Scene) -> None:
    own = str(scene.engine.session("dora").call("project.create", name="caspia").project.id)
    for prey in scene.draft.children:
        row = {**prey.row, **prey.fresh}
        with pytest.raises(scene.engine.refusals, match="row-level security"):
            scene.engine.as_app(person("dora"), sql_insert(prey.table, row))
        with pytest.raises(scene.engine.refusals, match="foreign key"):
            scene.engine.as_app(person("dora"), sql_insert(prey.table, {**row, "project_id": own}))


@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
def test_a_temporary_table_cannot_stand_in_for_the_parent(scene: Scene) -> None:
    prey = scene.published.children[0]
    shadow = "CREATE TEMP TABLE test_versions AS SELECT tenant_id, id, 'DRAFT' AS status FROM groundplan.test_versions"

    with pytest.raises(scene.engine.refusals, match="frozen"):
        scene.engine.as_app(
            ADA,
            shadow,
            "SET search_path = pg_temp, groundplan",
            f"UPDATE {prey.table} SET {prey.assignment} WHERE {prey.where}",
        )


def test_a_caller_of_the_store_is_told_that_it_is_frozen(scene: Scene) -> None:
    prey = scene.published.children[0]
    attack = Query("attack", f"UPDATE {prey.table} SET {prey.assignment} WHERE {prey.where}")

    with pytest.raises(Frozen) as refused:
        scene.engine.store.write(ADA, "atlas", lambda tx: tx.run(attack))

    assert (refused.value.code, refused.value.status, refused.value.details) == ("frozen", 409, {"table": prey.table})


def content(run: Run, version: str) -> Rows:
    return [
        row
        for child in CHILDREN
        for row in run(f"SELECT id, body FROM {child} WHERE version_id = '{version}' ORDER BY id")
    ]


def publish(run: Run, version: str) -> Rows:
    """Publish a version and return its content."""
    run(f"UPDATE test_versions SET status = 'PUBLISHED' WHERE id = '{version}'")
    return content(run, version)


@pytest.mark.proof
def test_what_is_published_is_what_stays_when_others_edit_at_the_same_moment(scene: Scene) -> None:
    engine = scene.engine
    versions = [f"v{number}" for number in range(ROUNDS)]
    for version in versions:
        insert_family(engine, family(scene.project, version, "DRAFT"))
    start = threading.Barrier(3)

    def publisher() -> list[Rows]:
        published = []
        for version in versions:
            start.wait()
            with engine.transaction(ADA) as run:
                published.append(publish(run, version))
        return published

    def editor(child: str) -> None:
        for version in versions:
            start.wait()
            with suppress(*engine.refusals):
                engine.as_app(ADA, f"UPDATE {child} SET body = 'late' WHERE version_id = '{version}'")

    with ThreadPoolExecutor(3) as pool:
        edits = [pool.submit(editor, child) for child in CHILDREN]
        published = pool.submit(publisher).result()
        for edit in edits:
            edit.result()

    assert [content(engine.as_owner, version) for version in versions] == published


@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
def test_a_guard_that_does_not_lock_the_parent_would_let_an_edit_slip_in(scene: Scene) -> None:
    blind = [
        statement.replace("CREATE FUNCTION", "CREATE OR REPLACE FUNCTION").replace(" FOR SHARE", "")
        for statement in generate_postgres_guards(DECLARED)
        if "FOR SHARE" in statement
    ]
    scene.engine.as_owner(*blind)

    with scene.engine.transaction(ADA) as run:
        published = publish(run, "draft")
        scene.engine.as_app(ADA, "UPDATE test_nodes SET body = 'late' WHERE version_id = 'draft'")

    assert content(scene.engine.as_owner, "draft") != published
