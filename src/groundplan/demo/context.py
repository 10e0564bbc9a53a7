"""The facts of the example, with their sources and one missing input.

The first run is committed in part, because the owner of the land is unknown. A draft copies it, and an agent suggests
another value for one figure, which waits for a decision of a person. Every step runs only if its run is unchanged
since the step before, so a second fill changes nothing, an interrupted fill is completed, and edits by others stay.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from groundplan.context.schemas import PcivRunV1, RunStatus
from groundplan.demo.history import MoveTo, stand_still
from groundplan.demo.work import AGENT
from groundplan.kernel.actors import ActorKind, local_actor
from groundplan.kernel.ids import new_uuid
from groundplan.session import Session

SOURCES: Mapping[str, dict[str, Any]] = {
    "survey": {
        "kind": "file",
        "title": "Household survey",
        "uri": "data/households.csv",
        "mimeType": "text/csv",
        "parseStatus": "parsed",
        "excerpt": "2,140 households; 860 of them walk more than half an hour",
    },
    "permit": {
        "kind": "url",
        "title": "Conditions of a drilling permit",
        "uri": "https://lenta.example/permits/conditions",
    },
    "prices": {
        "kind": "file",
        "title": "Price list of the drillers",
        "uri": "docs/prices.pdf",
        "mimeType": "application/pdf",
        "parseStatus": "parsed",
    },
}

# Inputs, each with the name of its source or None.
INPUTS: tuple[tuple[dict[str, Any], str | None], ...] = (
    (
        {
            "pointer": "/valley/households",
            "label": "Households",
            "domain": "site",
            "value": 2140,
            "evidenceSnippet": "2,140 households",
        },
        "survey",
    ),
    ({"pointer": "/wells/cost", "label": "Cost of a well, in euros", "domain": "cost", "value": 11500}, "prices"),
    ({"pointer": "/wells/pump", "label": "Hand pump", "domain": "site", "value": "Afridev"}, None),
    (
        {
            "pointer": "/permit/state",
            "label": "Drilling permit",
            "domain": "regulatory",
            "valueKind": "enum",
            "options": ["applied", "granted", "refused", "unknown"],
            "value": "unknown",  # a recorded answer: the district does not know. This differs from a missing value.
        },
        None,
    ),
    ({"pointer": "/site/remarks", "label": "Remarks of the council", "domain": "site", "value": ""}, None),
    (
        {
            "pointer": "/site/owner",
            "label": "Owner of the land",
            "domain": "site",
            "required": True,
            "valueKind": "string",
        },
        None,
    ),
)
MISSING = "/site/owner"

CONSTRAINTS: tuple[tuple[dict[str, Any], str | None], ...] = (
    ({"key": "walk.minutes.max", "label": "Way to water, in minutes, at most", "value": 10}, None),
    (
        {
            "key": "latrine.metres.min",
            "label": "Way to the next latrine, in metres, at least",
            "domain": "regulatory",
            "value": 30,
            "snippet": "No well within thirty metres of a latrine",
        },
        "permit",
    ),
)

ESTIMATE = {
    "pointer": "/wells/depth",
    "label": "Depth of a borehole, in metres",
    "domain": "site",
    "value": 45,
    "rationale": "The old wells are 38 to 52 metres deep",
}
SUGGESTION = {
    "pointer": "/wells/cost",
    "value": 12500,
    "rationale": "The price list is two years old, and diesel has become dearer since",
}


def fill_context(session: Session, project: str, move_to: MoveTo = stand_still) -> bool:
    """Write the facts of the example into a project, and return whether anything was written."""
    done = []
    for days_ago, step in (
        (46, _begin),
        (45, _write),
        (45, _estimate),
        (44, _commit),
        (43, _continue_draft),
        (43, _suggest),
    ):
        move_to(days_ago)
        done.append(step(session, project))
    return any(done)


def _begin(session: Session, project: str) -> bool:
    if _list_runs(session, project):
        return False
    session.call("context.create_draft", scopeId=project)
    return True


def _write(session: Session, project: str) -> bool:
    run = _first_draft(session, project, rev=1)
    if run is None:
        return False
    ids = {name: new_uuid() for name in SOURCES}
    session.call(
        "context.edit",
        runId=run.id,
        sources=[{"id": ids[name], **source} for name, source in SOURCES.items()],
        inputs=[{**input_, "sourceIds": [ids[name]]} if name else input_ for input_, name in INPUTS],
        constraints=[{**rule, "sourceId": ids[name]} if name else rule for rule, name in CONSTRAINTS],
    )
    return True


def _estimate(session: Session, project: str) -> bool:
    run = _first_draft(session, project, rev=2)
    if run is None:
        return False
    _open_agent_session(session).call("context.edit", runId=run.id, inputs=[ESTIMATE])
    return True


def _commit(session: Session, project: str) -> bool:
    run = _first_draft(session, project, rev=3)
    if run is None:
        return False
    session.call("context.commit", runId=run.id, allowPartial=True)
    return True


def _continue_draft(session: Session, project: str) -> bool:
    match _list_runs(session, project):
        case [PcivRunV1(status=RunStatus.PARTIAL_COMMITTED) as run]:
            session.call("context.create_draft", scopeId=project, copyFrom=run.id)
            return True
    return False


def _suggest(session: Session, project: str) -> bool:
    match _list_runs(session, project):
        case [PcivRunV1(status=RunStatus.DRAFT) as run, _] if _get_rev(session, run) == 1:
            _open_agent_session(session).call("context.edit", runId=run.id, inputs=[SUGGESTION])
            return True
    return False


def _list_runs(session: Session, project: str) -> list[PcivRunV1]:
    runs: list[PcivRunV1] = session.call("context.list", scopeId=project, limit=3).runs
    return runs


def _first_draft(session: Session, project: str, *, rev: int) -> PcivRunV1 | None:
    """Return the only run if it is a draft at this revision, which counts its writes; otherwise None."""
    match _list_runs(session, project):
        case [PcivRunV1(status=RunStatus.DRAFT) as run] if _get_rev(session, run) == rev:
            return run
    return None


def _get_rev(session: Session, run: PcivRunV1) -> int:
    return int(session.call("context.fetch_run", runId=run.id).rev)


def _open_agent_session(session: Session) -> Session:
    return Session(session.store, local_actor(AGENT, kind=ActorKind.AGENT), session.operations)
