"""Constraints of context in the schema: no SQL breaks them, and each is needed.

Every rule of the migration is tried; `tests.kernel.store.schema_rules` says how.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from groundplan.context.refusals import (
    DisplacesUserEntered,
    LowerProvenance,
    NotAnOption,
    PersonRequired,
    RequiredUnset,
    SourceMissing,
    StaleBase,
)
from groundplan.context.tables import RUN_CHILD_TABLES
from groundplan.kernel.store.migrations import Dialect
from groundplan.kernel.store.schema import Frozen, NotADraft, RevisionSkipped
from tests.context.rows import (
    LATER,
    STAMP,
    UNSET,
    artifact_row,
    commit_columns,
    constraint_row,
    input_row,
    insert_families,
    link_row,
    make_family,
    run_row,
    source_row,
    suggestion_row,
)
from tests.engines import Engine, fill_once
from tests.kernel.store.attacks import Row, Value, sql_insert
from tests.kernel.store.schema_rules import Attempt, SchemaRules, insert_project, update_row, write_rows

TABLES = ("pciv_runs", "pciv_deleted_runs", *RUN_CHILD_TABLES)
# Implied by another rule; these exist for references, or to keep the rows of a run in one place.
IMPLIED = {"pciv_runs_can_be_named_by_project"} | {
    f"{table}_pkey" for table in RUN_CHILD_TABLES if table != "pciv_input_sources"
}
WORDS = {
    "pciv_runs_rev_moves_by_one": "rev_step",
    "pciv_runs_begin_as_drafts": "not_a_draft",
    "pciv_runs_commit_is_whole": "required_unset",
    "pciv_runs_commit_is_backed": "source_missing",
    "pciv_runs_commit_displaces_nobody": "displaces_user_entered",
    "pciv_runs_commit_on_the_run_in_force": "stale_base",
    "pciv_deleted_runs_are_deleted_by_persons": "person_required",
    "pciv_inputs_provenance_never_lowers": "lower_provenance",
    "pciv_constraints_provenance_never_lowers": "lower_provenance",
    "pciv_inputs_of_a_person_stay_theirs": "lower_provenance",
    "pciv_constraints_of_a_person_stay_theirs": "lower_provenance",
    "pciv_inputs_value_is_an_option_at_insert": "not_an_option",
    "pciv_inputs_value_is_an_option_at_update": "not_an_option",
}

DRAFT = run_row("atlas", "draft")
UNBACKED = {"provenance": "source-backed"}
UNKNOWN = {"provenance": "unknown"}


def update_run(id_: str = "draft", /, **changes: Value) -> str:
    return update_row("pciv_runs", id_, **{"rev": 2, **changes})


def on_force(status: str = "committed", rev: int = 2) -> Row:
    """Return the columns that committing a draft sets while the run `force` is in force."""
    return commit_columns(status, rev, base="force")


def update_source(**changes: Value) -> str:
    return update_row("pciv_sources", "draft-s1", **changes)


def update_input(id_: str = "draft-i3", /, **changes: Value) -> str:
    return update_row("pciv_inputs", id_, **changes)


def update_constraint(**changes: Value) -> str:
    return update_row("pciv_constraints", "draft-c", **changes)


def update_artifact(**changes: Value) -> str:
    return update_row("pciv_artifacts", "draft-a", **changes)


def update_suggestion(**changes: Value) -> str:
    return update_row("pciv_suggestions", "draft-g", **changes)


def insert_deleted_run(run_id: str, project_id: str, kind: str = "user") -> str:
    row = {"tenant_id": "local", "run_id": run_id, "project_id": project_id, "deleted_at": STAMP, "deleted_by": "ada"}
    return sql_insert("pciv_deleted_runs", {**row, "deleter_kind": kind})


def insert_link(input_id: str, source_id: str, **changes: Value) -> str:
    return sql_insert("pciv_input_sources", {**link_row(DRAFT, input_id, source_id), **changes})


def value_columns(kind: str, is_: Value) -> Row:
    return {**UNSET, "value_kind": kind, f"value_{kind}": is_}


ATTEMPTS = {
    # runs
    "a status that is unknown": Attempt(
        update_run(**{**on_force(), "status": "archived"}), "pciv_runs_status_is_known"
    ),
    "a draft that was committed once": Attempt(update_run(committed_at=LATER), "pciv_runs_are_committed_at_a_moment"),
    "a commit at no moment": Attempt(
        update_run(**{**on_force(), "committed_at": None}), "pciv_runs_are_committed_at_a_moment"
    ),
    "a partial commit at no moment": Attempt(
        update_run(**{**on_force("partial_committed"), "committed_at": None}),
        "pciv_runs_are_committed_at_a_moment",
    ),
    "a draft that may be partial": Attempt(update_run(allow_partial=True), "pciv_runs_are_partial_by_permission"),
    "a whole commit that may be partial": Attempt(
        update_run(**{**on_force(), "allow_partial": True}), "pciv_runs_are_partial_by_permission"
    ),
    "a partial commit that nobody allowed": Attempt(
        update_run(**{**on_force("partial_committed"), "allow_partial": False}),
        "pciv_runs_are_partial_by_permission",
    ),
    "a permission that is neither yes nor no": Attempt(
        update_run(allow_partial=2), "pciv_runs_are_partial_by_permission", only=Dialect.SQLITE
    ),
    "a run at revision 0": Attempt(
        sql_insert("pciv_runs", run_row("atlas", "new", rev=0)), "pciv_runs_rev_starts_at_one"
    ),
    "a revision that stays": Attempt(update_run(rev=1, updated_at=LATER), "pciv_runs_rev_moves_by_one"),
    "a change that does not mention the revision": Attempt(
        update_row("pciv_runs", "draft", updated_at=LATER), "pciv_runs_rev_moves_by_one"
    ),
    "a revision that skips": Attempt(update_run(rev=3), "pciv_runs_rev_moves_by_one"),
    "a run of no project": Attempt(sql_insert("pciv_runs", run_row("nowhere", "new")), "pciv_runs_are_of_a_project"),
    "a run with the id of another project's": Attempt(
        sql_insert("pciv_runs", run_row("borealis", "draft")), "pciv_runs_pkey"
    ),
    "a run that is born committed": Attempt(
        sql_insert("pciv_runs", run_row("atlas", "new", **on_force(rev=1))), "pciv_runs_begin_as_drafts"
    ),
    "a run that is born committed in part": Attempt(
        sql_insert("pciv_runs", run_row("atlas", "new", **on_force("partial_committed", rev=1))),
        "pciv_runs_begin_as_drafts",
    ),
    "a whole commit while something required is unset": Attempt(
        update_run("lacking", **on_force()), "pciv_runs_commit_is_whole"
    ),
    "a commit of a sourced input without a source": Attempt(
        update_run("unbacked", **on_force()), "pciv_runs_commit_is_backed"
    ),
    "a partial commit of a sourced input without a source": Attempt(
        update_run("unbacked", **on_force("partial_committed")), "pciv_runs_commit_is_backed"
    ),
    "a commit of a sourced constraint without a source": Attempt(
        update_run("unfounded", **on_force()), "pciv_runs_commit_is_backed"
    ),
    "a commit of a sourced input without a value or a source": Attempt(
        update_run("unread", **on_force()), "pciv_runs_commit_is_backed"
    ),
    "a partial commit of a sourced constraint without a value or a source": Attempt(
        update_run("unmeasured", **on_force("partial_committed")), "pciv_runs_commit_is_backed"
    ),
    "a run deleted from no project": Attempt(
        insert_deleted_run("draft", "nowhere"), "pciv_deleted_runs_are_of_a_project"
    ),
    "a commit by nobody": Attempt(
        update_run(**{**on_force(), "committed_by": None}), "pciv_runs_are_committed_by_somebody"
    ),
    "a commit by no kind of actor": Attempt(
        update_run(**{**on_force(), "committer_kind": None}), "pciv_runs_are_committed_by_somebody"
    ),
    "a draft that somebody committed": Attempt(
        update_run(committed_by="ada", committer_kind="user"), "pciv_runs_are_committed_by_somebody"
    ),
    "a commit by a ghost": Attempt(
        update_run("copied", **{**on_force(), "committer_kind": "ghost"}), "pciv_runs_committer_is_known"
    ),
    "a commit in the place of another project's run": Attempt(
        update_run(**on_force(), replaced_run_id="nowhere"), "pciv_runs_replace_a_run_of_their_project"
    ),
    "a commit of what was begun before anything was in force": Attempt(
        update_run(**{**on_force(), "base_run_id": None}), "pciv_runs_commit_on_the_run_in_force"
    ),
    "a partial commit of what was copied from another run": Attempt(
        update_run(**{**on_force("partial_committed"), "base_run_id": "other"}), "pciv_runs_commit_on_the_run_in_force"
    ),
    "a model's commit without what a person entered": Attempt(
        update_run("free", **{**on_force(), "committer_kind": "model"}), "pciv_runs_commit_displaces_nobody"
    ),
    "a model's commit of another value than a person's": Attempt(
        update_run("otherwise", **{**on_force(), "committer_kind": "model"}), "pciv_runs_commit_displaces_nobody"
    ),
    "a service's commit of what is no longer required": Attempt(
        update_run("eased", **{**on_force("partial_committed"), "committer_kind": "system"}),
        "pciv_runs_commit_displaces_nobody",
    ),
    "a committed run deleted by a model": Attempt(
        insert_deleted_run("force", "atlas", "model"), "pciv_deleted_runs_are_deleted_by_persons"
    ),
    "a run deleted by a ghost": Attempt(
        insert_deleted_run("draft", "atlas", "ghost"), "pciv_deleted_runs_deleter_is_known"
    ),
    "a run deleted twice": Attempt(insert_deleted_run("gone", "atlas"), "pciv_deleted_runs_pkey"),
    # sources
    "a kind of source that is unknown": Attempt(update_source(kind="rumour"), "pciv_sources_kind_is_known"),
    "a source that was read somehow": Attempt(
        update_source(parse_status="skimmed"), "pciv_sources_parse_status_is_known"
    ),
    "a source smaller than nothing": Attempt(update_source(size_bytes=-1), "pciv_sources_size_counts"),
    "a source without a title": Attempt(update_source(title=""), "pciv_sources_are_named"),
    "a source whose title is too long in bytes": Attempt(update_source(title="ü" * 513), "pciv_sources_are_named"),
    "a source that is nowhere": Attempt(update_source(uri=""), "pciv_sources_are_named"),
    "a source whose address is too long": Attempt(update_source(uri="ü" * 2_049), "pciv_sources_are_named"),
    "a source of too long a type": Attempt(update_source(mime_type="x" * 256), "pciv_sources_fit"),
    "an excerpt that is the whole": Attempt(update_source(excerpt="ü" * 16_385), "pciv_sources_fit"),
    "more about a source than in it": Attempt(update_source(raw_meta=f'{{"x":"{"ü" * 16_384}"}}'), "pciv_sources_fit"),
    "a list about a source": Attempt(update_source(raw_meta="[]"), "pciv_sources_meta_is_an_object"),
    # inputs
    "a pointer without a slash": Attempt(update_input(pointer="site"), "pciv_inputs_pointer_begins_with_a_slash"),
    "no pointer": Attempt(update_input(pointer=""), "pciv_inputs_pointer_begins_with_a_slash"),
    "a pointer that is too long": Attempt(
        update_input(pointer="/" + "ü" * 1_024), "pciv_inputs_pointer_begins_with_a_slash"
    ),
    "an input without a label": Attempt(update_input(label=""), "pciv_inputs_are_named"),
    "an input whose label is too long": Attempt(update_input(label="ü" * 513), "pciv_inputs_are_named"),
    "an input of no domain": Attempt(update_input(domain=""), "pciv_inputs_are_named"),
    "an input of no type of field": Attempt(update_input(field_type="ü" * 256), "pciv_inputs_are_named"),
    "an input that is half required": Attempt(
        update_input(required=2), "pciv_inputs_required_is_yes_or_no", only=Dialect.SQLITE
    ),
    "options by name": Attempt(update_input(options='{"a":1}'), "pciv_inputs_options_are_a_list"),
    "too many options": Attempt(update_input(options=f'["{"ü" * 16_383}"]'), "pciv_inputs_options_are_a_list"),
    "an input that a ghost updated": Attempt(update_input(updated_by="ghost"), "pciv_inputs_updated_by_is_known"),
    "evidence that is too long": Attempt(update_input(evidence_snippet="ü" * 16_385), "pciv_inputs_evidence_fits"),
    "two inputs at one pointer": Attempt(update_input(pointer="/draft-i1"), "pciv_inputs_pointer_is_unique"),
    "a choice that is no option": Attempt(
        sql_insert(
            "pciv_inputs",
            input_row(DRAFT, "new", **value_columns("enum", "up"), options='["north"]'),
        ),
        "pciv_inputs_value_is_an_option_at_insert",
    ),
    "another choice that is no option": Attempt(
        update_input("chosen", value_enum="up"), "pciv_inputs_value_is_an_option_at_update"
    ),
    "an option that goes while it is chosen": Attempt(
        update_input("chosen", options='["south"]'), "pciv_inputs_value_is_an_option_at_update"
    ),
    "no options while one is chosen": Attempt(
        update_input("chosen", options="[]"), "pciv_inputs_value_is_an_option_at_update"
    ),
    "a model's value onto a person's": Attempt(
        update_input(value_string="x", provenance="model-inferred"), "pciv_inputs_provenance_never_lowers"
    ),
    "a source's value onto a person's": Attempt(
        update_input(provenance="source-backed"), "pciv_inputs_provenance_never_lowers"
    ),
    "a model's value onto a source's": Attempt(
        update_input("draft-i1", provenance="model-inferred"), "pciv_inputs_provenance_never_lowers"
    ),
    "a value cleared by somebody who does not know": Attempt(
        update_input(value_string=None, provenance="unknown"), "pciv_inputs_provenance_never_lowers"
    ),
    "a model's value of equal provenance onto a person's": Attempt(
        update_input(value_string="x", updated_by="model"), "pciv_inputs_of_a_person_stay_theirs"
    ),
    "a value cleared by a service": Attempt(
        update_input(value_string=None, updated_by="system"), "pciv_inputs_of_a_person_stay_theirs"
    ),
    # links
    "the same link twice": Attempt(insert_link("draft-i1", "draft-s1"), "pciv_input_sources_pkey"),
    "a link to another run's input": Attempt(
        insert_link("other-i1", "draft-s1"), "pciv_input_sources_share_the_run_of_their_input"
    ),
    "a link to another run's source": Attempt(
        insert_link("draft-i1", "other-s1"), "pciv_input_sources_share_the_run_of_their_source"
    ),
    "a link to no source": Attempt(
        insert_link("draft-i1", "nowhere"), "pciv_input_sources_share_the_run_of_their_source"
    ),
    "a source that goes while something was taken from it": Attempt(
        "DELETE FROM pciv_sources WHERE id = 'lacking-s1'", "pciv_input_sources_share_the_run_of_their_source"
    ),
    # constraints
    "a constraint without a key": Attempt(update_constraint(key=""), "pciv_constraints_are_named"),
    "a constraint whose key is too long": Attempt(update_constraint(key="ü" * 256), "pciv_constraints_are_named"),
    "a constraint without a label": Attempt(update_constraint(label=""), "pciv_constraints_are_named"),
    "a constraint of no domain": Attempt(update_constraint(domain=""), "pciv_constraints_are_named"),
    "two constraints of one key": Attempt(update_constraint(key="draft-d"), "pciv_constraints_key_is_unique"),
    "a snippet that is too long": Attempt(update_constraint(snippet="ü" * 16_385), "pciv_constraints_snippet_fits"),
    "a constraint from another run's source": Attempt(
        update_constraint(source_id="other-s1"), "pciv_constraints_share_the_run_of_their_source"
    ),
    "a model's limit onto a person's": Attempt(
        update_constraint(value_number=1.0, provenance="model-inferred"), "pciv_constraints_provenance_never_lowers"
    ),
    "a model's limit of equal provenance onto a person's": Attempt(
        update_constraint(value_number=1.0, updated_by="model"), "pciv_constraints_of_a_person_stay_theirs"
    ),
    "a constraint that a ghost updated": Attempt(
        update_constraint(updated_by="ghost"), "pciv_constraints_updated_by_is_known"
    ),
    # artifacts
    "an artifact without a title": Attempt(update_artifact(title=""), "pciv_artifacts_are_named"),
    "an artifact of no type": Attempt(update_artifact(type=""), "pciv_artifacts_are_named"),
    "an artifact that is a list": Attempt(update_artifact(payload="[]"), "pciv_artifacts_payload_is_an_object"),
    "an artifact that is too large": Attempt(
        update_artifact(payload=f'{{"x":"{"ü" * 32_768}"}}'), "pciv_artifacts_payload_is_an_object"
    ),
    # suggestions
    "a suggestion about nothing": Attempt(update_suggestion(input_id=None), "pciv_suggestions_are_about_one_thing"),
    "a suggestion about two things": Attempt(
        update_suggestion(constraint_id="draft-c"), "pciv_suggestions_are_about_one_thing"
    ),
    "a suggestion about another run's input": Attempt(
        update_suggestion(input_id="other-i2"), "pciv_suggestions_share_the_run_of_their_input"
    ),
    "a suggestion about another run's constraint": Attempt(
        update_suggestion(input_id=None, constraint_id="other-c"), "pciv_suggestions_share_the_run_of_their_constraint"
    ),
    "sources by name": Attempt(update_suggestion(source_ids="{}"), "pciv_suggestions_sources_are_a_list"),
    "a suggestion by a ghost": Attempt(update_suggestion(author_kind="ghost"), "pciv_suggestions_author_is_known"),
    "a suggestion that is somewhere": Attempt(
        update_suggestion(status="lost", decided_at=LATER, decided_by="ada"), "pciv_suggestions_status_is_known"
    ),
    "a suggestion that waits although somebody decided": Attempt(
        update_suggestion(decided_at=LATER, decided_by="ada"), "pciv_suggestions_are_decided_at_a_moment"
    ),
    "a suggestion that was accepted at no moment": Attempt(
        update_suggestion(status="accepted"), "pciv_suggestions_are_decided_at_a_moment"
    ),
    "a suggestion that nobody rejected": Attempt(
        update_suggestion(status="rejected", decided_at=LATER), "pciv_suggestions_are_decided_at_a_moment"
    ),
    "a suggestion with too long a snippet": Attempt(
        update_suggestion(snippet="ü" * 16_385), "pciv_suggestions_words_fit"
    ),
    "a suggestion with too many reasons": Attempt(
        update_suggestion(rationale="ü" * 2_049), "pciv_suggestions_words_fit"
    ),
    "a second suggestion of one writer for an input": Attempt(
        sql_insert("pciv_suggestions", suggestion_row(DRAFT, "new", input_id="draft-i1")),
        "pciv_suggestions_of_input_are_one_a_writer",
    ),
    "a second suggestion of one writer for a constraint": Attempt(
        sql_insert(
            "pciv_suggestions",
            suggestion_row(DRAFT, "new", constraint_id="draft-c", created_by="ben"),
        ),
        "pciv_suggestions_of_constraint_are_one_a_writer",
    ),
}


# Invalid values.
VALUES: list[tuple[str, str, Row, Dialect | None]] = [
    ("infinite", "number_is_finite", value_columns("number", "Infinity"), None),
    ("infinite, downwards", "number_is_finite", value_columns("number", "-Infinity"), None),
    ("no number", "number_is_finite", value_columns("number", "NaN"), Dialect.POSTGRES),
    ("JSON's null", "json_is_a_value", value_columns("json", "null"), None),
    ("JSON's null, hidden", "json_is_a_value", value_columns("json", " null "), None),
    ("of an unknown kind", "kind_is_known", {**UNSET, "value_kind": "money"}, None),
    ("from nowhere", "provenance_is_known", {"provenance": "guessed"}, None),
    ("unknown and yet set", "unknown_has_no_value", {"provenance": "unknown"}, None),
    ("in another column", "value_matches_kind", {**value_columns("number", 1.0), "value_kind": "string"}, None),
    ("neither yes nor no", "value_matches_kind", value_columns("boolean", 2), Dialect.SQLITE),
    ("a string that is too long in bytes", "value_fits", value_columns("string", "ü" * 16_385), None),
    ("a choice that is too long in bytes", "value_fits", value_columns("enum", "ü" * 513), None),
    ("JSON that is too long in bytes", "value_fits", value_columns("json", f'"{"ü" * 16_384}"'), None),
]


def new_rows() -> dict[str, Row]:
    """Return for every table below a run a valid row."""
    return {
        "pciv_suggestions": suggestion_row(DRAFT, "new", input_id="draft-i2"),
        "pciv_input_sources": link_row(DRAFT, "draft-i2", "draft-s2"),
        "pciv_constraints": constraint_row(DRAFT, "new"),
        "pciv_inputs": input_row(DRAFT, "new"),
        "pciv_sources": source_row(DRAFT, "new"),
        "pciv_artifacts": artifact_row(DRAFT, "new"),
    }


def on_every_table() -> Iterator[tuple[str, Attempt]]:
    """Return the attempts that every table below a run refuses."""
    theirs = {"pciv_suggestions": "g", "pciv_constraints": "c", "pciv_inputs": "i1", "pciv_sources": "s1"}
    for table, row in new_rows().items():
        misplaced = sql_insert(table, {**row, "project_id": "borealis"})
        yield f"{table}: of a project that is not the run's", Attempt(misplaced, f"{table}_are_of_a_run")
        if "id" in row:
            taken = sql_insert(table, {**row, "id": f"other-{theirs.get(table, 'a')}"})
            yield f"{table}: with the id of another run's", Attempt(taken, f"{table}_id_is_unique")
        if "value_kind" in row:
            for what, rule, values, only in VALUES:
                statement = sql_insert(table, {**row, **values})
                yield f"{table}: {what}", Attempt(statement, f"{table}_{rule}", only)


RULES = SchemaRules(
    names="pciv_(?!deleted_runs_are_stood_on)",
    tables=TABLES,
    attempts=ATTEMPTS | dict(on_every_table()),
    words=WORDS,
    exempt=IMPLIED,
)


def fill(engine: Engine) -> None:
    """Create the projects for the attempts."""
    engine.as_owner(*(insert_project(name, STAMP) for name in ("atlas", "borealis")))
    insert_families(engine, make_family("atlas", "draft"), make_family("atlas", "other"))
    lacking, unbacked, unfounded, unread, unmeasured, free = (
        run_row("atlas", name) for name in ("lacking", "unbacked", "unfounded", "unread", "unmeasured", "free")
    )
    force, copied, otherwise, eased = (run_row("atlas", name) for name in ("force", "copied", "otherwise", "eased"))
    engine.as_owner(
        *(sql_insert("pciv_runs", each) for each in (lacking, unbacked, unfounded, unread, unmeasured, free)),
        *(sql_insert("pciv_runs", each) for each in (force, copied, otherwise, eased)),
        # What a person entered, in the run in force and in drafts that came of it.
        *(
            sql_insert("pciv_inputs", input_row(each, f"{each['id']}-i", pointer="/entered", **changes))
            for each, changes in (
                (force, {}),
                (copied, {"provenance": "model-inferred", "updated_by": "model"}),
                (otherwise, {"value_string": "13 km", "provenance": "model-inferred", "updated_by": "model"}),
                (eased, {"required": False, "updated_by": "model"}),
            )
        ),
        *(
            sql_insert("pciv_constraints", constraint_row(each, f"{each['id']}-c", key="entered"))
            for each in (force, copied, otherwise, eased)
        ),
        sql_insert("pciv_constraints", constraint_row(DRAFT, "draft-d")),
        update_run("force", **commit_columns()),
        sql_insert("pciv_inputs", input_row(lacking, "lacking-i1", value_string=None)),
        sql_insert("pciv_sources", source_row(lacking, "lacking-s1")),
        sql_insert("pciv_input_sources", link_row(lacking, "lacking-i1", "lacking-s1")),
        sql_insert("pciv_inputs", input_row(unbacked, "unbacked-i1", **UNBACKED)),
        sql_insert("pciv_constraints", constraint_row(unfounded, "unfounded-c", **UNBACKED)),
        sql_insert("pciv_inputs", input_row(unread, "unread-i1", required=False, value_string=None, **UNBACKED)),
        sql_insert("pciv_constraints", constraint_row(unmeasured, "unmeasured-c", value_number=None, **UNBACKED)),
        # An optional input needs no value, and what is unknown no source.
        sql_insert("pciv_inputs", input_row(free, "free-i1", required=False, value_string=None, **UNKNOWN)),
        sql_insert("pciv_constraints", constraint_row(free, "free-c", value_number=None, **UNKNOWN)),
        sql_insert(
            "pciv_inputs",
            input_row(DRAFT, "chosen", **value_columns("enum", "north"), options='["north","south"]'),
        ),
        sql_insert("pciv_suggestions", suggestion_row(DRAFT, "draft-h", constraint_id="draft-c", created_by="ben")),
        insert_deleted_run("gone", "atlas"),
    )


@pytest.fixture
def atlas(engine: Engine) -> Engine:
    """Two projects. In atlas: two filled drafts, and drafts that each lack something a commit needs."""
    fill_once(engine, fill)
    return engine


def test_every_rule_of_the_migration_is_tried() -> None:
    assert RULES.find_uncovered() == []


def test_the_database_itself_refuses_every_attempt_by_the_rule_that_is_for_it(atlas: Engine) -> None:
    assert RULES.find_accepted(atlas) == {}


@pytest.mark.slow
def test_without_its_rule_nothing_else_stands_in_the_way_of_an_attempt(atlas: Engine) -> None:
    assert RULES.find_blocked_elsewhere(atlas) == {}


def test_what_is_allowed_is_not_refused(atlas: Engine) -> None:
    rows = [sql_insert(table, row) for table, row in new_rows().items()]
    whole, partial = on_force(), on_force("partial_committed")
    allowed = [
        *rows,
        update_run(**whole),
        update_run(**partial),
        update_run("lacking", **partial),
        update_run("free", **whole),
        update_run("free", **partial),
        *(update_run("copied", **{**whole, "committer_kind": kind}) for kind in ("user", "model", "system")),
        *(update_run(id_, **partial) for id_ in ("otherwise", "eased")),
        insert_deleted_run("force", "atlas"),
        insert_deleted_run("draft", "atlas", "model"),
        update_input("draft-i1", value_string="x", provenance="source-backed"),
        update_input("draft-i1", value_string="x", provenance="user-entered"),
        update_input("lacking-i1", value_string="x", provenance="model-inferred", updated_by="model"),
        update_input("draft-i1", value_string="x", updated_by="model"),
        update_input("lacking-i1", provenance="unknown"),
        update_input("chosen", value_enum="south"),
        update_input("chosen", options=None),
        update_input(value_string=None),
        update_input(pointer="/"),
        update_input(pointer="/" + "ü" * 1_023),
        update_suggestion(status="accepted", decided_at=LATER, decided_by="ada"),
        sql_insert("pciv_suggestions", suggestion_row(DRAFT, "new", input_id="draft-i1", created_by="ben")),
        sql_insert(
            "pciv_suggestions", suggestion_row(DRAFT, "new", input_id="draft-i1", **decision_columns("rejected"))
        ),
        *(
            sql_insert("pciv_inputs", input_row(DRAFT, "new", value_string=None, provenance=provenance))
            for provenance in ("unknown", "model-inferred", "source-backed", "user-entered")
        ),
    ]

    assert RULES.find_refused(atlas, allowed) == {}


def decision_columns(status: str) -> Row:
    return {"status": status, "decided_at": LATER, "decided_by": "ada"}


def test_what_is_no_json_is_refused(atlas: Engine) -> None:
    torn = [
        update_source(raw_meta="{"),
        update_input(options="["),
        update_input(**value_columns("json", "{")),
        update_constraint(**value_columns("json", "")),
        update_artifact(payload="{"),
        update_suggestion(source_ids="["),
    ]

    assert RULES.find_done(atlas, torn) == []


def test_a_caller_of_the_store_is_told_what_was_wrong(atlas: Engine) -> None:
    wrong = {
        "a run that is born committed": NotADraft,
        "a whole commit while something required is unset": RequiredUnset,
        "a commit of a sourced input without a source": SourceMissing,
        "a model's value onto a person's": LowerProvenance,
        "a model's value of equal provenance onto a person's": LowerProvenance,
        "a choice that is no option": NotAnOption,
        "a revision that skips": RevisionSkipped,
        "a commit of what was begun before anything was in force": StaleBase,
        "a model's commit without what a person entered": DisplacesUserEntered,
        "a committed run deleted by a model": PersonRequired,
    }
    for what, error in wrong.items():
        with pytest.raises(error):
            write_rows(atlas, ATTEMPTS[what].statement)

    atlas.as_owner(update_run(**on_force()))
    with pytest.raises(Frozen):
        write_rows(atlas, update_artifact(title="x"))
