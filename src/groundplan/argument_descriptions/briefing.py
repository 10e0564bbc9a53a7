"""Arguments of the operations that join the slices."""

from __future__ import annotations

from collections.abc import Mapping

ARGUMENTS: Mapping[str, str] = {
    "briefing.inbox/project": "The project, by name or id. Default: all of yours.",
    "briefing.search/project": "The project, by name or id. Without it: all projects that you may see.",
    "node_id": "The task: the id of its node, or an unambiguous prefix of at least 4 characters.",
    "budget": "Tokens that the whole answer may have; a token is 4 characters.",
    "markdown": "Return one text of Markdown, to paste into a chat, instead of data.",
    "from": "Where to start: the id of a work node, or the key of a purpose node such as `OC1`.",
    "direction": "`up`: to the goals. `down`: to causes, work, evidence and measurements. Default: `up` from work, "
    "`down` from a purpose node.",
    "format": "The form of the answer: fields, an outline to paste into a text, or a picture.",
    "dry_run": "Say what would be done, and change nothing.",
    "event": "The event whose write is undone, as `rev.n`. Default: your last change of the project.",
    "briefing.search/limit": "Maximum number of results.",
    "slices": "The slices to search: `work`, `knowledge`, `purpose`, `context`. Default: all of them.",
    "refs": "Ids of tasks, notes or facts of a draft, keys of the theory of change, or pointers of facts.",
    "text": "Words to search for; all must match, in any order. Keys, ids and pointers are found, too.",
}
