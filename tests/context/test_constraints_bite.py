"""The rules of context that stand in the schema itself: nobody's SQL breaks them, and each is there for that.

No rule of the migration is without an attempt to break it; how each is made is told in `tests.kernel.store.rules`.
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
)
from groundplan.context.tables import RUN_CHILD_TABLES
from groundplan.kernel.store.guards import Frozen, NotADraft, RevisionSkipped
from groundplan.kernel.store.migrations import Dialect
from tests.context.rows import (
    LATER,
    STAMP,
    UNSET,
    a_constraint,
    a_family,
    a_link,
    a_run,
    a_source,
    a_suggestion,
    an_artifact,
    an_input,
    committed,
    place,
)
from tests.engines import Engine, filled_once
from tests.kernel.store.attacks import Row, Value, inserted
from tests.kernel.store.rules import Attempt, Rulebook, a_project, old, written

TABLES = ("pciv_runs", "pciv_deleted_runs", *RUN_CHILD_TABLES)
# Another rule says the same and more; these are there for references, or to have the rows of a run in one place.
IMPLIED = {"pciv_runs_can_be_named_by_project"} | {
    f"{table}_pkey" for table in RUN_CHILD_TABLES if table != "pciv_input_sources"
}
WORDS = {
    "pciv_runs_rev_moves_by_one": "rev_step",
    "pciv_runs_begin_as_drafts": "not_a_draft",
    "pciv_runs_commit_is_whole": "required_unset",
    "pciv_runs_commit_is_backed": "source_missing",
    "pciv_runs_commit_displaces_nobody": "displaces_user_entered",
    "pciv_deleted_runs_are_deleted_by_persons": "person_required",
    "pciv_inputs_provenance_never_lowers": "lower_provenance",
    "pciv_constraints_provenance_never_lowers": "lower_provenance",
    "pciv_inputs_value_is_an_option_at_insert": "not_an_option",
    "pciv_inputs_value_is_an_option_at_update": "not_an_option",
}

DRAFT = a_run("atlas", "draft")
UNBACKED = {"provenance": "source-backed"}


def run(id_: str = "draft", /, **changes: Value) -> str:
    return old("pciv_runs", id_, **{"rev": 2, **changes})


def source(**changes: Value) -> str:
    return old("pciv_sources", "draft-s1", **changes)


def an_old_input(id_: str = "draft-i3", /, **changes: Value) -> str:
    return old("pciv_inputs", id_, **changes)


def constraint(**changes: Value) -> str:
    return old("pciv_constraints", "draft-c", **changes)


def artifact(**changes: Value) -> str:
    return old("pciv_artifacts", "draft-a", **changes)


def suggestion(**changes: Value) -> str:
    return old("pciv_suggestions", "draft-g", **changes)


def removed(run_id: str, project_id: str, kind: str = "user") -> str:
    row = {"tenant_id": "local", "run_id": run_id, "project_id": project_id, "deleted_at": STAMP, "deleted_by": "ada"}
    return inserted("pciv_deleted_runs", {**row, "deleter_kind": kind})


def link(input_id: str, source_id: str, **changes: Value) -> str:
    return inserted("pciv_input_sources", {**a_link(DRAFT, input_id, source_id), **changes})


def value(kind: str, is_: Value) -> Row:
    return {**UNSET, "value_kind": kind, f"value_{kind}": is_}


ATTEMPTS = {
    # runs
    "a status that is unknown": Attempt(run(**{**committed(), "status": "archived"}), "pciv_runs_status_is_known"),
    "a draft that was committed once": Attempt(run(committed_at=LATER), "pciv_runs_are_committed_at_a_moment"),
    "a commit at no moment": Attempt(
        run(**{**committed(), "committed_at": None}), "pciv_runs_are_committed_at_a_moment"
    ),
    "a partial commit at no moment": Attempt(
        run(**{**committed("partial_committed"), "committed_at": None}), "pciv_runs_are_committed_at_a_moment"
    ),
    "a draft that may be partial": Attempt(run(allow_partial=True), "pciv_runs_are_partial_by_permission"),
    "a whole commit that may be partial": Attempt(
        run(**{**committed(), "allow_partial": True}), "pciv_runs_are_partial_by_permission"
    ),
    "a partial commit that nobody allowed": Attempt(
        run(**{**committed("partial_committed"), "allow_partial": False}), "pciv_runs_are_partial_by_permission"
    ),
    "a permission that is neither yes nor no": Attempt(
        run(allow_partial=2), "pciv_runs_are_partial_by_permission", only=Dialect.SQLITE
    ),
    "a run at revision 0": Attempt(inserted("pciv_runs", a_run("atlas", "new", rev=0)), "pciv_runs_rev_starts_at_one"),
    "a revision that stays": Attempt(run(rev=1, updated_at=LATER), "pciv_runs_rev_moves_by_one"),
    "a change that does not mention the revision": Attempt(
        old("pciv_runs", "draft", updated_at=LATER), "pciv_runs_rev_moves_by_one"
    ),
    "a revision that skips": Attempt(run(rev=3), "pciv_runs_rev_moves_by_one"),
    "a run of no project": Attempt(inserted("pciv_runs", a_run("nowhere", "new")), "pciv_runs_are_of_a_project"),
    "a run with the id of another project's": Attempt(
        inserted("pciv_runs", a_run("borealis", "draft")), "pciv_runs_pkey"
    ),
    "a run that is born committed": Attempt(
        inserted("pciv_runs", a_run("atlas", "new", **committed(rev=1))), "pciv_runs_begin_as_drafts"
    ),
    "a run that is born committed in part": Attempt(
        inserted("pciv_runs", a_run("atlas", "new", **committed("partial_committed", rev=1))),
        "pciv_runs_begin_as_drafts",
    ),
    "a whole commit while something required is unset": Attempt(
        run("lacking", **committed()), "pciv_runs_commit_is_whole"
    ),
    "a commit of a sourced input without a source": Attempt(
        run("unbacked", **committed()), "pciv_runs_commit_is_backed"
    ),
    "a partial commit of a sourced input without a source": Attempt(
        run("unbacked", **committed("partial_committed")), "pciv_runs_commit_is_backed"
    ),
    "a commit of a sourced constraint without a source": Attempt(
        run("unfounded", **committed()), "pciv_runs_commit_is_backed"
    ),
    "a commit by nobody": Attempt(run(**{**committed(), "committed_by": None}), "pciv_runs_are_committed_by_somebody"),
    "a commit by no kind of actor": Attempt(
        run(**{**committed(), "committer_kind": None}), "pciv_runs_are_committed_by_somebody"
    ),
    "a draft that somebody committed": Attempt(
        run(committed_by="ada", committer_kind="user"), "pciv_runs_are_committed_by_somebody"
    ),
    "a commit by a ghost": Attempt(
        run("copied", **{**committed(), "committer_kind": "ghost"}), "pciv_runs_committer_is_known"
    ),
    "a commit in the place of another project's run": Attempt(
        run(**committed(), replaced_run_id="nowhere"), "pciv_runs_replace_a_run_of_their_project"
    ),
    "a model's commit without what a person entered": Attempt(
        run("free", **{**committed(), "committer_kind": "model"}), "pciv_runs_commit_displaces_nobody"
    ),
    "a model's commit of another value than a person's": Attempt(
        run("otherwise", **{**committed(), "committer_kind": "model"}), "pciv_runs_commit_displaces_nobody"
    ),
    "a service's commit of what is no longer required": Attempt(
        run("eased", **{**committed("partial_committed"), "committer_kind": "system"}),
        "pciv_runs_commit_displaces_nobody",
    ),
    "a committed run deleted by a model": Attempt(
        removed("force", "atlas", "model"), "pciv_deleted_runs_are_deleted_by_persons"
    ),
    "a run deleted by a ghost": Attempt(removed("draft", "atlas", "ghost"), "pciv_deleted_runs_deleter_is_known"),
    "a run deleted from no project": Attempt(removed("draft", "nowhere"), "pciv_deleted_runs_are_of_a_project"),
    "a run deleted twice": Attempt(removed("gone", "atlas"), "pciv_deleted_runs_pkey"),
    # sources
    "a kind of source that is unknown": Attempt(source(kind="rumour"), "pciv_sources_kind_is_known"),
    "a source that was read somehow": Attempt(source(parse_status="skimmed"), "pciv_sources_parse_status_is_known"),
    "a source smaller than nothing": Attempt(source(size_bytes=-1), "pciv_sources_size_counts"),
    "a source without a title": Attempt(source(title=""), "pciv_sources_are_named"),
    "a source whose title is too long in bytes": Attempt(source(title="ü" * 513), "pciv_sources_are_named"),
    "a source that is nowhere": Attempt(source(uri=""), "pciv_sources_are_named"),
    "a source whose address is too long": Attempt(source(uri="ü" * 2_049), "pciv_sources_are_named"),
    "a source of too long a type": Attempt(source(mime_type="x" * 256), "pciv_sources_fit"),
    "an excerpt that is the whole": Attempt(source(excerpt="ü" * 16_385), "pciv_sources_fit"),
    "more about a source than in it": Attempt(source(raw_meta=f'{{"x":"{"ü" * 16_384}"}}'), "pciv_sources_fit"),
    "a list about a source": Attempt(source(raw_meta="[]"), "pciv_sources_meta_is_an_object"),
    # inputs
    "a pointer without a slash": Attempt(an_old_input(pointer="site"), "pciv_inputs_pointer_begins_with_a_slash"),
    "no pointer": Attempt(an_old_input(pointer=""), "pciv_inputs_pointer_begins_with_a_slash"),
    "a pointer that is too long": Attempt(
        an_old_input(pointer="/" + "ü" * 1_024), "pciv_inputs_pointer_begins_with_a_slash"
    ),
    "an input without a label": Attempt(an_old_input(label=""), "pciv_inputs_are_named"),
    "an input whose label is too long": Attempt(an_old_input(label="ü" * 513), "pciv_inputs_are_named"),
    "an input of no domain": Attempt(an_old_input(domain=""), "pciv_inputs_are_named"),
    "an input of no type of field": Attempt(an_old_input(field_type="ü" * 256), "pciv_inputs_are_named"),
    "an input that is half required": Attempt(
        an_old_input(required=2), "pciv_inputs_required_is_yes_or_no", only=Dialect.SQLITE
    ),
    "options by name": Attempt(an_old_input(options='{"a":1}'), "pciv_inputs_options_are_a_list"),
    "too many options": Attempt(an_old_input(options=f'["{"ü" * 16_383}"]'), "pciv_inputs_options_are_a_list"),
    "an input that a ghost updated": Attempt(an_old_input(updated_by="ghost"), "pciv_inputs_updated_by_is_known"),
    "evidence that is too long": Attempt(an_old_input(evidence_snippet="ü" * 16_385), "pciv_inputs_evidence_fits"),
    "two inputs at one pointer": Attempt(an_old_input(pointer="/draft-i1"), "pciv_inputs_pointer_is_unique"),
    "a choice that is no option": Attempt(
        inserted(
            "pciv_inputs",
            an_input(DRAFT, "new", **value("enum", "up"), options='["north"]'),
        ),
        "pciv_inputs_value_is_an_option_at_insert",
    ),
    "another choice that is no option": Attempt(
        an_old_input("chosen", value_enum="up"), "pciv_inputs_value_is_an_option_at_update"
    ),
    "an option that goes while it is chosen": Attempt(
        an_old_input("chosen", options='["south"]'), "pciv_inputs_value_is_an_option_at_update"
    ),
    "no options while one is chosen": Attempt(
        an_old_input("chosen", options="[]"), "pciv_inputs_value_is_an_option_at_update"
    ),
    "a model's value onto a person's": Attempt(
        an_old_input(value_string="x", provenance="model-inferred"), "pciv_inputs_provenance_never_lowers"
    ),
    "a source's value onto a person's": Attempt(
        an_old_input(provenance="source-backed"), "pciv_inputs_provenance_never_lowers"
    ),
    "a model's value onto a source's": Attempt(
        an_old_input("draft-i1", provenance="model-inferred"), "pciv_inputs_provenance_never_lowers"
    ),
    "a value cleared by somebody who does not know": Attempt(
        an_old_input(value_string=None, provenance="unknown"), "pciv_inputs_provenance_never_lowers"
    ),
    # links
    "the same link twice": Attempt(link("draft-i1", "draft-s1"), "pciv_input_sources_pkey"),
    "a link to another run's input": Attempt(
        link("other-i1", "draft-s1"), "pciv_input_sources_share_the_run_of_their_input"
    ),
    "a link to another run's source": Attempt(
        link("draft-i1", "other-s1"), "pciv_input_sources_share_the_run_of_their_source"
    ),
    "a link to no source": Attempt(link("draft-i1", "nowhere"), "pciv_input_sources_share_the_run_of_their_source"),
    "a source that goes while something was taken from it": Attempt(
        "DELETE FROM pciv_sources WHERE id = 'lacking-s1'", "pciv_input_sources_share_the_run_of_their_source"
    ),
    # constraints
    "a constraint without a key": Attempt(constraint(key=""), "pciv_constraints_are_named"),
    "a constraint whose key is too long": Attempt(constraint(key="ü" * 256), "pciv_constraints_are_named"),
    "a constraint without a label": Attempt(constraint(label=""), "pciv_constraints_are_named"),
    "a constraint of no domain": Attempt(constraint(domain=""), "pciv_constraints_are_named"),
    "two constraints of one key": Attempt(constraint(key="draft-d"), "pciv_constraints_key_is_unique"),
    "a snippet that is too long": Attempt(constraint(snippet="ü" * 16_385), "pciv_constraints_snippet_fits"),
    "a constraint from another run's source": Attempt(
        constraint(source_id="other-s1"), "pciv_constraints_share_the_run_of_their_source"
    ),
    "a model's limit onto a person's": Attempt(
        constraint(value_number=1.0, provenance="model-inferred"), "pciv_constraints_provenance_never_lowers"
    ),
    # artifacts
    "an artifact without a title": Attempt(artifact(title=""), "pciv_artifacts_are_named"),
    "an artifact of no type": Attempt(artifact(type=""), "pciv_artifacts_are_named"),
    "an artifact that is a list": Attempt(artifact(payload="[]"), "pciv_artifacts_payload_is_an_object"),
    "an artifact that is too large": Attempt(
        artifact(payload=f'{{"x":"{"ü" * 32_768}"}}'), "pciv_artifacts_payload_is_an_object"
    ),
    # suggestions
    "a suggestion about nothing": Attempt(suggestion(input_id=None), "pciv_suggestions_are_about_one_thing"),
    "a suggestion about two things": Attempt(
        suggestion(constraint_id="draft-c"), "pciv_suggestions_are_about_one_thing"
    ),
    "a suggestion about another run's input": Attempt(
        suggestion(input_id="other-i2"), "pciv_suggestions_share_the_run_of_their_input"
    ),
    "a suggestion about another run's constraint": Attempt(
        suggestion(input_id=None, constraint_id="other-c"), "pciv_suggestions_share_the_run_of_their_constraint"
    ),
    "sources by name": Attempt(suggestion(source_ids="{}"), "pciv_suggestions_sources_are_a_list"),
    "a suggestion by a ghost": Attempt(suggestion(author_kind="ghost"), "pciv_suggestions_author_is_known"),
    "a suggestion that is somewhere": Attempt(
        suggestion(status="lost", decided_at=LATER, decided_by="ada"), "pciv_suggestions_status_is_known"
    ),
    "a suggestion that waits although somebody decided": Attempt(
        suggestion(decided_at=LATER, decided_by="ada"), "pciv_suggestions_are_decided_at_a_moment"
    ),
    "a suggestion that was accepted at no moment": Attempt(
        suggestion(status="accepted"), "pciv_suggestions_are_decided_at_a_moment"
    ),
    "a suggestion that nobody rejected": Attempt(
        suggestion(status="rejected", decided_at=LATER), "pciv_suggestions_are_decided_at_a_moment"
    ),
    "a suggestion with too long a snippet": Attempt(suggestion(snippet="ü" * 16_385), "pciv_suggestions_words_fit"),
    "a suggestion with too many reasons": Attempt(suggestion(rationale="ü" * 2_049), "pciv_suggestions_words_fit"),
    "a second suggestion of one writer for an input": Attempt(
        inserted("pciv_suggestions", a_suggestion(DRAFT, "new", input_id="draft-i1")),
        "pciv_suggestions_of_input_are_one_a_writer",
    ),
    "a second suggestion of one writer for a constraint": Attempt(
        inserted(
            "pciv_suggestions",
            a_suggestion(DRAFT, "new", constraint_id="draft-c", created_by="ben"),
        ),
        "pciv_suggestions_of_constraint_are_one_a_writer",
    ),
}


# What no value is.
VALUES: list[tuple[str, str, Row, Dialect | None]] = [
    ("infinite", "number_is_finite", value("number", "Infinity"), None),
    ("infinite, downwards", "number_is_finite", value("number", "-Infinity"), None),
    ("no number", "number_is_finite", value("number", "NaN"), Dialect.POSTGRES),
    ("JSON's null", "json_is_a_value", value("json", "null"), None),
    ("JSON's null, hidden", "json_is_a_value", value("json", " null "), None),
    ("of an unknown kind", "kind_is_known", {**UNSET, "value_kind": "money"}, None),
    ("from nowhere", "provenance_is_known", {"provenance": "guessed"}, None),
    ("unknown and yet set", "unknown_has_no_value", {"provenance": "unknown"}, None),
    ("in another column", "value_matches_kind", {**value("number", 1.0), "value_kind": "string"}, None),
    ("neither yes nor no", "value_matches_kind", value("boolean", 2), Dialect.SQLITE),
    ("a string that is too long in bytes", "value_fits", value("string", "ü" * 16_385), None),
    ("a choice that is too long in bytes", "value_fits", value("enum", "ü" * 513), None),
    ("JSON that is too long in bytes", "value_fits", value("json", f'"{"ü" * 16_384}"'), None),
]


def new_rows() -> dict[str, Row]:
    """For every table below a run, a row that it takes."""
    return {
        "pciv_suggestions": a_suggestion(DRAFT, "new", input_id="draft-i2"),
        "pciv_input_sources": a_link(DRAFT, "draft-i2", "draft-s2"),
        "pciv_constraints": a_constraint(DRAFT, "new"),
        "pciv_inputs": an_input(DRAFT, "new"),
        "pciv_sources": a_source(DRAFT, "new"),
        "pciv_artifacts": an_artifact(DRAFT, "new"),
    }


def on_every_table() -> Iterator[tuple[str, Attempt]]:
    """What no table below a run takes."""
    theirs = {"pciv_suggestions": "g", "pciv_constraints": "c", "pciv_inputs": "i1", "pciv_sources": "s1"}
    for table, row in new_rows().items():
        misplaced = inserted(table, {**row, "project_id": "borealis"})
        yield f"{table}: of a project that is not the run's", Attempt(misplaced, f"{table}_are_of_a_run")
        if "id" in row:
            taken = inserted(table, {**row, "id": f"other-{theirs.get(table, 'a')}"})
            yield f"{table}: with the id of another run's", Attempt(taken, f"{table}_id_is_unique")
        if "value_kind" in row:
            for what, rule, values, only in VALUES:
                statement = inserted(table, {**row, **values})
                yield f"{table}: {what}", Attempt(statement, f"{table}_{rule}", only)


RULES = Rulebook(
    migration="context",
    tables=TABLES,
    attempts=ATTEMPTS | dict(on_every_table()),
    words=WORDS,
    excused=IMPLIED,
)


def fill(engine: Engine) -> None:
    """Make the projects that the attempts are made on."""
    engine.as_owner(*(a_project(name, STAMP) for name in ("atlas", "borealis")))
    place(engine, a_family("atlas", "draft"), a_family("atlas", "other"))
    lacking, unbacked, unfounded, free = (a_run("atlas", name) for name in ("lacking", "unbacked", "unfounded", "free"))
    force, copied, otherwise, eased = (a_run("atlas", name) for name in ("force", "copied", "otherwise", "eased"))
    engine.as_owner(
        *(inserted("pciv_runs", each) for each in (lacking, unbacked, unfounded, free)),
        *(inserted("pciv_runs", each) for each in (force, copied, otherwise, eased)),
        # What a person entered, in the run in force and in drafts that came of it.
        *(
            inserted("pciv_inputs", an_input(each, f"{each['id']}-i", pointer="/entered", **changes))
            for each, changes in (
                (force, {}),
                (copied, {"provenance": "model-inferred", "updated_by": "model"}),
                (otherwise, {"value_string": "13 km", "provenance": "model-inferred", "updated_by": "model"}),
                (eased, {"required": False, "updated_by": "model"}),
            )
        ),
        *(
            inserted("pciv_constraints", a_constraint(each, f"{each['id']}-c", key="entered"))
            for each in (force, copied, otherwise, eased)
        ),
        inserted("pciv_constraints", a_constraint(DRAFT, "draft-d")),
        run("force", **committed()),
        inserted("pciv_inputs", an_input(lacking, "lacking-i1", value_string=None)),
        inserted("pciv_sources", a_source(lacking, "lacking-s1")),
        inserted("pciv_input_sources", a_link(lacking, "lacking-i1", "lacking-s1")),
        inserted("pciv_inputs", an_input(unbacked, "unbacked-i1", **UNBACKED)),
        inserted("pciv_constraints", a_constraint(unfounded, "unfounded-c", **UNBACKED)),
        # What has no value needs no source, and what is not required needs no value.
        inserted("pciv_inputs", an_input(free, "free-i1", required=False, value_string=None, **UNBACKED)),
        inserted("pciv_constraints", a_constraint(free, "free-c", value_number=None, **UNBACKED)),
        inserted(
            "pciv_inputs",
            an_input(DRAFT, "chosen", **value("enum", "north"), options='["north","south"]'),
        ),
        inserted("pciv_suggestions", a_suggestion(DRAFT, "draft-h", constraint_id="draft-c", created_by="ben")),
        removed("gone", "atlas"),
    )


@pytest.fixture
def atlas(engine: Engine) -> Engine:
    """Two projects. In atlas: two filled drafts, and drafts each of which lacks something that a commit needs."""
    filled_once(engine, fill)
    return engine


def test_every_rule_of_the_migration_is_tried() -> None:
    assert RULES.loose_ends() == []


def test_the_database_itself_refuses_every_attempt_by_the_rule_that_is_for_it(atlas: Engine) -> None:
    assert RULES.unrefused(atlas) == {}


@pytest.mark.slow
def test_without_its_rule_nothing_else_stands_in_the_way_of_an_attempt(atlas: Engine) -> None:
    assert RULES.blocked(atlas) == {}


def test_what_is_allowed_is_not_refused(atlas: Engine) -> None:
    rows = [inserted(table, row) for table, row in new_rows().items()]
    whole, partial = committed(), committed("partial_committed")
    allowed = [
        *rows,
        run(**whole),
        run(**partial),
        run("lacking", **partial),
        run("free", **whole),
        run("free", **partial),
        *(run("copied", **{**whole, "committer_kind": kind}) for kind in ("user", "model", "system")),
        *(run(id_, **partial) for id_ in ("otherwise", "eased")),
        removed("force", "atlas"),
        removed("draft", "atlas", "model"),
        an_old_input("draft-i1", value_string="x", provenance="source-backed"),
        an_old_input("draft-i1", value_string="x", provenance="user-entered"),
        an_old_input("lacking-i1", value_string="x", provenance="model-inferred"),
        an_old_input("lacking-i1", provenance="unknown"),
        an_old_input("chosen", value_enum="south"),
        an_old_input("chosen", options=None),
        an_old_input(value_string=None),
        an_old_input(pointer="/"),
        an_old_input(pointer="/" + "ü" * 1_023),
        suggestion(status="accepted", decided_at=LATER, decided_by="ada"),
        inserted("pciv_suggestions", a_suggestion(DRAFT, "new", input_id="draft-i1", created_by="ben")),
        inserted("pciv_suggestions", a_suggestion(DRAFT, "new", input_id="draft-i1", **decided("rejected"))),
        *(
            inserted("pciv_inputs", an_input(DRAFT, "new", value_string=None, provenance=provenance))
            for provenance in ("unknown", "model-inferred", "source-backed", "user-entered")
        ),
    ]

    assert RULES.refused(atlas, allowed) == {}


def decided(status: str) -> Row:
    return {"status": status, "decided_at": LATER, "decided_by": "ada"}


def test_what_is_no_json_is_refused(atlas: Engine) -> None:
    torn = [
        source(raw_meta="{"),
        an_old_input(options="["),
        an_old_input(**value("json", "{")),
        constraint(**value("json", "")),
        artifact(payload="{"),
        suggestion(source_ids="["),
    ]

    assert RULES.done(atlas, torn) == []


def test_a_caller_of_the_store_is_told_what_was_wrong(atlas: Engine) -> None:
    wrong = {
        "a run that is born committed": NotADraft,
        "a whole commit while something required is unset": RequiredUnset,
        "a commit of a sourced input without a source": SourceMissing,
        "a model's value onto a person's": LowerProvenance,
        "a choice that is no option": NotAnOption,
        "a revision that skips": RevisionSkipped,
        "a model's commit without what a person entered": DisplacesUserEntered,
        "a committed run deleted by a model": PersonRequired,
    }
    for what, error in wrong.items():
        with pytest.raises(error):
            written(atlas, ATTEMPTS[what].statement)

    atlas.as_owner(run(**committed()))
    with pytest.raises(Frozen):
        written(atlas, artifact(title="x"))
