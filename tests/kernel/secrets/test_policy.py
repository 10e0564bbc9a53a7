"""A write that contains a secret: warned about, refused or let through, as its project wants it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from msgspec import Struct

from groundplan.catalog import OPERATIONS
from groundplan.kernel.actors import local_actor
from groundplan.kernel.operations.registry import Effect
from groundplan.kernel.preferences import Preferences
from groundplan.kernel.secrets import SecretFound
from groundplan.session import Session, WriteWarning
from groundplan.surfaces.respond import respond
from tests.engines import Engine
from tests.kernel.secrets.made_up import make_one

TOKEN = make_one("GitHub personal access token")
AWS = make_one("AWS access key")
KEPT = (
    "it is stored and stays in the history, so revoke it if it is real, "
    "and write where it is kept instead of the secret itself"
)

pytestmark = pytest.mark.filterwarnings("ignore::groundplan.session.WriteWarning")


@pytest.fixture
def ada(engine: Engine) -> Session:
    session = engine.session("ada")
    session.call("work.open", project="atlas")
    return session


def set_policy(session: Session, value: str) -> None:
    session.call("work.open", project="atlas", policies={"secrets": value})


def plan(session: Session, *summaries: str, **more: Any) -> Any:
    nodes = [{"ref": f"n{number}", "summary": text} for number, text in enumerate(summaries)]
    return session.call("work.plan", project="atlas", nodes=nodes, **more)


def test_a_write_with_a_secret_is_done_and_warned_about_with_its_field_and_kind(ada: Session) -> None:
    made = plan(ada, "Clean up", f"Log in with {TOKEN}")

    assert made.warnings == [f"looks like a secret: nodes[1].summary (GitHub personal access token); {KEPT}"]
    assert len(made.created) == 2
    assert ada.call("work.query", project="atlas", filter={"text": "log in"}).total == 1


def test_many_secrets_are_one_line_that_counts_them(ada: Session) -> None:
    made = plan(ada, TOKEN, f"{AWS} and {TOKEN}", AWS)

    assert made.warnings == [
        "looks like a secret: nodes[0].summary (GitHub personal access token), nodes[1].summary (AWS access key), "
        f"nodes[1].summary (GitHub personal access token) and 1 more; {KEPT}"
    ]


def test_a_project_may_refuse_secrets_and_then_nothing_is_written(ada: Session) -> None:
    set_policy(ada, "refuse")
    before = ada.call("work.open", project="atlas").summary

    with pytest.raises(SecretFound) as refused:
        plan(ada, "Clean up", TOKEN)

    error = refused.value
    assert (error.status, error.code) == (422, "secret_found")
    assert error.details["fields"] == [{"field": "nodes[1].summary", "kind": "GitHub personal access token"}]
    assert TOKEN not in str(error.to_dict())
    assert ada.call("work.open", project="atlas").summary == before
    assert plan(ada, "Clean up").created


def test_a_project_may_switch_the_check_off(ada: Session) -> None:
    set_policy(ada, "off")
    assert plan(ada, TOKEN).warnings is msgspec.UNSET


def test_a_project_is_created_under_the_policy_that_it_is_created_with(ada: Session) -> None:
    with pytest.raises(SecretFound):
        ada.call("work.open", project="borealis", goal=TOKEN, policies={"secrets": "refuse"})
    with pytest.warns(WriteWarning, match=r"goal \(GitHub"):
        ada.call("work.open", project="borealis", goal=TOKEN)


def test_a_name_that_is_a_secret_is_found_and_not_shown(ada: Session) -> None:
    node = plan(ada, "Clean up").created[0].id
    changed = ada.call("work.update", updates=[{"node_id": node, "properties": {TOKEN: {"key": AWS}}}])

    (line,) = changed.warnings
    assert "updates[0].properties (GitHub personal access token), updates[0].properties.….key (AWS access key)" in line
    assert TOKEN not in line


@pytest.mark.parametrize(
    ("operation", "arguments", "field"),
    [
        ("project.create", {"name": "borealis", "goal": TOKEN}, "goal"),
        ("container.create", {"containerType": "task", "name": TOKEN, "projectId": "atlas"}, "name"),
        ("template.create", {"name": TOKEN, "targetEntityType": "TASK"}, "name"),
        ("purpose.draft", {"project": "atlas", "op_id": TOKEN, "lean": True}, "op_id"),
        ("member.add", {"scopeId": "atlas", "userId": TOKEN, "role": "viewer"}, "userId"),
    ],
    ids=lambda value: value if isinstance(value, str) and "." in value else "",
)
def test_answers_without_a_field_for_warnings_have_them_in_their_json(
    ada: Session, operation: str, arguments: dict[str, Any], field: str
) -> None:
    capped = Session(ada.store, local_actor("ada"), preferences=Preferences(answer_tokens_max=2_000))
    body = msgspec.json.decode(encode_answer(capped, operation, arguments))

    data = body.get("data", body)
    assert data["warnings"] == [f"looks like a secret: {field} (GitHub personal access token); {KEPT}"]
    assert len(data) > 1


def encode_answer(session: Session, operation: str, arguments: dict[str, Any]) -> bytes:
    handled = OPERATIONS[operation]
    return respond(
        lambda: session.execute(handled, arguments),
        group=handled.group,
        vocabulary=session.preferences.vocabulary,
        log=lambda: pytest.fail("unexpected"),
    ).body


@pytest.mark.parametrize("tokens_max", [0, 2_000])
@pytest.mark.parametrize(
    ("operation", "arguments"),
    [
        ("project.create", {"name": "borealis", "goal": TOKEN}),
        ("work.plan", {"project": "atlas", "nodes": [{"ref": "a", "summary": TOKEN}]}),
    ],
    ids=["in the JSON", "in the answer"],
)
def test_the_same_request_sent_again_gets_the_same_warnings(
    ada: Session, operation: str, arguments: dict[str, Any], tokens_max: int
) -> None:
    session = Session(ada.store, local_actor("ada"), preferences=Preferences(answer_tokens_max=tokens_max))
    first, again = (encode_answer(session, operation, {**arguments, "op_id": "once"}) for _ in range(2))

    assert b"looks like a secret" in first
    assert again == first


def test_imports_are_warned_about_too(ada: Session) -> None:
    run = ada.call("context.create_draft", scopeId="atlas").run.id
    ada.call("context.edit", runId=run, inputs=[{"pointer": "/a", "label": "A", "value": TOKEN}])
    document = msgspec.to_builtins(ada.call("context.export", scopeId="atlas", runId=run))

    imported = ada.call("context.import", scopeId="atlas", document=document)
    with pytest.warns(WriteWarning, match=r"document\.nodes\[0\]\.title \(GitHub"):
        ada.call(
            "purpose.import",
            project="atlas",
            document={"nodes": [{"key": "G1", "node_type": "GOAL", "title": TOKEN}]},
        )

    assert any(line.startswith("looks like a secret: document.") for line in imported.warnings)
    assert TOKEN not in "".join(imported.warnings)


def test_reads_are_not_checked(ada: Session) -> None:
    assert ada.call("work.query", project="atlas", filter={"text": TOKEN}).total == 0


@pytest.mark.teeth
def test_without_the_scan_nothing_is_warned_about(ada: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("groundplan.kernel.operations.execute.find_secrets", lambda _: [])
    checks: list[Callable[[Session], None]] = [
        test_a_write_with_a_secret_is_done_and_warned_about_with_its_field_and_kind,
        test_a_project_may_refuse_secrets_and_then_nothing_is_written,
    ]
    for check in checks:
        with pytest.raises((AssertionError, pytest.fail.Exception)):
            check(ada)


def test_every_write_answers_with_an_object_that_can_hold_warnings() -> None:
    written: list[Any] = [
        output
        for operation in OPERATIONS
        for one in (operation, *operation.variants)
        if one.effect is not Effect.READ
        for output in (one.output, *one.other_outputs)
    ]
    assert written
    assert all(issubclass(output, Struct) for output in written)
    frozen = [one for one in written if "warnings" in one.__struct_fields__ and one.__struct_config__.frozen]
    assert frozen == []
