"""Arguments of projects, members, tokens and events."""

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
    "member.bootstrap/scopeId": "The project; with bootstrap the name of the new one.",
    "ended": "Include expired and revoked tokens.",
    "actor": "Only what this actor did, by name or id.",
    "op": "Only these events: `work` for all of a slice, `work.resolved` for one kind.",
    "since": "After the event with this `id`, or from a date or an instant on; oldest first.",
    "subject": "Only what happened to this thing, by its id or key.",
    "until": "Only what came up to and including this event, date or instant.",
    "event/limit": "Maximum number of results on a page.",
    "token/expires": "When it expires: a number of hours, days or weeks, such as `12h`, `30d` or `8w`, or `never`. "
    "Default: 30 days for a person, 90 days for an agent or a service.",
    "token/id": "The token, by its id.",
    "token/kind": "Whom the token is for.",
    "token/label": "What the token is for, in a few words.",
    "token/name": "The agent, the service or the person, by name or id; a new name adds a new actor. Default for a "
    "person: yourself.",
    "token/projects": "The only projects that the token opens, by name or id. Default: every project of the actor.",
    "token/role": "The largest role that the token allows in any project. Default: `viewer` for an agent or a "
    "service, no limit for a person.",
    "token/trusted": "Act without stored roles, as in local mode: in every project, up to `role`. Only for an owner of "
    "the organization.",
}
