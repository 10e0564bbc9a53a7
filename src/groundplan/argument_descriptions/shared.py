"""Arguments that operations of several slices have."""

from __future__ import annotations

from collections.abc import Mapping

ARGUMENTS: Mapping[str, str] = {
    "budget": "Tokens of the whole answer; adds a briefing: why, facts, knowledge.",
    "cursor": "Continue after this cursor: `next_cursor` of the previous page, with the same arguments.",
    "expected_rev": "The `rev` that you read; the request is refused if it has changed since.",
    "lean": "Omit null, empty and bookkeeping fields from the answer. Default: as configured.",
    "limit": "Maximum number of results on a page.",
    "offset": "Number of results to skip: `nextOffset` of the previous page.",
    "op_id": "An id for this request; repeating the request with the same id has no second effect.",
    "project": "The project, by name or id.",
    "projectId": "The project, by name or id.",
    "query": "Words to search for; all must match, in any order.",
    "scopeId": "The project, by name or id.",
    "version": "The version that you read; the request is refused if it has changed since.",
}
