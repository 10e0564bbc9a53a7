"""Every command by its words: the operation that it calls, or the function that it is. Nothing of them is loaded here.

The command line is made from this table, and hints on every surface spell commands from it. An operation without words
is called by `groundplan op NAME '{…}'`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct, field

TODAY = "{today}"  # the day of the command, as a default
CALL = "op"  # the command that calls any operation


class Entry(Struct, frozen=True):
    """One command. What it takes are the fields of the operation's input, or the parameters of the function."""

    name: str  # its words
    operation: str = ""  # that it calls; of a function, the one whose hints name this command
    run: str = ""  # the function, as `module:function` below `groundplan.surfaces.cli`
    summary: str = ""  # if it is not that of the operation
    synonyms: tuple[str, ...] = ()
    is_hidden: bool = False
    arguments: tuple[str, ...] = ()  # input fields that are positional arguments
    names: Mapping[str, str] = field(default_factory=dict)  # input field → name of the option, if OPTION_NAMES differs
    texts: tuple[str, ...] = ()  # input fields that may be read from a file (@FILE) or standard input (-)
    patterns: tuple[str, ...] = ()  # input fields with patterns of files, which start at the current folder
    columns: tuple[str, ...] = ()  # the columns of the table for people; all fields when empty
    fixed: Mapping[str, str] = field(default_factory=dict)  # input fields with a fixed value
    without: tuple[str, ...] = ()  # input fields without an option
    item_of: str = ""  # the input field, a list, of which such a command has exactly one item
    needs: tuple[str, ...] = ()  # input fields that must be given, although the operation also runs without
    defaults: Mapping[str, Any] = field(default_factory=dict)  # values of fields that are not given
    in_my_draft: bool = False  # without `run_id` it works on the open draft of facts of the caller

    @property
    def in_project(self) -> bool:
        """Whether it works in the project of --project, else in the configured or only one: the words of every day."""
        return self.run.startswith("everyday.")

    @property
    def words(self) -> tuple[str, ...]:
        """Its words."""
        return tuple(self.name.split())

    def get_option_name(self, input_field: str) -> str:
        """Return what a field is called on the command line."""
        name = self.names.get(input_field) or OPTION_NAMES.get(input_field, input_field)
        return name.replace("_", "-")


# What a person calls the fields of inputs.
OPTION_NAMES: Mapping[str, str] = {
    "allowed_domains": "allowed-domain",
    "scope_id": "project",
    "user_id": "user",
    "entity_type": "type",
    "project_id": "project",
    "created_by_task_id": "task",
    "molecule_id": "molecule",
    "knowledge_mode": "mode",
    "last_task_id": "task",
    "parent_type": "type",
    "parent_id": "id",
    "task_id": "task",
    "orphans_only": "orphans",
    "run_id": "run",
    "pointers": "pointer",
    "from_": "from",
    "include_sections": "sections",
    "include_graph_context": "graph-context",
    "tags": "tag",
    "feature_id": "feature",
    "from_id": "from",
    "to_id": "to",
    "blocked_reason": "reason",
    "entity_id": "container",
    "include_content": "content",
    "section_ids": "section",
    "section_id": "section",
    "usage_description": "usage",
    "content_format": "format",
    "ordered_ids": "sections",
    "target_entity_type": "target",
    "is_built_in": "built-in",
    "is_enabled": "enabled",
    "is_protected": "protected",
    "content_sample": "content",
    "is_required": "required",
    "template_id": "template",
    "refs": "ref",
    "slices": "slice",
}

COMMANDS: tuple[Entry, ...] = (
    Entry("add", run="everyday.tasks:add", summary="Add a task.", synonyms=("a", "create", "new")),
    Entry("next", run="everyday.progress:show_next", summary="Show what to do next.", synonyms=("n", "ready")),
    Entry(
        "take",
        run="everyday.progress:take",
        summary="Take a task, or the next one, so that nobody else does.",
        synonyms=("t", "claim", "start"),
    ),
    Entry(
        "done",
        run="everyday.progress:finish",
        summary="Finish tasks.",
        synonyms=("d", "close", "finish", "resolve", "complete"),
    ),
    Entry("ls", run="everyday.lists:list_tasks", summary="List tasks.", synonyms=("l", "list", "todo")),
    Entry(
        "show",
        run="everyday.show:show",
        summary="Show a task with what it waits for and what is below it.",
        synonyms=("s", "view", "get", "cat"),
    ),
    Entry(
        "find",
        run="everyday.show:find",
        summary="Find words in tasks, knowledge, purpose and facts.",
        synonyms=("f", "grep"),
    ),
    Entry("edit", run="everyday.tasks:edit", summary="Edit a task in your editor."),
    Entry(
        "note",
        run="everyday.tasks:add_note",
        summary="Add a note to a task, or take one back.",
        synonyms=("comment",),
    ),
    Entry("block", run="everyday.progress:block", summary="Let a task wait for others.", synonyms=("b", "wait")),
    Entry("board", run="everyday.lists:show_board", summary="Show tasks by state, side by side.", synonyms=("kanban",)),
    Entry(
        "inbox",
        "briefing.inbox",
        run="everyday.show:show_inbox",
        summary="Show what waits for a person, most urgent first.",
    ),
    Entry(
        "drop",
        run="everyday.progress:drop",
        summary="Drop tasks that will not be done, with everything below them.",
        synonyms=("cancel", "abandon"),
    ),
    Entry(
        "undo",
        "briefing.undo",
        run="everyday.show:undo",
        summary="Undo your last change, then the one before it, or the write of an event.",
        arguments=("event",),
    ),
    Entry("log", run="everyday.show:show_log", summary="Show what happened, newest first.", synonyms=("history",)),
    Entry("hold", run="everyday.progress:hold", summary="Put tasks on hold.", synonyms=("pause",)),
    Entry("tree", run="everyday.lists:show_tree", summary="Show the tree of tasks."),
    Entry("why", run="everyday.show:show_why", summary="Show what a task is for, up to the goals."),
    Entry("work open", "work.open", arguments=("project",)),
    Entry("work plan", "work.plan"),
    Entry("work next", "work.next"),
    Entry("work claim", "work.claim", arguments=("node_id",)),
    Entry("work context", "work.context", arguments=("node_id",)),
    Entry("work update", "work.update"),
    Entry("work connect", "work.connect"),
    Entry("work query", "work.query", columns=("id", "summary", "resolved", "depth")),
    Entry(
        "work outline", "work.outline", columns=("id", "summary", "state", "claimed_by", "open_children", "children")
    ),
    Entry("work dependencies", "work.dependencies", arguments=("node",)),
    Entry("work restructure", "work.restructure"),
    Entry("work history", "work.history", arguments=("node_id",)),
    Entry("work onboard", "work.onboard"),
    Entry("work analyse", "work.analyse", arguments=("what", "node_id")),
    Entry("purpose open", "purpose.open", without=("keys",)),
    Entry("purpose show", "purpose.items", arguments=("keys",), without=("detail", "cursor")),
    Entry(
        "purpose observations", "purpose.observations", fixed={"detail": "observations"}, without=("version", "keys")
    ),
    Entry("purpose edit", "purpose.edit", arguments=("operations",), texts=("operations",)),
    Entry("purpose draft", "purpose.draft", names={"source": "from"}),
    Entry("purpose publish", "purpose.publish"),
    Entry("purpose discard", "purpose.discard"),
    Entry(
        "purpose versions",
        "purpose.versions",
        columns=("number", "status", "label", "profile", "published_at", "published_by"),
    ),
    Entry("purpose diff", "purpose.diff", arguments=("source", "to"), names={"source": "from"}),
    Entry(
        "purpose check",
        "purpose.check",
        arguments=("gate",),
        without=("operation", "node", "assumption", "limit", "detail"),
    ),
    Entry(
        "purpose health",
        "purpose.health",
        fixed={"gate": "health"},
        without=("profile", "operation", "node", "assumption", "limit", "detail"),
    ),
    Entry(
        "purpose analysis", "purpose.analysis", fixed={"gate": "analysis"}, without=("profile", "operation", "detail")
    ),
    Entry("purpose record", "purpose.record"),
    Entry(
        "purpose measure",
        "purpose.record",
        summary="Record a measurement of an indicator.",
        arguments=("indicator", "value"),
        item_of="measurements",
        defaults={"as_of": TODAY},
    ),
    Entry(
        "purpose review",
        "purpose.record",
        summary="Record a review of an assumption. If it is refuted, show what it affects.",
        arguments=("assumption", "status"),
        item_of="reviews",
    ),
    Entry(
        "purpose waive",
        "purpose.record",
        summary="Waive a failing check until a date. Only an owner may.",
        arguments=("code", "refs"),
        item_of="waivers",
        defaults={"refs": []},
    ),
    Entry(
        "purpose decide",
        "purpose.record",
        summary="Record a decision and its subjects.",
        arguments=("text",),
        item_of="decisions",
    ),
    Entry(
        "purpose ask",
        "purpose.record",
        summary="Ask for a decision. purpose decide --answers ID answers it.",
        arguments=("question",),
        item_of="requests",
    ),
    Entry("purpose add", run="purpose.add:add"),
    Entry(
        "purpose compliance",
        "purpose.compliance",
        run="purpose.compliance:check_compliance",
        arguments=("operation",),
        fixed={"gate": "compliance"},
    ),
    Entry("purpose export", run="purpose.theory_files:export_theory"),
    Entry("purpose import", run="purpose.theory_files:import_theory"),
    Entry("purpose render", run="purpose.theory_files:render"),
    Entry("context view", "context.view", without=("debug", "hydrate", "overwrite", "lean")),
    Entry(
        "context bootstrap",
        "member.bootstrap",
        arguments=("scope_id",),
        names={"scope_id": "scope", "create_draft_run": "draft"},
    ),
    Entry("context draft", "context.create_draft", without=("lean",)),
    Entry("context commit", "context.commit", arguments=("run_id",), without=("lean",), in_my_draft=True),
    Entry("context discard", "context.discard", arguments=("run_id",), without=("lean",), in_my_draft=True),
    Entry("context delete", "context.delete", arguments=("run_id",), without=("lean",)),
    Entry(
        "context list",
        "context.list",
        columns=("id", "status", "user_id", "committed_at", "updated_at"),
        without=("lean",),
    ),
    Entry("context diff", "context.diff", arguments=("from_", "to"), without=("lean",)),
    Entry("context trace", "context.trace", arguments=("pointer",)),
    Entry("context edit", "context.edit", arguments=("run_id",), without=("accept", "reject", "lean")),
    Entry(
        "context accept",
        "context.edit",
        summary="Accept suggestions: they replace the current values.",
        arguments=("run_id", "accept"),
        names={"accept": "suggestion"},
        without=("sources", "inputs", "constraints", "artifacts", "links", "unlinks", "reject", "remove", "lean"),
        in_my_draft=True,
    ),
    Entry(
        "context reject",
        "context.edit",
        summary="Reject suggestions: the current values stay.",
        arguments=("run_id", "reject"),
        names={"reject": "suggestion"},
        without=("sources", "inputs", "constraints", "artifacts", "links", "unlinks", "accept", "remove", "lean"),
        in_my_draft=True,
    ),
    Entry("context set", run="context.set_input:set_input"),
    Entry("context export", run="context.files:export_facts"),
    Entry("context import", run="context.files:import_facts"),
    Entry("context hydrate", run="context.files:hydrate"),
    Entry(
        "knowledge create",
        "knowledge.create",
        arguments=("name",),
        names={"paths": "path"},
        texts=("knowledge",),
        patterns=("paths",),
    ),
    Entry(
        "knowledge update",
        "knowledge.update",
        arguments=("id",),
        names={"paths": "path"},
        texts=("knowledge",),
        patterns=("paths",),
    ),
    Entry("knowledge append-changelog", "knowledge.append_changelog", arguments=("parent_id",), texts=("summary",)),
    Entry("knowledge context", "knowledge.context", arguments=("paths",)),
    Entry("knowledge coverage", "knowledge.coverage", arguments=("folder",)),
    Entry("knowledge match", "knowledge.match", arguments=("paths",), patterns=("paths",)),
    Entry("knowledge get", "knowledge.get", arguments=("id",)),
    Entry("knowledge search", "knowledge.search", columns=("id", "name", "version", "updated_at")),
    Entry(
        "knowledge search-changelog",
        "knowledge.search_changelog",
        arguments=("parent_id",),
        columns=("created_at", "task_id", "summary"),
    ),
    Entry("knowledge list", "knowledge.list", columns=("id", "name", "paths", "version", "freshness")),
    Entry("knowledge delete", "knowledge.delete", arguments=("id",)),
    Entry("knowledge check", run="knowledge.check:check"),
    Entry("knowledge confirm", run="knowledge.check:confirm"),
    Entry("knowledge export-rules", run="knowledge.rules:export_rules"),
    Entry("knowledge import-rules", run="knowledge.rules:import_rules"),
    Entry("briefing", "briefing.brief", summary="Show what to know for a task.", arguments=("node_id",)),
    Entry("search", "briefing.search", summary="Find words and past changes, with filters.", arguments=("text",)),
    Entry("events", "event.list", summary="List past changes, with filters."),
    Entry(
        "throughline",
        "briefing.throughline",
        summary="Show what anything is for, or what leads to it.",
        arguments=("start",),
        names={"start": "ref"},
    ),
    Entry("coverage", "briefing.coverage", summary="Show what is missing between work and purpose."),
    Entry("task show", "container.get", arguments=("id",), fixed={"container_type": "task"}),
    Entry("task search", "container.search", arguments=("query",), fixed={"container_type": "task"}),
    Entry("task overview", "container.overview", arguments=("id",), fixed={"container_type": "task"}),
    Entry(
        "task create",
        "container.create",
        arguments=("title",),
        texts=("description",),
        fixed={"container_type": "task"},
        without=("name",),
    ),
    Entry(
        "task update",
        "container.update",
        arguments=("id",),
        texts=("description",),
        fixed={"container_type": "task"},
        without=("name", "pipeline"),
    ),
    Entry("task delete", "container.delete", arguments=("id",), fixed={"container_type": "task"}),
    Entry("task next", "container.next_task"),
    Entry("task blocked", "container.blocked_tasks"),
    Entry("task state", "container.workflow_state", arguments=("id",), fixed={"container_type": "task"}),
    Entry("task dependencies", "container.dependencies", arguments=("id",), fixed={"container_type": "task"}),
    Entry("task advance", "container.advance", arguments=("id",), fixed={"container_type": "task"}),
    Entry("task revert", "container.revert", arguments=("id",), fixed={"container_type": "task"}),
    Entry("task terminate", "container.terminate", arguments=("id",), fixed={"container_type": "task"}),
    Entry("task block", "container.block", arguments=("id",), fixed={"container_type": "task"}),
    Entry("task unblock", "container.unblock", arguments=("id",), fixed={"container_type": "task"}),
    Entry(
        "feature show",
        "container.get",
        arguments=("id",),
        fixed={"container_type": "feature"},
        without=("include_graph_context",),
    ),
    Entry(
        "feature search",
        "container.search",
        arguments=("query",),
        fixed={"container_type": "feature"},
        without=("feature_id",),
    ),
    Entry(
        "feature overview",
        "container.overview",
        arguments=("id",),
        fixed={"container_type": "feature"},
        without=("feature_id",),
    ),
    Entry(
        "feature create",
        "container.create",
        arguments=("name",),
        texts=("description",),
        fixed={"container_type": "feature"},
        without=("title", "feature_id", "complexity"),
    ),
    Entry(
        "feature update",
        "container.update",
        arguments=("id",),
        texts=("description",),
        fixed={"container_type": "feature"},
        without=("title", "feature_id", "complexity", "pipeline"),
    ),
    Entry("feature delete", "container.delete", arguments=("id",), fixed={"container_type": "feature"}),
    Entry("feature next", "container.next_feature"),
    Entry("feature blocked", "container.blocked_features"),
    Entry("feature state", "container.workflow_state", arguments=("id",), fixed={"container_type": "feature"}),
    Entry("feature dependencies", "container.dependencies", arguments=("id",), fixed={"container_type": "feature"}),
    Entry("feature advance", "container.advance", arguments=("id",), fixed={"container_type": "feature"}),
    Entry("feature revert", "container.revert", arguments=("id",), fixed={"container_type": "feature"}),
    Entry("feature terminate", "container.terminate", arguments=("id",), fixed={"container_type": "feature"}),
    Entry("feature block", "container.block", arguments=("id",), fixed={"container_type": "feature"}),
    Entry("feature unblock", "container.unblock", arguments=("id",), fixed={"container_type": "feature"}),
    Entry("dependency create", "dependency.create", arguments=("from_id", "to_id"), names={"container_type": "of"}),
    Entry("dependency delete", "dependency.delete", arguments=("from_id", "to_id"), names={"container_type": "of"}),
    Entry("section list", "section.list", arguments=("entity_id",)),
    Entry("section add", "section.add", arguments=("title",), texts=("content",)),
    Entry("section update", "section.update", arguments=("section_id",), texts=("content",)),
    Entry("section update-text", "section.update_text", arguments=("section_id",), texts=("content",)),
    Entry("section reorder", "section.reorder", arguments=("ordered_ids",)),
    Entry("section delete", "section.delete", arguments=("section_id",)),
    Entry("template get", "template.get", arguments=("id",)),
    Entry("template list", "template.list"),
    Entry("template create", "template.create", arguments=("name",), texts=("description",)),
    Entry("template update", "template.update", arguments=("id",), texts=("description",)),
    Entry("template enable", "template.enable", arguments=("id",)),
    Entry("template disable", "template.disable", arguments=("id",)),
    Entry("template add-section", "template.add_section", arguments=("id", "title"), texts=("content_sample",)),
    Entry("template delete", "template.delete", arguments=("id",)),
    Entry("template apply", "template.apply", arguments=("template_id", "entity_id"), names={"entity_id": "entity"}),
    Entry("tag list", "tag.list"),
    Entry("tag usage", "tag.usage", arguments=("tag",)),
    Entry("tag rename", "tag.rename", arguments=("old_tag", "new_tag")),
    Entry("project list", "project.list", columns=("name", "id", "role", "archived_at", "goal")),
    Entry("project create", "project.create", arguments=("name",)),
    Entry("project archive", "project.archive", arguments=("project",)),
    Entry("project restore", "project.restore", arguments=("project",)),
    Entry(
        "project show",
        "container.get",
        arguments=("id",),
        fixed={"container_type": "project"},
        without=("include_graph_context",),
    ),
    Entry(
        "project overview",
        "container.overview",
        arguments=("id",),
        fixed={"container_type": "project"},
        without=("project_id", "feature_id"),
    ),
    Entry(
        "project update",
        "container.update",
        arguments=("id",),
        texts=("description",),
        fixed={"container_type": "project"},
        without=("name", "title", "priority", "project_id", "feature_id", "complexity", "related_to"),
    ),
    Entry("member list", "member.list"),
    Entry("member add", "member.add", arguments=("user_id",), names={"user_id": "name"}),
    Entry("member remove", "member.remove", arguments=("user_id",), names={"user_id": "name"}),
    Entry("token create", "token.create", names={"projects": "project"}),
    Entry(
        "token list",
        "token.list",
        columns=("id", "kind", "name", "role", "projects", "label", "state", "expires_at", "last_used_at"),
    ),
    Entry("token revoke", "token.revoke", arguments=("id",)),
    Entry("org show", "organization.view"),
    Entry("org configure", "organization.configure", without=("name",)),
    Entry(
        "org rename",
        "organization.configure",
        summary="Change the name of your organization. Its id stays.",
        arguments=("name",),
        needs=("name",),
        without=("project_creators", "allowed_domains", "default_policies", "decision"),
    ),
    Entry("org member list", "organization.members", columns=("name", "kind", "role", "created_at")),
    Entry("org member add", "organization.add_member", arguments=("name",)),
    Entry("org member remove", "organization.remove_member", arguments=("name",)),
    Entry("org leave", "organization.leave"),
    Entry("org member unlink", "organization.unlink_account", arguments=("name",)),
    Entry("org events", "organization.events"),
    Entry(
        "org invitation list", "invitation.list", columns=("id", "email", "name", "state", "created_by", "expires_at")
    ),
    Entry("org invitation revoke", "invitation.revoke", arguments=("id",)),
    Entry("org create", run="setup.organizations:create_organization"),
    Entry("org list", run="setup.organizations:list_organizations"),
    Entry("init", run="setup.init:init", summary="Start a plan here, and connect AI clients to it."),
    Entry("demo", run="setup.demo:demo", summary="Look at a filled example."),
    Entry("where", run="setup.where:where", summary="Show which plan, project and actor are in force, and why."),
    Entry("doctor", run="setup.doctor:doctor", summary="Check the database, and say how to fix what is wrong."),
    Entry("import", run="exchange:import_plan", summary="Bring a plan from another tool."),
    Entry("export", run="exchange:export_plan", summary="Take the work of a project to another tool."),
    Entry("serve", run="setup.serve:serve", summary="Serve pages, REST and MCP over HTTP for a team."),
    Entry("mcp", run="setup.mcp:COMMAND", summary="Serve the plan to an AI client over stdio (MCP)."),
    Entry("op", run="operation_commands:call", summary="Call any operation with JSON; answers JSON."),
    Entry("help", run="help:show_help", summary="Show the commands, a topic, or one command."),
    Entry("after-commit", run="setup.after_commit:after_commit", is_hidden=True),  # started by the git hook
)

# The description of each command group, for its own help and for the list of commands.
GROUPS: Mapping[str, str] = {
    "work": "Plan work, find what is ready, claim it and resolve it.",
    "purpose": "Manage the theory of change: goals, causes, assumptions, indicators; drafts and published versions.",
    "context": "Record the facts that a plan depends on: values, their sources, and what is missing.",
    "knowledge": "Record what to know about which files, search it and keep it up to date.",
    "task": "Create tasks, find the next one and move them through their statuses.",
    "feature": "Create features (groups of tasks), find the next one and move them through their statuses.",
    "dependency": "Create and delete dependencies between tasks and features.",
    "section": "Manage the sections of a project, feature or task.",
    "template": "Manage templates of sections and apply them to projects, features and tasks.",
    "tag": "List tags and their uses, and rename them.",
    "project": "Create, list, show and archive projects.",
    "member": "Manage the members of a project and their roles.",
    "token": "Create, list and revoke tokens for people, agents and services.",
    "org": "Manage your organization: its people, invitations and settings.",
    "org member": "Manage the people in your organization.",
    "org invitation": "List and revoke invitations.",
}


class Topic(Struct, frozen=True):
    """Commands that belong together, by their first words; `help` lists those before the others."""

    summary: str
    listed: tuple[str, ...]
    others: tuple[str, ...] = ()


EVERY_DAY = ("add", "next", "take", "done", "ls", "show", "find", "edit", "note", "block", "board", "inbox")
TOPICS: Mapping[str, Topic] = {
    "tasks": Topic(
        "Tasks: add, find, finish and follow them.",
        (*EVERY_DAY, "drop", "undo", "log"),
        ("hold", "tree", "why", "briefing", "search", "events"),
    ),
    "plan": Topic(
        "The whole plan: work in batches, its purpose, the facts it rests on, knowledge about files.",
        ("work", "purpose", "context", "knowledge"),
        ("throughline", "coverage"),
    ),
    "features": Topic(
        "Tasks with statuses, grouped by features; their texts, templates and tags.",
        (),
        ("task", "feature", "dependency", "section", "template", "tag"),
    ),
    "people": Topic(
        "Projects, who may do what in them, and tokens for programs.", ("project",), ("member", "token", "org")
    ),
    "setup": Topic(
        "Start, connect, serve and check a plan; bring it from other tools.",
        ("init", "import", "export", "serve", "mcp"),
        ("demo", "where", "doctor", "op", "help"),
    ),
}

_NOTHING_DELETED = (
    "nothing is deleted here; drop ID -m why keeps the task and the reason, undo takes back your last change"
)
_MOVED = (
    'work restructure --operations \'[{"op": "move", "node_id": "ID", "new_parent": "ID"}]\' moves a task; '
    "undo takes it back"
)
_COPIED = (
    "where names the file of the plan, and sqlite3 FILE '.backup COPY' copies it; of PostgreSQL pg_dump makes a copy; "
    "export writes the work for another tool"
)
# Words of other tools, and earlier ones: the sentence says what to use.
NOT_COMMANDS: Mapping[str, str] = {
    **dict.fromkeys(("rm", "delete", "remove"), _NOTHING_DELETED),
    **dict.fromkeys(("move", "mv", "reparent"), _MOVED),
    **dict.fromkeys(("backup", "copy", "dump", "save", "snapshot"), _COPIED),
    "reopen": "done ID --off opens a finished task again",
    "unblock": "block ID --on OTHER --off ends the waiting, hold ID --off ends a hold",
    **dict.fromkeys(("unclaim", "release", "stop"), "take ID --off gives a task back"),
    "assign": "take ID takes a task, for another one with --agent NAME or --person NAME",
    "resume": "hold ID --off ends a hold",
    **dict.fromkeys(("dep", "depend"), "block ID --on OTHER lets a task wait for another"),
    "link": "block ID --on OTHER lets a task wait for another; add --serves KEY says what it is for",
    "status": "show ID shows a task, ls lists them, where says which plan is in force",
    "info": "show ID shows a task, where says which plan is in force",
    **dict.fromkeys(("update", "rename", "modify", "set"), "edit ID changes a task, its title too"),
    **dict.fromkeys(("issue", "issues", "tasks", "task list"), "ls lists tasks, task search those with a status"),
    **dict.fromkeys(("web", "ui"), "serve shows the plan on pages"),
    "watch": "ls, next, board, tree and inbox draw again after every change with --watch",
    "login": "whoever may open the plan is let in; serve prints the link that logs you in to the pages",
    "connect": "init --client claude connects an AI client; block ID --on OTHER connects tasks",
    "version": "--version prints it",
    **dict.fromkeys(("whoami", "config"), "where shows the settings in force, and who acts"),
    **dict.fromkeys(("h", "commands", "man"), "help lists the commands"),
    "sync": "every command reads and writes the plan at once; there is nothing to send",
    "facts": "context view shows the facts of a project, context set writes one",
    "people": "member list shows the people of a project; help people lists all such commands",
    "titles": 'op briefing.titles \'{"project": …, "refs": […]}\' answers it as JSON',
    "serving": "op briefing.serving '{\"project\": …}' answers it as JSON",
    "work add": "add TITLE adds a task, work plan adds many",
    "work lookup": "show ID finds a task by its id or title",
    "knowledge record-check": "knowledge check compares and records",
    "section bulk-create": "section add adds one; op section.bulk_create '{…}' adds many",
    "section bulk-delete": "section delete deletes one; op section.bulk_delete '{…}' deletes many",
    "context touch": "op context.update_draft '{\"runId\": …}' does it",
    "context run": "context view --run ID shows a run with its facts",
}

# Verbs that other tools have for the same: of a topic, the command with another one is meant.
ALIKE: Sequence[frozenset[str]] = tuple(
    frozenset(words.split())
    for words in (
        "add create new make insert record",
        "delete remove rm del drop discard revoke archive",
        "list ls all search find",
        "show view get cat info open",
        "update edit set change modify rename",
    )
)

_BY_NAME = {name: entry for entry in COMMANDS for name in (entry.name, *entry.synonyms)}
_BY_OPERATION: dict[str, list[Entry]] = {}
for _entry in COMMANDS:
    _BY_OPERATION.setdefault(_entry.operation, []).append(_entry)


def find_command(name: str) -> Entry | None:
    """Return the command with these words, or with this synonym."""
    return _BY_NAME.get(name)


def list_commands_of(operation: str) -> list[Entry]:
    """Return the commands of an operation that can have all of its arguments."""
    return [entry for entry in _BY_OPERATION.get(operation, ()) if not entry.item_of]


def list_names(group: tuple[str, ...]) -> Iterator[str]:
    """Yield the words that can follow those of a group, or begin a command line."""
    at = len(group)
    found = (entry.words for entry in COMMANDS if not entry.is_hidden)
    yield from dict.fromkeys(words[at] for words in found if words[:at] == group and len(words) > at)
