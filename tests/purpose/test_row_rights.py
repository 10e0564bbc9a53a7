"""Who may change which rows of a purpose by raw SQL as the app role: PostgreSQL knows the roles itself."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from groundplan.kernel.actors import Actor
from groundplan.purpose.tables import TABLES
from tests.engines import PostgresEngine, Run, person, run_and_undo
from tests.kernel.store.attacks import Family, Value, drop_guards, sql_insert, sql_set
from tests.purpose.rows import (
    LATER,
    decision_row,
    insert_families,
    make_family,
    measurement_row,
    publish_columns,
    request_row,
    review_row,
    version_row,
    waiver_row,
)

ADA, BEN, CLEO, DORA = (person(name) for name in ("ada", "ben", "cleo", "dora"))
MALLORY = person("mallory", organization="rival")
NAMES = {table.name for table in TABLES}
RESERVED = next(table for table in TABLES if table.name == "toc_versions").reserved_columns or {}


class AtlasRows:
    """A draft with all rows and observations, in a project where Ada owns, Ben edits and Cleo views."""

    def __init__(self, engine: PostgresEngine) -> None:
        self.engine = engine
        ada = engine.session("ada")
        self.project, beside = (str(ada.call("project.create", name=name).project.id) for name in ("atlas", "beside"))
        for project in (self.project, beside):
            ada.call("member.add", scopeId=project, userId="ben", role="editor")
        ada.call("member.add", scopeId=self.project, userId="cleo", role="viewer")
        engine.session("dora").call("project.create", name="dora's own")
        engine.create_organization("rival", "mallory")
        # Another project's policy does not apply here.
        self.allow("editor", project=beside)
        self.draft = make_family(self.project, "draft")
        insert_families(engine, self.draft)
        ((self.rev,),) = engine.as_owner(f"SELECT rev FROM projects WHERE id = '{self.project}'")
        self.observed = {
            "toc_measurements": measurement_row(self.project, self.rev),
            "toc_assumption_reviews": review_row(self.project, self.rev),
            "toc_waivers": waiver_row(self.project, self.rev),
            "toc_decisions": decision_row(self.project, self.rev),
            "toc_requests": request_row(self.project, self.rev),
        }
        engine.as_owner(
            *(sql_insert(table, row) for table, row in self.observed.items()),
            f"INSERT INTO toc_keys VALUES ('local', '{self.project}', 'AS', 7)",
        )

    def allow(self, role: str, *, project: str | None = None) -> None:
        policies = f'{{"publish_role":"{role}"}}'
        change = f"UPDATE projects SET policies = '{policies}' WHERE id = '{project or self.project}'"
        self.engine.as_app(ADA, change)

    def changes(self, family: Family) -> Iterator[tuple[str, str]]:
        """Return a statement for every table and command that has an effect where it is allowed."""
        for prey in family.children:
            yield f"insert {prey.table}", sql_insert(prey.table, {**prey.row, **prey.fresh})
            yield f"update {prey.table}", f"UPDATE {prey.table} SET {prey.assignment} WHERE {prey.where}"
            yield f"delete {prey.table}", f"DELETE FROM {prey.table} WHERE {prey.where}"
        version = family.parent
        yield "update toc_versions", f"UPDATE toc_versions SET {version.assignment} WHERE {version.where}"
        yield "publish toc_versions", publishing()
        below = [f"DELETE FROM {prey.table} WHERE {prey.where}" for prey in family.bottom_up[:-1]]
        yield "discard toc_versions", "; ".join((*below, f"DELETE FROM toc_versions WHERE {version.where}"))
        again = sql_insert("toc_versions", version_row(self.project, "again"))
        yield "insert toc_versions", "; ".join((*below, "DELETE FROM toc_versions", again))
        yield "update toc_keys", "UPDATE toc_keys SET last_number = last_number + 1"
        yield "insert toc_keys", f"INSERT INTO toc_keys VALUES ('local', '{self.project}', 'OP', 1)"
        for table, row in self.observed.items():
            yield f"insert {table}", sql_insert(table, {**row, "n": 1})

    def done_by(self, actor: Actor) -> set[str]:
        """Return the changes that have an effect for the actor; everything is rolled back."""
        with self.engine.transaction(actor, keep=False) as run:
            return {what for what, statements in self.changes(self.draft) if self._is_done(run, statements)}

    def _is_done(self, run: Run, statements: str) -> bool:
        *before, last = statements.split("; ")
        try:
            return bool(run_and_undo(run, *before, f"{last} RETURNING 1"))
        except self.engine.refusals:
            return False


def publishing(**changes: Value) -> str:
    return f"UPDATE toc_versions SET {sql_set({**publish_columns(), **changes})} WHERE id = 'draft'"


@pytest.fixture
def atlas(team: PostgresEngine) -> AtlasRows:
    return AtlasRows(team)


def test_every_role_may_change_just_what_it_is_there_for(atlas: AtlasRows) -> None:
    everything = {what for what, _ in atlas.changes(atlas.draft)}
    owners_alone = {"publish toc_versions", "discard toc_versions", "insert toc_waivers"}
    # Here a new draft replaces the current one, which only owners may do.
    editors_may = everything - owners_alone - {"insert toc_versions"}

    assert {what.split()[1] for what in everything} == NAMES
    assert atlas.done_by(ADA) == everything
    assert atlas.done_by(BEN) == editors_may
    for stranger in (CLEO, DORA, MALLORY, person("ada", organization="rival"), person("nobody")):
        assert atlas.done_by(stranger) == set()


def test_an_editor_begins_a_draft_where_there_is_none(atlas: AtlasRows) -> None:
    atlas.engine.as_app(ADA, publishing())

    atlas.engine.as_app(BEN, sql_insert("toc_versions", version_row(atlas.project, "next", 2)))


def test_members_see_a_purpose_and_a_stranger_sees_nothing_of_it(atlas: AtlasRows) -> None:
    seen = {
        actor: {name for name in NAMES if atlas.engine.as_app(actor, f"SELECT 1 FROM {name}")}
        for actor in (ADA, BEN, CLEO, DORA, MALLORY, None)
    }

    assert seen == {ADA: NAMES, BEN: NAMES, CLEO: NAMES, DORA: set(), MALLORY: set(), None: set()}


def test_an_editor_publishes_only_where_the_project_says_so(atlas: AtlasRows) -> None:
    engine = atlas.engine
    for role in (None, "owner", "viewer"):
        if role is not None:
            atlas.allow(role)
        with pytest.raises(engine.refusals, match="only purpose:version:publish may change this"):
            engine.as_app(BEN, publishing())
        assert not engine.as_app(CLEO, f"{publishing()} RETURNING 1")

    atlas.allow("editor")
    assert not engine.as_app(CLEO, f"{publishing()} RETURNING 1")
    engine.as_app(BEN, publishing(published_by="ben"))
    assert engine.as_owner("SELECT status, published_by FROM toc_versions") == [("PUBLISHED", "ben")]


def test_no_part_of_publishing_is_for_an_editor_in_any_spelling(atlas: AtlasRows) -> None:
    (columns,) = RESERVED.values()
    row = {**version_row(atlas.project, "draft"), **publish_columns()}
    upsert = (
        sql_insert("toc_versions", version_row(atlas.project, "draft")) + " ON CONFLICT (tenant_id, id) DO UPDATE SET "
    )
    merge = "MERGE INTO toc_versions USING (SELECT 1) AS one ON id = 'draft' WHEN MATCHED THEN UPDATE SET "
    parts = [
        f"{beginning}{sql_set({column: row[column], 'rev': 2, 'updated_at': LATER})}"
        for column in columns
        for beginning in ("UPDATE toc_versions SET ", upsert, merge)
    ]

    assert set(columns) == publish_columns().keys() - {"rev", "updated_at"}
    with atlas.engine.transaction(BEN, keep=False) as run:
        for part in parts:
            with pytest.raises(atlas.engine.refusals, match="only purpose:version:publish may change this"):
                run_and_undo(run, part)


def test_without_its_guard_the_right_to_edit_would_be_the_right_to_publish(atlas: AtlasRows) -> None:
    drop_guards(atlas.engine, ["toc_versions"])

    atlas.engine.as_app(BEN, publishing())

    assert atlas.engine.as_owner("SELECT status FROM toc_versions") == [("PUBLISHED",)]


def test_an_editor_cannot_give_themselves_the_right_to_publish(atlas: AtlasRows) -> None:
    with pytest.raises(atlas.engine.refusals, match="only project:configure may change this"):
        atlas.engine.as_app(BEN, f"UPDATE projects SET policies = '{{}}' WHERE id = '{atlas.project}'")
