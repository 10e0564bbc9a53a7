"""Write observations with their events, numbered within one write."""

from __future__ import annotations

from typing import Any

from groundplan.kernel.audit import changed
from groundplan.kernel.store.queries import to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import ArgumentPath, invalid_argument
from groundplan.purpose.events import Op
from groundplan.purpose.limits import LIST_BYTES_MAX
from groundplan.purpose.observing.observation_rows import format_record_id


class Recorder:
    """Writes observations and their events, numbered within one write."""

    def __init__(self, tx: Transaction) -> None:
        self.tx = tx
        self.count = 0

    def add(self, query: Any, op: Op, subject: str, **row: Any) -> str:
        """Write an observation and its event; return its id."""
        id_ = format_record_id(self.tx.rev, self.count)
        self.tx.run(query, project_id=self.tx.project.id, rev=self.tx.rev, n=self.count, **row)
        given = {name: value for name, value in row.items() if value is not None}
        self.tx.record(op, subject, *(changed(name, None, value) for name, value in given.items()))
        self.count += 1
        return id_


def encode_refs(refs: list[str], path: ArgumentPath) -> str:
    """Encode a list of refs as JSON for storage.

    Raises:
        Invalid: the list is too long.
    """
    text = to_json_array(refs)
    bytes_ = len(text.encode())
    if bytes_ > LIST_BYTES_MAX:
        sentence = f"has {bytes_} bytes as JSON, the limit is {LIST_BYTES_MAX}; split it into two"
        raise invalid_argument(path, sentence, code="too_long", limit_bytes=LIST_BYTES_MAX, actual_bytes=bytes_)
    return text
