"""Arguments of projects and members."""

from __future__ import annotations

from collections.abc import Mapping

ARGUMENTS: Mapping[str, str] = {
    "archived": "Include archived projects.",
    "createDraftRun": "Also create a first draft of facts; `runId` in the answer is its id.",
    "goal": "What the project is for, in a sentence or a page.",
    "kind": "Whether the actor is an agent or a person; used only if the name is new.",
    "limit": "Maximum number of results on a page. Default: all.",
    "name": "The name; unique in the organization.",
    "role": "The role of the member in the project.",
    "userId": "The member, by name or id.",
    "member.add/userId": "The member, by name or id; a new name adds a new actor.",
    "member.bootstrap/name": "What the project is for.",
    "member.bootstrap/scopeId": "The name of the project to create.",
}
