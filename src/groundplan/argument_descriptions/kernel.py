"""Arguments of organizations, invitations, projects, members, tokens and events."""

from __future__ import annotations

from collections.abc import Mapping

from groundplan.argument_descriptions.work import ARGUMENTS as OF_WORK

_OF_POLICIES = {
    f"organization.configure/default_{path}": text for path, text in OF_WORK.items() if path.startswith("policies.")
}

ARGUMENTS: Mapping[str, str] = {
    "archived": "Include archived projects.",
    "createDraftRun": "Also create a first draft of facts; `runId` in the answer is its id.",
    "goal": "What the project is for, in a sentence or a page.",
    "kind": "Whether the actor is an agent or a person; used only if the name is new.",
    "limit": "Maximum number of results on a page. Default: all.",
    "name": "The name; unique in the organization.",
    "role": "The role of the member in the project.",
    "userId": "The member, by name or id.",
    "member.add/userId": "The member, by name or id; a new name adds a new actor, and an e-mail address is invited.",
    "member.bootstrap/name": "What the project is for.",
    "member.bootstrap/scopeId": "The project; with bootstrap the name of the new one.",
    "ended": "Include expired and revoked tokens.",
    "actor": "Only what this actor did, by name or id.",
    "op": "Only these events: `work` for all of a slice, `work.resolved` for one kind.",
    "since": "After the event with this `id`, or from a date or an instant on; oldest first.",
    "subject": "Only what happened to this thing, by its id or key.",
    "until": "Only what came up to and including this event, date or instant.",
    "event/limit": "Maximum number of results on a page.",
    "organization/limit": "Maximum number of results on a page.",
    "organization/name": "The member of the organization, by name or id.",
    "organization.configure/name": "The new name of the organization; its id stays.",
    "organization.configure/project_creators": "Who may create projects, besides administrators: `members`, those who "
    "are `owners` of a project already, or nobody else (`administrators`).",
    "organization.configure/allowed_domains": "Domains whose verified e-mail addresses may join without an "
    "invitation; they replace those before. `none` alone allows no domain.",
    "organization.configure/default_policies": "The policies of new projects; those that are not given stay.",
    **_OF_POLICIES,
    "organization.configure/decision": "Why, for the history.",
    "organization.add_member/name": "The member, by name or id; a new name adds a new actor, and an e-mail address is "
    "invited.",
    "organization.add_member/role": "The role in the organization. Default: `member`, or the role they have.",
    "organization.add_member/email": "The e-mail address under which a person of another name logs in.",
    "invitation/ended": "Include used and revoked invitations.",
    "invitation/id": "The invitation, by its id.",
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
