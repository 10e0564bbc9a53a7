"""What waits for a person: a value beside one of higher provenance, from when it is suggested until it is decided."""

from __future__ import annotations

from typing import NamedTuple

import msgspec
from msgspec import UNSET, Struct, UnsetType

from groundplan.context.editing.claims import Claim, refuse_no_person, writer
from groundplan.context.editing.rows import SUGGESTION, Row, as_row, changes_between
from groundplan.context.events import Op
from groundplan.context.run import checked_id
from groundplan.context.schemas import Provenance
from groundplan.context.values import stored_json
from groundplan.kernel.audit import changed
from groundplan.kernel.errors import Conflict, NotFound
from groundplan.kernel.ids import new_uuid
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import Path, rendered

sql = load_queries(__file__)


class About(NamedTuple):
    """What a suggestion is about: an input by its pointer, or a constraint by its key."""

    run_id: str
    input_id: str | None = None
    pointer: str | None = None
    constraint_id: str | None = None
    key: str | None = None


class Suggested(Struct, kw_only=True):
    """A suggestion that a request came to, and why it was not written."""

    id: str
    pointer: str | UnsetType = UNSET
    key: str | UnsetType = UNSET
    reason: str


class AlreadyDecided(Conflict):
    """A suggestion is decided once."""

    code = "already_decided"

    def __init__(self, id_: str, status: str, path: Path) -> None:
        field = rendered(path)
        super().__init__(
            f"{field}: suggestion {id_} was {status} already; view the run again", field=field, status=status
        )


def suggest(tx: Transaction, about: About, claim: Claim, *, stands: Provenance) -> Suggested:
    """Keep a claim beside the value that stands, in place of what the same writer suggested before."""
    mine = sql.own_suggestion_for_input if about.input_id else sql.own_suggestion_for_constraint
    found = tx.one_or_none(mine, run_id=about.run_id, about=about.input_id or about.constraint_id)
    if found:
        # Under another id: whoever accepts a suggestion accepts what they read under its id.
        remove_suggestion(tx, as_row(SUGGESTION, found))
    row = {
        "id": new_uuid(),
        "run_id": about.run_id,
        "input_id": about.input_id,
        "constraint_id": about.constraint_id,
        **claim.value.columns(),
        "provenance": claim.provenance.value,
        "source_ids": stored_json(claim.source_ids),
        "snippet": claim.snippet,
        "rationale": claim.rationale,
        "created_at": tx.now,
        "created_by": tx.actor.id,
        "author_kind": writer(tx.actor).value,
    }
    tx.run(sql.add_suggestion, project_id=tx.project.id, **row)
    tx.record(Op.SUGGESTED, row["id"], *changes_between(None, row))
    return Suggested(
        id=row["id"],
        pointer=UNSET if about.pointer is None else about.pointer,
        key=UNSET if about.key is None else about.key,
        reason=_reason(claim, stands),
    )


def _reason(claim: Claim, stands: Provenance) -> str:
    if claim.value.is_unset:
        return f"the value is {stands}; a person clears it or does not"
    if claim.provenance.rank >= stands.rank:
        return f"it names no source, and the value is {stands}; a person accepts or rejects it"
    return f"{stands} stands above {claim.provenance}; a person accepts or rejects it"


def remove_suggestion(tx: Transaction, row: Row) -> None:
    """Take a suggestion away, with what it is about or for another one."""
    tx.run(sql.remove_suggestion, run_id=row["run_id"], id=row["id"])
    said = (changed(column, value, None) for column, value in row.items() if value is not None and column != "id")
    tx.record(Op.SUGGESTION_REMOVED, row["id"], *said)


def decided(tx: Transaction, run_id: str, suggestion_id: str, status: str, path: Path) -> Row:
    """Decide on a suggestion that waits in this run. Gives it as it was.

    Raises:
        ProvenanceNotAllowed: it is no person who decides.
        NotFound: there is none in this run.
        AlreadyDecided: somebody did.
    """
    verb = {"accepted": "accept", "rejected": "reject"}[status]
    refuse_no_person(tx.actor, verb, verb)
    id_ = checked_id(suggestion_id, path)
    found = tx.one_or_none(sql.suggestion, run_id=run_id, id=id_)
    if found is None:
        raise NotFound("suggestion", suggestion_id, hint="context_view lists those that wait", field=rendered(path))
    row = as_row(SUGGESTION, found)
    if row["status"] != "pending":
        raise AlreadyDecided(id_, row["status"], path)
    tx.run(sql.decide_suggestion, run_id=run_id, id=id_, status=status)
    tx.record(Op.ACCEPTED if status == "accepted" else Op.REJECTED, id_, changed("status", "pending", status))
    return row


def sources_of(suggestion: Row) -> list[str]:
    """The sources that a suggestion names."""
    return msgspec.json.decode(suggestion["source_ids"], type=list[str])
