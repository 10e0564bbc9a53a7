"""Link a commit to the tasks that its message names, as evidence.

A message names a task by a word and its whole id, as in `plan-q8cdfw`. The word is needed: an id alone could be any
word of six letters.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct

from groundplan.kernel.errors import NotFound
from groundplan.kernel.ids import ALPHABET
from groundplan.repository.git import Repository
from groundplan.session import Session

EVIDENCE_TYPE = "commit"
PREFIX = "plan"
ID_CHARS_MIN = 6
ID_CHARS_MAX = 32
LINKS_MAX = 50  # of one commit


class LinkedTask(Struct):
    """A task that the commit is evidence of."""

    id: str
    summary: str
    is_new: bool  # whether this call added the evidence


class CommitLinks(Struct):
    """A commit and the tasks that its message names."""

    commit: str
    linked: list[LinkedTask]
    unknown: list[str]  # ids that no task has


def link_commit(session: Session, folder: Path | str, prefixes: Iterable[str], revision: str = "HEAD") -> CommitLinks:
    """Add a commit as evidence to every task that its message names, once.

    Raises:
        GroundplanError: there is no such commit, or the actor may not change a task.
    """
    repository = Repository(folder)
    commit = repository.resolve_head() if revision == "HEAD" else repository.resolve_commit(revision)
    done = CommitLinks(commit.id, [], [])
    for node_id in find_named_tasks(repository.read_message(commit), prefixes):
        try:
            node = session.call("work.context", node_id=node_id, depth=0).node
        except NotFound:
            done.unknown.append(node_id)
            continue
        if node.id != node_id:  # it is only the beginning of an id
            done.unknown.append(node_id)
            continue
        is_new = all((one.type, one.ref) != (EVIDENCE_TYPE, commit.id) for one in node.evidence or ())
        if is_new:
            evidence = [{"type": EVIDENCE_TYPE, "ref": commit.id}]
            session.call(
                "work.update",
                updates=[{"node_id": node_id, "add_evidence": evidence}],
                op_id=f"{EVIDENCE_TYPE}-{commit.id}-{node_id}",  # a second run at the same time adds nothing
            )
        done.linked.append(LinkedTask(node.id, node.summary, is_new))
    return done


def find_named_tasks(message: str, prefixes: Iterable[str]) -> list[str]:
    """Return the ids that a message names, in order and without repetition."""
    words = "|".join(sorted({re.escape(prefix) for prefix in (PREFIX, *prefixes) if prefix}, key=len, reverse=True))
    named = re.compile(
        rf"(?<![\w-])(?:{words})-([{ALPHABET}]{{{ID_CHARS_MIN},{ID_CHARS_MAX}}})(?![\w-])", re.IGNORECASE
    )
    return list(dict.fromkeys(found[1].lower() for found in named.finditer(message)))[:LINKS_MAX]


def make_prefix(project: str) -> str:
    """Return the name of a project as the first word of a task's name, as in `water-plan-q8cdfw`."""
    return re.sub(r"[^a-z0-9]+", "-", project.lower()).strip("-")
