"""What the verbs of a session take and answer. Written by `make contracts` from the registry; edit that instead.

Objects inside a request are written as dicts in the names of the wire, and have a TypedDict here. Only type checkers
see them: import them under `if TYPE_CHECKING`.
"""

import builtins
from collections.abc import Sequence
from typing import Any, Literal, NotRequired, TypedDict

import groundplan.briefing.briefing
import groundplan.briefing.chain
import groundplan.briefing.coverage
import groundplan.briefing.inbox
import groundplan.briefing.search
import groundplan.briefing.titles
import groundplan.briefing.undo.undo
import groundplan.context.commit
import groundplan.context.diff
import groundplan.context.document
import groundplan.context.edit
import groundplan.context.history
import groundplan.context.runs
import groundplan.context.schemas
import groundplan.context_adapter
import groundplan.kernel.access
import groundplan.kernel.actors
import groundplan.kernel.events
import groundplan.kernel.identities.invitation
import groundplan.kernel.members
import groundplan.kernel.organizations.history
import groundplan.kernel.organizations.organization
import groundplan.kernel.organizations.people
import groundplan.kernel.projects
import groundplan.kernel.tokens.operations
import groundplan.knowledge.checked
import groundplan.knowledge.context
import groundplan.knowledge.freshness
import groundplan.knowledge.read
import groundplan.knowledge.requests
import groundplan.knowledge.write
import groundplan.purpose.analysis
import groundplan.purpose.compliance.checklist
import groundplan.purpose.editing.edit
import groundplan.purpose.exchange.export
import groundplan.purpose.exchange.import_document
import groundplan.purpose.exchange.render
import groundplan.purpose.gates.gates
import groundplan.purpose.health
import groundplan.purpose.model
import groundplan.purpose.observing.read
import groundplan.purpose.observing.record
import groundplan.purpose.open
import groundplan.purpose.versions.diff
import groundplan.purpose.versions.drafts
import groundplan.purpose.versions.publish
import groundplan.purpose.versions.versions
import groundplan.work.analysis
import groundplan.work.containers.dependencies
import groundplan.work.containers.fields
import groundplan.work.containers.manage
import groundplan.work.containers.next_and_blocked
import groundplan.work.containers.query
import groundplan.work.containers.sections.change
import groundplan.work.containers.sections.section
import groundplan.work.containers.tags
import groundplan.work.containers.templates
import groundplan.work.containers.views
import groundplan.work.containers.workflow
import groundplan.work.graph.connect
import groundplan.work.graph.context
import groundplan.work.graph.dependency_graph
import groundplan.work.graph.history
import groundplan.work.graph.lookup
import groundplan.work.graph.next
import groundplan.work.graph.onboard
import groundplan.work.graph.open
import groundplan.work.graph.outline
import groundplan.work.graph.plan
import groundplan.work.graph.query
import groundplan.work.graph.search
import groundplan.work.graph.update
import groundplan.work.importing.export
import groundplan.work.importing.import_work
import groundplan.work.restructuring

def to_python_name(wire_name: str) -> str: ...

class Verbs:
    organization: OrganizationVerbs
    invitation: InvitationVerbs
    project: ProjectVerbs
    member: MemberVerbs
    token: TokenVerbs
    event: EventVerbs
    work: WorkVerbs
    briefing: BriefingVerbs
    knowledge: KnowledgeVerbs
    purpose: PurposeVerbs
    context: ContextVerbs
    container: ContainerVerbs
    dependency: DependencyVerbs
    section: SectionVerbs
    template: TemplateVerbs
    tag: TagVerbs

class OrganizationVerbs:
    def view(self) -> groundplan.kernel.organizations.organization.OneOrganization:
        """Show your organization: its name, your role in it, and its settings."""

    def configure(
        self,
        *,
        name: str = ...,
        project_creators: groundplan.kernel.access.ProjectCreators | Literal["members", "owners", "administrators"] = ...,
        allowed_domains: builtins.list[str] = ...,
        default_policies: PolicyChanges = ...,
        decision: str | None = None,
        op_id: str | None = None,
    ) -> groundplan.kernel.organizations.organization.OneOrganization:
        """Change the name of your organization, and who may join it and create projects."""

    def members(
        self,
        *,
        limit: int = 200,
        cursor: str | None = None,
    ) -> groundplan.kernel.organizations.people.People:
        """List the members of your organization."""

    def add_member(
        self,
        *,
        name: str,
        role: groundplan.kernel.access.OrganizationRole | Literal["member", "administrator"] | None = None,
        kind: groundplan.kernel.actors.ActorKind | Literal["person", "agent", "service"] = "person",
        email: str | None = None,
        op_id: str | None = None,
    ) -> groundplan.kernel.organizations.people.OnePerson:
        """Add somebody to your organization, or change their role in it; an e-mail address is invited."""

    def remove_member(
        self,
        *,
        name: str,
        op_id: str | None = None,
    ) -> groundplan.kernel.organizations.people.RemovedPerson:
        """Remove somebody from your organization and its projects, and end their tokens and logins."""

    def leave(
        self,
        *,
        op_id: str | None = None,
    ) -> groundplan.kernel.organizations.people.RemovedPerson:
        """Leave your organization and its projects; your tokens and logins end."""

    def unlink_account(
        self,
        *,
        name: str,
        op_id: str | None = None,
    ) -> groundplan.kernel.organizations.people.UnlinkedAccounts:
        """Unlink the account that a person logs in with, so that another one can be bound; their logins end."""

    def events(
        self,
        *,
        limit: int = 50,
        cursor: str | None = None,
    ) -> groundplan.kernel.organizations.history.OrganizationEvents:
        """What happened in your organization, newest first."""

class InvitationVerbs:
    def list(
        self,
        *,
        ended: bool = False,
    ) -> groundplan.kernel.identities.invitation.Invitations:
        """List invitations that were not used yet; used and revoked ones too when asked."""

    def revoke(
        self,
        *,
        id: str,
        op_id: str | None = None,
    ) -> groundplan.kernel.identities.invitation.OneInvitation:
        """Revoke an invitation, so that nobody can use it any more."""

class ProjectVerbs:
    def list(
        self,
        *,
        archived: bool = False,
    ) -> groundplan.kernel.projects.Projects:
        """List your projects; archived ones too when asked."""

    def create(
        self,
        *,
        name: str,
        goal: str | None = None,
        op_id: str | None = None,
    ) -> groundplan.kernel.projects.OneProject:
        """Create a project; you become its owner."""

    def archive(
        self,
        *,
        project: str,
        op_id: str | None = None,
    ) -> groundplan.kernel.projects.ArchivedProject:
        """Archive a project: it can be read, but not changed."""

    def restore(
        self,
        *,
        project: str,
        op_id: str | None = None,
    ) -> groundplan.kernel.projects.ArchivedProject:
        """Restore an archived project."""

class MemberVerbs:
    def bootstrap(
        self,
        *,
        scope_id: str,
        name: str | None = None,
        create_draft_run: bool = False,
        op_id: str | None = None,
    ) -> groundplan.context.runs.BootstrappedScope:
        """Create a scope with yourself as its owner."""

    def list(
        self,
        *,
        scope_id: str,
        limit: int | None = None,
        cursor: str | None = None,
        lean: bool | None = None,
    ) -> groundplan.kernel.members.Members:
        """List the members of a project."""

    def add(
        self,
        *,
        scope_id: str,
        user_id: str,
        role: groundplan.kernel.access.Role | Literal["viewer", "editor", "owner"],
        kind: groundplan.kernel.actors.ActorKind | Literal["person", "agent", "service"] = "person",
        op_id: str | None = None,
    ) -> groundplan.kernel.members.OneMember:
        """Add a member to a project, or change a member's role."""

    def remove(
        self,
        *,
        scope_id: str,
        user_id: str,
        op_id: str | None = None,
    ) -> groundplan.kernel.members.RemovedMember:
        """Remove a member from a project."""

class TokenVerbs:
    def create(
        self,
        *,
        kind: groundplan.kernel.actors.ActorKind | Literal["person", "agent", "service"] = "agent",
        name: str | None = None,
        role: groundplan.kernel.access.Role | Literal["viewer", "editor", "owner"] | None = None,
        projects: builtins.list[str] | None = None,
        expires: str | None = None,
        label: str | None = None,
        trusted: bool = False,
        op_id: str | None = None,
    ) -> groundplan.kernel.tokens.operations.CreatedToken:
        """Create a token for yourself, an agent or a service; its secret is shown once."""

    def list(
        self,
        *,
        ended: bool = False,
    ) -> groundplan.kernel.tokens.operations.Tokens:
        """List your tokens; expired and revoked ones too when asked."""

    def revoke(
        self,
        *,
        id: str,
        op_id: str | None = None,
    ) -> groundplan.kernel.tokens.operations.RevokedToken:
        """Revoke a token, and every token that was created with it."""

class EventVerbs:
    def list(
        self,
        *,
        project: str,
        since: str | None = None,
        until: str | None = None,
        actor: str | None = None,
        subject: str | None = None,
        op: str | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> groundplan.kernel.events.EventList:
        """What happened in a project, newest first."""

class WorkVerbs:
    def open(
        self,
        *,
        project: str | None = None,
        goal: str | None = None,
        policies: PolicyChanges | None = None,
        lean: bool | None = None,
        decision: str | None = None,
        op_id: str | None = None,
    ) -> groundplan.work.graph.open.OpenedProject | groundplan.work.graph.open.ProjectLines:
        """Open or create a project; without project: list all."""

    def plan(
        self,
        *,
        nodes: Sequence[PlanNode],
        project: str | None = None,
        lean: bool | None = None,
        decision: str | None = None,
        op_id: str | None = None,
    ) -> groundplan.work.graph.plan.Planned:
        """Create nodes; refs name new or existing ones, in any order."""

    def add(
        self,
        *,
        nodes: Sequence[TaggedPlanNode],
        project: str | None = None,
        lean: bool | None = None,
        decision: str | None = None,
        op_id: str | None = None,
    ) -> groundplan.work.graph.plan.Planned:
        """Create nodes as work plan does, with tags."""

    def next(
        self,
        *,
        project: str | None = None,
        node_id: str | None = None,
        scope: str | None = None,
        filter: dict[str, Any] = ...,
        count: int = 1,
        claim: bool = False,
        budget: int | None = None,
        cursor: str | None = None,
        lean: bool | None = None,
        decision: str | None = None,
        op_id: str | None = None,
    ) -> groundplan.work.graph.next.Offers:
        """Best actionable nodes with context; claim: true takes them."""

    def claim(
        self,
        *,
        project: str | None = None,
        node_id: str | None = None,
        scope: str | None = None,
        filter: dict[str, Any] = ...,
        count: int = 1,
        claim: bool = False,
        budget: int | None = None,
        cursor: str | None = None,
        lean: bool | None = None,
        decision: str | None = None,
        op_id: str | None = None,
    ) -> groundplan.work.graph.next.Offers:
        """Claim the best actionable nodes, so that no one else is offered them."""

    def context(
        self,
        *,
        node_id: str,
        depth: int = 2,
        budget: int | None = None,
        cursor: str | None = None,
        lean: bool | None = None,
    ) -> groundplan.work.graph.context.NodeContext:
        """A node with its ancestors, tree and dependencies."""

    def update(
        self,
        *,
        updates: Sequence[Update],
        lean: bool | None = None,
        decision: str | None = None,
        op_id: str | None = None,
    ) -> groundplan.work.graph.update.Updated:
        """Change, resolve or reopen nodes; says what became actionable."""

    def connect(
        self,
        *,
        edges: Sequence[Edge],
        project: str | None = None,
        lean: bool | None = None,
        decision: str | None = None,
        op_id: str | None = None,
    ) -> groundplan.work.graph.connect.Connected:
        """Add or remove edges and links."""

    def query(
        self,
        *,
        project: str,
        filter: Filter | None = None,
        sort: groundplan.work.graph.search.Sort | Literal["readiness", "depth", "recent", "created"] = "readiness",
        limit: int = 20,
        cursor: str | None = None,
        lean: bool | None = None,
    ) -> groundplan.work.graph.query.FoundNodes:
        """Search and filter nodes."""

    def outline(
        self,
        *,
        project: str,
        parent: str | None = None,
        lane: groundplan.work.graph.outline.Lane | Literal["blocked", "ready", "claimed", "resolved", "dropped"] | None = None,
        node: str | None = None,
        filter: TagFilter | None = None,
        sort: groundplan.work.graph.search.Sort | Literal["readiness", "depth", "recent", "created"] | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> groundplan.work.graph.outline.Outline:
        """Children of a node, one column of the board, what a filter finds, or one node, with their states."""

    def lookup(
        self,
        *,
        project: str,
        refs: builtins.list[str] = ...,
        beginning: str | None = None,
    ) -> groundplan.work.graph.lookup.LookedUp:
        """The nodes that a person means by ids, beginnings of ids or titles."""

    def dependencies(
        self,
        *,
        project: str,
        node: str | None = None,
        direction: Literal["both", "waits_for", "holds_up"] = "both",
        nodes: builtins.list[str] | None = None,
        ancestor: str | None = None,
        limit: int = 60,
    ) -> groundplan.work.graph.dependency_graph.DependencyGraph:
        """A part of the dependency graph: around a node, of some nodes, or of the open nodes of a branch."""

    def restructure(
        self,
        *,
        operations: Sequence[Move | Merge | Drop],
        lean: bool | None = None,
        decision: str | None = None,
        op_id: str | None = None,
    ) -> groundplan.work.restructuring.Restructured:
        """Move, merge or drop nodes with all below them."""

    def history(
        self,
        *,
        node_id: str,
        limit: int = 20,
        cursor: str | None = None,
        lean: bool | None = None,
    ) -> groundplan.work.graph.history.History:
        """What happened to a node, newest first."""

    def onboard(
        self,
        *,
        project: str | None = None,
        lean: bool | None = None,
    ) -> groundplan.work.graph.onboard.Orientation:
        """Start here: goal, state, recent work, next steps."""

    def analyse(
        self,
        *,
        project: str | None = None,
        what: Literal["critical_path", "unlocks", "bottlenecks", "if_resolved", "if_dropped"] = "critical_path",
        node_id: str | None = None,
        limit: int = 20,
    ) -> groundplan.work.analysis.WorkAnalysis:
        """Critical path, unlocks, bottlenecks; or what follows if node_id is resolved or dropped."""

    def import_(
        self,
        *,
        project: str,
        tool: str,
        file: str,
        items: Sequence[SourceItem] = ...,
        deleted: Sequence[DeletedItem] = ...,
        molecules: Sequence[SourceMolecule] = ...,
        atoms: Sequence[SourceAtom] = ...,
        inherits_dependencies: bool = False,
        dry_run: bool = False,
        op_id: str | None = None,
    ) -> groundplan.work.importing.import_work.ImportedWork:
        """Import the items of another tool's file; again: take over what changed in it."""

    def export(
        self,
        *,
        project: str,
    ) -> groundplan.work.importing.export.ExportedWork:
        """Return all work of a project as items, for the files of other tools."""

class BriefingVerbs:
    def brief(
        self,
        *,
        node_id: str,
        budget: int = 4000,
        markdown: bool = False,
        lean: bool | None = None,
    ) -> groundplan.briefing.briefing.TaskBriefing:
        """Brief a person or an agent on one task: why, facts, knowledge, what came before."""

    def inbox(
        self,
        *,
        project: str | None = None,
        limit: int = 20,
        cursor: str | None = None,
    ) -> groundplan.briefing.inbox.Inbox:
        """What waits for a person, most urgent first, and what settles it."""

    def throughline(
        self,
        *,
        project: str,
        from_: str,
        direction: Literal["up", "down"] | None = None,
        format: Literal["data", "markdown", "svg"] = "data",
    ) -> groundplan.briefing.chain.Throughline | groundplan.briefing.chain.ThroughlineText | groundplan.briefing.chain.ThroughlinePicture:
        """The line from work up to the goals, or from a purpose node down to work, evidence and measurements."""

    def coverage(
        self,
        *,
        project: str,
    ) -> groundplan.briefing.coverage.Coverage:
        """Gaps: purpose without work, work without purpose or evidence, unset facts, files without knowledge."""

    def serving(
        self,
        *,
        project: str,
    ) -> groundplan.briefing.coverage.ServingWork:
        """How much work serves each purpose node, and how much of it is resolved."""

    def search(
        self,
        *,
        text: str,
        project: str | None = None,
        slices: builtins.list[groundplan.briefing.search.Slice | Literal["work", "knowledge", "purpose", "context"]] | None = None,
        limit: int = 20,
    ) -> groundplan.briefing.search.Hits:
        """Find words in work, knowledge, purpose and context."""

    def undo(
        self,
        *,
        project: str,
        event: str | None = None,
        redo: bool = False,
        dry_run: bool = False,
        op_id: str | None = None,
    ) -> groundplan.briefing.undo.undo.Undone:
        """Undo your last change, or the write of an event; redo: true does it again."""

    def titles(
        self,
        *,
        project: str,
        refs: builtins.list[str],
    ) -> groundplan.briefing.titles.Titles:
        """The titles of what ids, keys and pointers stand for."""

class KnowledgeVerbs:
    def create(
        self,
        *,
        entity_type: groundplan.knowledge.requests.KnowledgeEntityType | Literal["atom", "molecule"],
        project_id: str,
        name: str,
        created_by_task_id: str,
        paths: builtins.list[str] = ...,
        knowledge: str = "",
        molecule_id: str | None = None,
        related_atoms: Sequence[RelatedAtom] = ...,
        related_molecules: Sequence[RelatedMolecule] = ...,
        op_id: str | None = None,
    ) -> groundplan.knowledge.write.WrittenKnowledge:
        """Create an atom (an area by its paths) or a molecule (a group of atoms)."""

    def update(
        self,
        *,
        entity_type: groundplan.knowledge.requests.KnowledgeEntityType | Literal["atom", "molecule"],
        id: str,
        version: int,
        project_id: str | None = None,
        name: str = ...,
        paths: builtins.list[str] = ...,
        knowledge: str = ...,
        knowledge_mode: groundplan.knowledge.write.KnowledgeMode | Literal["overwrite", "append"] = "overwrite",
        molecule_id: str | None = ...,
        related_atoms: Sequence[RelatedAtom] = ...,
        related_molecules: Sequence[RelatedMolecule] = ...,
        last_task_id: str | None = None,
        confirm: str = ...,
        op_id: str | None = None,
    ) -> groundplan.knowledge.write.WrittenKnowledge:
        """Update one at the version you read; append adds below; confirm: a commit or HEAD, where it is right."""

    def append_changelog(
        self,
        *,
        parent_type: groundplan.knowledge.requests.KnowledgeEntityType | Literal["atom", "molecule"],
        parent_id: str,
        task_id: str,
        summary: str,
        op_id: str | None = None,
    ) -> groundplan.knowledge.write.AppendedEntry:
        """Add what a task changed and why; entries are never edited."""

    def context(
        self,
        *,
        project_id: str,
        paths: str | builtins.list[Any],
        include_changelog: bool = True,
        changelog_limit: int = 5,
    ) -> groundplan.knowledge.context.FileKnowledge:
        """Return the knowledge about files (paths: comma separated)."""

    def coverage(
        self,
        *,
        project_id: str,
        folder: str = "",
    ) -> groundplan.knowledge.checked.KnowledgeCoverage:
        """Which files of the last check the atoms cover, folder by folder."""

    def match(
        self,
        *,
        project_id: str,
        paths: builtins.list[str],
    ) -> groundplan.knowledge.checked.MatchedFiles:
        """Which files of the last check match some patterns."""

    def get(
        self,
        *,
        entity_type: groundplan.knowledge.requests.KnowledgeEntityType | Literal["atom", "molecule"],
        id: str,
        project_id: str | None = None,
        include_changelog: bool = True,
        changelog_limit: int = 5,
    ) -> groundplan.knowledge.read.KnowledgeDetails:
        """Get one atom, or a molecule with its atoms."""

    def search(
        self,
        *,
        entity_type: groundplan.knowledge.requests.KnowledgeEntityType | Literal["atom", "molecule"],
        project_id: str,
        query: str | None = None,
        molecule_id: str | None = None,
        orphans_only: bool = False,
        include_changelog: bool = True,
        changelog_limit: int = 5,
        limit: int = 20,
        offset: int = 0,
    ) -> groundplan.knowledge.read.KnowledgePage:
        """Search atoms or molecules by words, by molecule, or orphans."""

    def search_changelog(
        self,
        *,
        parent_type: groundplan.knowledge.requests.KnowledgeEntityType | Literal["atom", "molecule"],
        parent_id: str,
        limit: int = 20,
        offset: int = 0,
    ) -> groundplan.knowledge.read.Entries:
        """Read the entries, newest first."""

    def list(
        self,
        *,
        project_id: str,
        freshness: builtins.list[groundplan.knowledge.freshness.FreshnessState | Literal["fresh", "changed", "orphaned", "unanchored", "not_checked"]] = ...,
        paths: str | builtins.list[Any] = ...,
        limit: int = 100,
        cursor: str | None = None,
    ) -> groundplan.knowledge.read.Atoms:
        """List the atoms with their patterns and freshness."""

    def record_check(
        self,
        *,
        project_id: str,
        commit: str,
        atoms: Sequence[AtomCheck],
        files: builtins.list[str] = ...,
        files_total: int = 0,
        op_id: str | None = None,
    ) -> groundplan.knowledge.checked.RecordedCheck:
        """Store the results of a check of the files, and which files there are."""

    def delete(
        self,
        *,
        entity_type: groundplan.knowledge.requests.KnowledgeEntityType | Literal["atom", "molecule"],
        id: str,
        version: int,
        project_id: str | None = None,
        cascade: bool = False,
        last_task_id: str | None = None,
        decision: str | None = None,
        op_id: str | None = None,
    ) -> groundplan.knowledge.write.DeletedKnowledge:
        """Delete one; the atoms of a molecule become orphans, or are deleted too (cascade)."""

class PurposeVerbs:
    def open(
        self,
        *,
        project: str,
        version: int | str | None = None,
        detail: Literal["summary", "full", "observations"] | None = None,
        keys: str | builtins.list[str] | None = None,
        as_of: str | None = None,
        cursor: str | None = None,
        lean: bool | None = None,
    ) -> groundplan.purpose.open.OpenedPurpose | groundplan.purpose.observing.read.ObservationsPage | groundplan.purpose.open.PurposeItems:
        """Read the theory of change: versions, nodes, edges, assumptions, indicators, health; or observations."""

    def observations(
        self,
        *,
        project: str,
        version: int | str | None = None,
        detail: Literal["summary", "full", "observations"] | None = None,
        keys: str | builtins.list[str] | None = None,
        as_of: str | None = None,
        cursor: str | None = None,
        lean: bool | None = None,
    ) -> groundplan.purpose.observing.read.ObservationsPage:
        """Read what was observed: measurements, reviews, waivers, decisions; with as_of, as known then."""

    def items(
        self,
        *,
        project: str,
        version: int | str | None = None,
        detail: Literal["summary", "full", "observations"] | None = None,
        keys: str | builtins.list[str] | None = None,
        as_of: str | None = None,
        cursor: str | None = None,
        lean: bool | None = None,
    ) -> groundplan.purpose.open.PurposeItems:
        """Read some items of a version, by their keys, with what is on them."""

    def edit(
        self,
        *,
        project: str,
        operations: Sequence[AddNode | UpdateNode | RemoveNode | AddEdge | UpdateEdge | RemoveEdge | AddAssumption | UpdateAssumption | RemoveAssumption | AddIndicator | UpdateIndicator | RemoveIndicator],
        expected_rev: int | None = None,
        lean: bool | None = None,
        op_id: str | None = None,
    ) -> groundplan.purpose.editing.edit.EditedPurpose:
        """Change the draft in one batch: add, update, remove nodes, edges, assumptions, indicators."""

    def draft(
        self,
        *,
        project: str,
        from_: int | str | None = None,
        profile: groundplan.purpose.model.Profile | Literal["standard", "strict", "light"] | None = None,
        lean: bool | None = None,
        op_id: str | None = None,
    ) -> groundplan.purpose.versions.drafts.OneVersion:
        """Create a draft as a copy of the latest published version, or of `from`."""

    def publish(
        self,
        *,
        project: str,
        label: str | None = None,
        detail: Literal["full"] | None = None,
        expected_rev: int | None = None,
        lean: bool | None = None,
        op_id: str | None = None,
    ) -> groundplan.purpose.versions.publish.Published:
        """Publish the draft if it passes its gates."""

    def discard(
        self,
        *,
        project: str,
        expected_rev: int | None = None,
        lean: bool | None = None,
        op_id: str | None = None,
    ) -> groundplan.purpose.versions.drafts.DiscardedDraft:
        """Remove the draft."""

    def versions(
        self,
        *,
        project: str,
        lean: bool | None = None,
    ) -> groundplan.purpose.versions.versions.Versions:
        """List the versions."""

    def diff(
        self,
        *,
        project: str,
        from_: int | str,
        to: int | str,
        cursor: str | None = None,
        lean: bool | None = None,
    ) -> groundplan.purpose.versions.diff.VersionComparison:
        """Compare two versions by stable key."""

    def check(
        self,
        *,
        project: str,
        gate: Literal["A", "B", "health", "compliance", "analysis"] | None = None,
        version: int | str | None = None,
        profile: groundplan.purpose.model.Profile | Literal["standard", "strict", "light"] | None = None,
        operation: ProposedOperation | None = None,
        node: str | None = None,
        assumption: str | None = None,
        limit: int | None = None,
        as_of: str | None = None,
        detail: Literal["short", "full"] | None = None,
        code: Sequence[CodeText] | None = None,
        lean: bool | None = None,
    ) -> groundplan.purpose.gates.gates.GateResult | groundplan.purpose.health.Health | groundplan.purpose.analysis.Analysis | groundplan.purpose.compliance.checklist.Compliance | groundplan.purpose.compliance.checklist.CodeVerdict:
        """Check a version: gate A or B, health, analysis, or compliance of a proposed operation or of code."""

    def health(
        self,
        *,
        project: str,
        gate: Literal["A", "B", "health", "compliance", "analysis"] | None = None,
        version: int | str | None = None,
        profile: groundplan.purpose.model.Profile | Literal["standard", "strict", "light"] | None = None,
        operation: ProposedOperation | None = None,
        node: str | None = None,
        assumption: str | None = None,
        limit: int | None = None,
        as_of: str | None = None,
        detail: Literal["short", "full"] | None = None,
        code: Sequence[CodeText] | None = None,
        lean: bool | None = None,
    ) -> groundplan.purpose.health.Health:
        """Return the health of a version: metrics, bands, and how each goal is reached."""

    def analysis(
        self,
        *,
        project: str,
        gate: Literal["A", "B", "health", "compliance", "analysis"] | None = None,
        version: int | str | None = None,
        profile: groundplan.purpose.model.Profile | Literal["standard", "strict", "light"] | None = None,
        operation: ProposedOperation | None = None,
        node: str | None = None,
        assumption: str | None = None,
        limit: int | None = None,
        as_of: str | None = None,
        detail: Literal["short", "full"] | None = None,
        code: Sequence[CodeText] | None = None,
        lean: bool | None = None,
    ) -> groundplan.purpose.analysis.Analysis:
        """Analyse the structure of a version: pathways to goals, orphans, weak links, assumption impacts."""

    def compliance(
        self,
        *,
        project: str,
        gate: Literal["A", "B", "health", "compliance", "analysis"] | None = None,
        version: int | str | None = None,
        profile: groundplan.purpose.model.Profile | Literal["standard", "strict", "light"] | None = None,
        operation: ProposedOperation | None = None,
        node: str | None = None,
        assumption: str | None = None,
        limit: int | None = None,
        as_of: str | None = None,
        detail: Literal["short", "full"] | None = None,
        code: Sequence[CodeText] | None = None,
        lean: bool | None = None,
    ) -> groundplan.purpose.compliance.checklist.Compliance | groundplan.purpose.compliance.checklist.CodeVerdict:
        """Return the compliance checklist for a proposed operation, or the verdict on code, and why."""

    def record(
        self,
        *,
        project: str,
        measurements: Sequence[MeasurementWrite] | None = None,
        reviews: Sequence[ReviewWrite] | None = None,
        waivers: Sequence[WaiverWrite] | None = None,
        decisions: Sequence[DecisionWrite] | None = None,
        requests: Sequence[RequestWrite] | None = None,
        lean: bool | None = None,
        op_id: str | None = None,
    ) -> groundplan.purpose.observing.record.RecordedObservations:
        """Record measurements, assumption reviews, decisions, requests for them, and waivers (owners)."""

    def export(
        self,
        *,
        project: str,
        format: Literal["json", "mermaid", "dot", "graphml", "canvas", "csv", "logframe", "iati", "svg", "html"],
        version: int | str | None = None,
    ) -> groundplan.purpose.exchange.export.ExportedPurpose:
        """Export a version as a file: json, mermaid, dot, graphml, canvas, csv, logframe, iati, svg or html."""

    def render(
        self,
        *,
        project: str,
        version: int | str | None = None,
        detail: Literal["overview", "all"] | None = None,
        group: str | None = None,
        view: str | None = None,
        pathway: str | None = None,
        compare: int | str | None = None,
        theme: Literal["light", "dark", "auto"] | None = None,
    ) -> groundplan.purpose.exchange.render.Rendered:
        """Draw a version as SVG: all of it or an overview, a view, the pathways of a node, or what changed."""

    def import_(
        self,
        *,
        project: str,
        document: TheoryDocument,
        keys: Literal["same", "new"] | None = None,
        op_id: str | None = None,
    ) -> groundplan.purpose.exchange.import_document.ImportedPurpose:
        """Import a theory as a new draft: the whole document, or nothing. Waivers in it need the owner role."""

class ContextVerbs(groundplan.context_adapter.ContextAdapter):
    def view(
        self,
        *,
        scope_id: str,
        prefer: groundplan.context.schemas.ResolvePrefer | Literal["latest_commit", "runId"] | None = None,
        run_id: str | None = None,
        pointers: builtins.list[str] | None = None,
        cursor: str | None = None,
        user_id: str | None = None,
        hydrate: dict[str, Any] | None = None,
        overwrite: bool = False,
        lean: bool | None = None,
        debug: bool = False,
    ) -> groundplan.context.schemas.ContextView:
        """Read the facts in force, or of a run: inputs by pointer, constraints, sources, what is missing."""

    def create_draft(
        self,
        *,
        scope_id: str,
        ownership: groundplan.context.schemas.RunOwnership | Literal["owned", "shared"] = "owned",
        copy_from: str = "latest",
        lean: bool | None = None,
        op_id: str | None = None,
    ) -> groundplan.context.runs.CreatedDraft:
        """Create a draft, a copy of the facts in force unless copyFrom says otherwise; and its scope if new."""

    def commit(
        self,
        *,
        run_id: str,
        allow_partial: bool = False,
        allow_drop: bool = False,
        resolve: dict[str, groundplan.context.schemas.MergeSide | Literal["mine", "theirs"]] | None = None,
        lean: bool | None = None,
        expected_rev: int | None = None,
        op_id: str | None = None,
    ) -> groundplan.context.commit.Committed:
        """Make a draft final, merged with what was committed since; allowPartial: with inputs unset."""

    def discard(
        self,
        *,
        run_id: str,
        lean: bool | None = None,
        op_id: str | None = None,
    ) -> groundplan.context.runs.DiscardedRun:
        """Remove a draft."""

    def delete(
        self,
        *,
        run_id: str,
        lean: bool | None = None,
        op_id: str | None = None,
    ) -> groundplan.context.runs.DeletedRun:
        """Delete a run; a committed run is only hidden."""

    def list(
        self,
        *,
        scope_id: str,
        user_id: str | None = None,
        status: groundplan.context.schemas.RunStatus | Literal["draft", "committed", "partial_committed"] | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        lean: bool | None = None,
    ) -> groundplan.context.runs.Runs:
        """List the runs of a scope."""

    def diff(
        self,
        *,
        from_: str,
        to: str,
        pointers: builtins.list[str] | None = None,
        cursor: str | None = None,
        lean: bool | None = None,
    ) -> groundplan.context.diff.RunDiff:
        """Compare two runs."""

    def trace(
        self,
        *,
        scope_id: str,
        pointer: str,
        limit: int = 10,
    ) -> groundplan.context.history.FactTrace:
        """Show one fact through the runs, and the work and purpose that rest on it."""

    def edit(
        self,
        *,
        run_id: str,
        sources: Sequence[SourceWrite] | None = None,
        inputs: Sequence[InputWrite] | None = None,
        constraints: Sequence[ConstraintWrite] | None = None,
        artifacts: Sequence[ArtifactWrite] | None = None,
        links: Sequence[LinkWrite] | None = None,
        unlinks: Sequence[LinkWrite] | None = None,
        accept: builtins.list[str] | None = None,
        reject: builtins.list[str] | None = None,
        remove: Removals | None = None,
        lean: bool | None = None,
        expected_rev: int | None = None,
        op_id: str | None = None,
    ) -> groundplan.context.edit.EditedRun:
        """Write facts into a draft; a value of lower provenance than the one there becomes a suggestion."""

    def fetch_run(
        self,
        *,
        run_id: str,
    ) -> groundplan.context.runs.RunWithRev:
        """Show a run by its id, without its rows."""

    def update_draft(
        self,
        *,
        run_id: str,
        ownership: groundplan.context.schemas.RunOwnership | Literal["owned", "shared"] | None = None,
        op_id: str | None = None,
    ) -> groundplan.context.runs.RunWithRev:
        """Make a draft your own or shared, or only update its time of last change."""

    def export(
        self,
        *,
        scope_id: str,
        run_id: str | None = None,
    ) -> groundplan.context.document.ContextExport:
        """Export the facts of a run as a document."""

    def import_(
        self,
        *,
        scope_id: str,
        document: ContextDocument,
        ownership: groundplan.context.schemas.RunOwnership | Literal["owned", "shared"] = "owned",
        op_id: str | None = None,
    ) -> groundplan.context.document.ImportedContext:
        """Import a document of facts as a new draft."""

class ContainerVerbs:
    def get(
        self,
        *,
        container_type: groundplan.work.containers.fields.ContainerType | Literal["project", "feature", "task"],
        id: str,
        include_sections: bool = False,
        include_graph_context: bool = False,
        budget: int | None = None,
    ) -> groundplan.work.containers.query.ContainerDetails:
        """One project, feature or task; includeGraphContext: with what to know of its files."""

    def search(
        self,
        *,
        container_type: groundplan.work.containers.fields.ContainerType | Literal["project", "feature", "task"],
        query: str | None = None,
        status: str | None = None,
        priority: str | None = None,
        tags: str | builtins.list[str] | None = None,
        project_id: str | None = None,
        feature_id: str | None = None,
        limit: int = 20,
        offset: int = 0,
    ) -> groundplan.work.containers.query.ContainerPage:
        """By words, status, priority, tags; in a project, a feature or everywhere."""

    def overview(
        self,
        *,
        container_type: groundplan.work.containers.fields.ContainerType | Literal["project", "feature", "task"],
        id: str | None = None,
        status: str | None = None,
        priority: str | None = None,
        tags: str | builtins.list[str] | None = None,
        project_id: str | None = None,
        feature_id: str | None = None,
        limit: int = 20,
        offset: int = 0,
    ) -> groundplan.work.containers.query.ContainerPage | groundplan.work.containers.query.ContainerOverview:
        """With id: what is in it, and how much is done; else a list."""

    def create(
        self,
        *,
        container_type: groundplan.work.containers.fields.ContainerType | Literal["project", "feature", "task"],
        name: str | None = None,
        title: str | None = None,
        summary: str | None = None,
        description: str | None = None,
        priority: str | None = None,
        project_id: str | None = None,
        feature_id: str | None = None,
        complexity: int | None = None,
        tags: str | builtins.list[str] | None = None,
        related_to: str | builtins.list[str] | None = None,
        serves: builtins.list[str] | None = None,
        rests_on: builtins.list[str] | None = None,
        op_id: str | None = None,
    ) -> groundplan.work.containers.manage.CreatedContainer:
        """Create one: a task has a title, the others a name."""

    def update(
        self,
        *,
        container_type: groundplan.work.containers.fields.ContainerType | Literal["project", "feature", "task"],
        id: str,
        version: int,
        name: str | None = None,
        title: str | None = None,
        summary: str | None = ...,
        description: str | None = ...,
        priority: str | None = ...,
        project_id: str | None = None,
        feature_id: str | None = ...,
        complexity: int | None = ...,
        tags: str | builtins.list[str] | None = ...,
        related_to: str | builtins.list[str] | None = ...,
        serves: builtins.list[str] = ...,
        rests_on: builtins.list[str] = ...,
        pipeline: Any = None,
        op_id: str | None = None,
    ) -> groundplan.work.containers.manage.UpdatedContainer:
        """Update one at the version you read; never its status."""

    def delete(
        self,
        *,
        container_type: groundplan.work.containers.fields.ContainerType | Literal["project", "feature", "task"],
        id: str,
        version: int,
        cascade: bool | None = None,
        op_id: str | None = None,
    ) -> groundplan.work.containers.manage.DeletedContainer:
        """Delete one; cascade: with all below it; a project is archived."""

    def next_task(
        self,
        *,
        project_id: str | None = None,
        feature_id: str | None = None,
        priority: str | None = None,
    ) -> groundplan.work.containers.views.Task | None:
        """Best free NEW task: priority, complexity, age."""

    def next_feature(
        self,
        *,
        project_id: str | None = None,
        priority: str | None = None,
    ) -> groundplan.work.containers.views.Feature | None:
        """Feature to continue with: ACTIVE, then NEW."""

    def blocked_tasks(
        self,
        *,
        project_id: str | None = None,
        feature_id: str | None = None,
        limit: int = 100,
        offset: int = 0,
    ) -> groundplan.work.containers.next_and_blocked.BlockedTasks:
        """Blocked tasks with their blockers."""

    def blocked_features(
        self,
        *,
        project_id: str | None = None,
        limit: int = 100,
        offset: int = 0,
    ) -> groundplan.work.containers.next_and_blocked.BlockedFeatures:
        """Blocked features with their blockers."""

    def workflow_state(
        self,
        *,
        container_type: groundplan.work.containers.fields.WorkflowType | Literal["task", "feature"],
        id: str,
    ) -> groundplan.work.containers.workflow.WorkflowState:
        """Status, next and previous step, blockers."""

    def dependencies(
        self,
        *,
        id: str,
        container_type: groundplan.work.containers.fields.WorkflowType | Literal["task", "feature"],
        direction: groundplan.work.containers.dependencies.DependencyDirection | Literal["dependencies", "dependents", "both"] = "both",
    ) -> groundplan.work.containers.dependencies.Dependencies:
        """Dependencies and dependents of one container."""

    def advance(
        self,
        *,
        container_type: groundplan.work.containers.fields.WorkflowType | Literal["task", "feature"],
        id: str,
        version: int,
        op_id: str | None = None,
    ) -> groundplan.work.containers.workflow.Advanced:
        """Next step of its pipeline; ACTIVE claims, CLOSED resolves."""

    def revert(
        self,
        *,
        container_type: groundplan.work.containers.fields.WorkflowType | Literal["task", "feature"],
        id: str,
        version: int,
        op_id: str | None = None,
    ) -> groundplan.work.containers.workflow.TransitionAnswer:
        """One step back; reopens what was closed."""

    def terminate(
        self,
        *,
        container_type: groundplan.work.containers.fields.WorkflowType | Literal["task", "feature"],
        id: str,
        version: int,
        reason: str | None = None,
        op_id: str | None = None,
    ) -> groundplan.work.containers.workflow.Terminated:
        """End as WILL_NOT_IMPLEMENT, with everything open below it."""

    def block(
        self,
        *,
        container_type: groundplan.work.containers.fields.WorkflowType | Literal["task", "feature"],
        id: str,
        version: int,
        blocked_by: str | builtins.list[str],
        blocked_reason: str | None = None,
        op_id: str | None = None,
    ) -> groundplan.work.containers.workflow.BlockAnswer:
        """Add blockers by id, or NO_OP: a hold with a reason."""

    def unblock(
        self,
        *,
        container_type: groundplan.work.containers.fields.WorkflowType | Literal["task", "feature"],
        id: str,
        version: int,
        blocked_by: str | builtins.list[str],
        op_id: str | None = None,
    ) -> groundplan.work.containers.workflow.UnblockAnswer:
        """Remove blockers by id; NO_OP ends its hold."""

class DependencyVerbs:
    def create(
        self,
        *,
        id: str | None = None,
        from_id: str | None = None,
        to_id: str | None = None,
        container_type: groundplan.work.containers.fields.WorkflowType | Literal["task", "feature"] | None = None,
        type: groundplan.work.containers.dependencies.DependencyType | Literal["BLOCKS", "RELATES_TO"] = "BLOCKS",
        op_id: str | None = None,
    ) -> groundplan.work.containers.dependencies.DependencyAnswer:
        """Make fromId block toId (BLOCKS) or relate to it (RELATES_TO)."""

    def delete(
        self,
        *,
        id: str | None = None,
        from_id: str | None = None,
        to_id: str | None = None,
        container_type: groundplan.work.containers.fields.WorkflowType | Literal["task", "feature"] | None = None,
        type: groundplan.work.containers.dependencies.DependencyType | Literal["BLOCKS", "RELATES_TO"] = "BLOCKS",
        op_id: str | None = None,
    ) -> groundplan.work.containers.dependencies.DependencyAnswer:
        """Delete a dependency."""

class SectionVerbs:
    def list(
        self,
        *,
        entity_type: groundplan.work.containers.fields.EntityType | Literal["PROJECT", "FEATURE", "TASK"],
        entity_id: str,
        include_content: bool = True,
        tags: str | builtins.list[str] = "",
        section_ids: str | builtins.list[str] = "",
    ) -> groundplan.work.containers.sections.section.Sections:
        """Sections of a container in order; with any of some tags, or by ids."""

    def add(
        self,
        *,
        entity_type: groundplan.work.containers.fields.EntityType | Literal["PROJECT", "FEATURE", "TASK"],
        entity_id: str,
        title: str,
        usage_description: str = "",
        content: str = "",
        content_format: groundplan.work.containers.sections.section.ContentFormat | Literal["PLAIN_TEXT", "MARKDOWN", "JSON", "CODE"] = "MARKDOWN",
        tags: str | builtins.list[str] = "",
        ordinal: int | None = None,
        op_id: str | None = None,
    ) -> groundplan.work.containers.sections.section.Section:
        """Add a section, behind the last or at a free ordinal."""

    def update(
        self,
        *,
        section_id: str,
        version: int,
        entity_type: groundplan.work.containers.fields.EntityType | Literal["PROJECT", "FEATURE", "TASK"] | None = None,
        entity_id: str | None = None,
        title: str = ...,
        usage_description: str = ...,
        content: str = ...,
        content_format: groundplan.work.containers.sections.section.ContentFormat | Literal["PLAIN_TEXT", "MARKDOWN", "JSON", "CODE"] = ...,
        tags: str | builtins.list[str] = ...,
        ordinal: int = ...,
        op_id: str | None = None,
    ) -> groundplan.work.containers.sections.section.Section:
        """Change a section at the version you read."""

    def update_text(
        self,
        *,
        section_id: str,
        version: int,
        content: str,
        entity_type: groundplan.work.containers.fields.EntityType | Literal["PROJECT", "FEATURE", "TASK"] | None = None,
        entity_id: str | None = None,
        op_id: str | None = None,
    ) -> groundplan.work.containers.sections.section.Section:
        """Replace the content of a section."""

    def reorder(
        self,
        *,
        entity_type: groundplan.work.containers.fields.EntityType | Literal["PROJECT", "FEATURE", "TASK"],
        entity_id: str,
        ordered_ids: str | builtins.list[str],
        op_id: str | None = None,
    ) -> groundplan.work.containers.sections.section.Sections:
        """Reorder all sections of a container (orderedIds)."""

    def bulk_create(
        self,
        *,
        entity_type: groundplan.work.containers.fields.EntityType | Literal["PROJECT", "FEATURE", "TASK"],
        entity_id: str,
        sections: Sequence[NewSection],
        op_id: str | None = None,
    ) -> groundplan.work.containers.sections.section.Sections:
        """Add several (sections: [{title, content, …}]), all or none."""

    def delete(
        self,
        *,
        section_id: str,
        version: int,
        entity_type: groundplan.work.containers.fields.EntityType | Literal["PROJECT", "FEATURE", "TASK"] | None = None,
        entity_id: str | None = None,
        op_id: str | None = None,
    ) -> groundplan.work.containers.sections.change.DeletedSection:
        """Delete a section at the version you read."""

    def bulk_delete(
        self,
        *,
        section_ids: str | builtins.list[str],
        entity_type: groundplan.work.containers.fields.EntityType | Literal["PROJECT", "FEATURE", "TASK"] | None = None,
        entity_id: str | None = None,
        op_id: str | None = None,
    ) -> groundplan.work.containers.sections.change.DeletedSections:
        """Delete several sections, all or none."""

class TemplateVerbs:
    def get(
        self,
        *,
        id: str,
        include_sections: bool = False,
    ) -> groundplan.work.containers.templates.OneTemplate:
        """One template, with its sections on request."""

    def list(
        self,
        *,
        target_entity_type: groundplan.work.containers.fields.EntityType | Literal["PROJECT", "FEATURE", "TASK"] | None = None,
        is_built_in: bool | None = None,
        is_enabled: bool | None = None,
        tags: str | builtins.list[str] | None = None,
    ) -> groundplan.work.containers.templates.Templates:
        """Templates by target, tags and state."""

    def create(
        self,
        *,
        name: str,
        target_entity_type: groundplan.work.containers.fields.EntityType | Literal["PROJECT", "FEATURE", "TASK"],
        description: str = "",
        tags: str | builtins.list[str] = "",
        is_built_in: bool = False,
        is_protected: bool = False,
        created_by: str | None = None,
        op_id: str | None = None,
    ) -> groundplan.work.containers.templates.OneTemplate:
        """Create a template for PROJECT, FEATURE or TASK."""

    def update(
        self,
        *,
        id: str,
        name: str = ...,
        description: str = ...,
        target_entity_type: groundplan.work.containers.fields.EntityType | Literal["PROJECT", "FEATURE", "TASK"] = ...,
        tags: str | builtins.list[str] = ...,
        is_protected: bool = ...,
        op_id: str | None = None,
    ) -> groundplan.work.containers.templates.OneTemplate:
        """Update the name, description, target or tags of a template."""

    def enable(
        self,
        *,
        id: str,
        op_id: str | None = None,
    ) -> groundplan.work.containers.templates.OneTemplate:
        """Enable a template."""

    def disable(
        self,
        *,
        id: str,
        op_id: str | None = None,
    ) -> groundplan.work.containers.templates.OneTemplate:
        """Disable a template."""

    def add_section(
        self,
        *,
        id: str,
        title: str,
        usage_description: str = "",
        content_sample: str = "",
        content_format: groundplan.work.containers.sections.section.ContentFormat | Literal["PLAIN_TEXT", "MARKDOWN", "JSON", "CODE"] = "MARKDOWN",
        is_required: bool = False,
        ordinal: int | None = None,
        tags: str | builtins.list[str] = "",
        op_id: str | None = None,
    ) -> groundplan.work.containers.templates.AddedSection:
        """Add a section to a template, behind the last or at ordinal."""

    def delete(
        self,
        *,
        id: str,
        op_id: str | None = None,
    ) -> groundplan.work.containers.templates.DeletedTemplate:
        """Delete a template and its sections."""

    def apply(
        self,
        *,
        template_id: str,
        entity_type: groundplan.work.containers.fields.EntityType | Literal["PROJECT", "FEATURE", "TASK"],
        entity_id: str,
        op_id: str | None = None,
    ) -> groundplan.work.containers.templates.AppliedTemplate:
        """Append a template's sections to a container."""

class TagVerbs:
    def list(
        self,
        *,
        entity_type: groundplan.work.containers.tags.TaggedType | Literal["PROJECT", "FEATURE", "TASK", "SECTION"] | None = None,
        project_id: str | None = None,
    ) -> groundplan.work.containers.tags.Tags:
        """Tags and how often each is used."""

    def usage(
        self,
        *,
        tag: str,
        project_id: str | None = None,
    ) -> groundplan.work.containers.tags.TagUsage:
        """List the containers that have a tag."""

    def rename(
        self,
        *,
        old_tag: str,
        new_tag: str,
        dry_run: bool = False,
        project_id: str | None = None,
        op_id: str | None = None,
    ) -> groundplan.work.containers.tags.RenamedTag:
        """Rename a tag in one project; dryRun shows what changes."""

class AddAssumption(TypedDict):
    op: Literal["add_assumption"]
    assumption_text: str
    node: NotRequired[str | None]
    source: NotRequired[str | None]
    target: NotRequired[str | None]
    edge_type: NotRequired[groundplan.purpose.model.EdgeType | Literal["CONTRIBUTES_TO", "CAUSES", "DEPENDS_ON", "FEEDBACK"] | None]
    ref: NotRequired[str | None]
    risk_level: NotRequired[groundplan.purpose.model.RiskLevel | Literal["LOW", "MEDIUM", "HIGH"] | None]
    owner: NotRequired[str | None]
    review_by: NotRequired[str | None]

class AddEdge(TypedDict):
    op: Literal["add_edge"]
    source: str
    target: str
    edge_type: NotRequired[groundplan.purpose.model.EdgeType | Literal["CONTRIBUTES_TO", "CAUSES", "DEPENDS_ON", "FEEDBACK"] | None]
    ref: NotRequired[str | None]
    mechanism: NotRequired[str | None]
    confidence: NotRequired[groundplan.purpose.model.Confidence | Literal["low", "medium", "high"] | None]

class AddEvidence(TypedDict):
    type: str
    ref: str

class AddIndicator(TypedDict):
    op: Literal["add_indicator"]
    node: str
    name: str
    ref: NotRequired[str | None]
    unit: NotRequired[str | None]
    direction: NotRequired[groundplan.purpose.model.IndicatorDirection | Literal["increase", "decrease"] | None]
    baseline: NotRequired[float | None]
    baseline_verified: NotRequired[bool | None]
    target: NotRequired[float | None]
    method: NotRequired[str | None]
    frequency: NotRequired[str | None]
    owner: NotRequired[str | None]

class AddNode(TypedDict):
    op: Literal["add_node"]
    node_type: groundplan.purpose.model.NodeType | Literal["GOAL", "OUTCOME", "OUTPUT", "ACTIVITY"]
    title: str
    ref: NotRequired[str | None]
    description: NotRequired[str | None]
    narrative: NotRequired[str | None]
    owner: NotRequired[str | None]
    metadata: NotRequired[dict[str, Any] | None]

class ArtifactWrite(TypedDict):
    id: NotRequired[str | None]
    type: NotRequired[str]
    title: NotRequired[str]
    payload: NotRequired[dict[str, Any]]
    runId: NotRequired[str | None]
    createdAt: NotRequired[str | None]
    originId: NotRequired[str | None]

class AtomCheck(TypedDict):
    id: str
    version: int
    freshness: Literal["fresh", "changed", "orphaned", "unanchored"]
    commit: NotRequired[str | None]
    files: NotRequired[builtins.list[str]]

class CodeText(TypedDict):
    path: str
    text: str

class ConstraintWrite(TypedDict):
    id: NotRequired[str | None]
    key: NotRequired[str]
    domain: NotRequired[str]
    label: NotRequired[str]
    valueKind: NotRequired[groundplan.context.schemas.ValueKind | Literal["string", "number", "boolean", "enum", "json"]]
    value: NotRequired[Any]
    valueString: NotRequired[Any]
    valueNumber: NotRequired[Any]
    valueBoolean: NotRequired[Any]
    valueEnum: NotRequired[Any]
    valueJson: NotRequired[Any]
    provenance: NotRequired[groundplan.context.schemas.Provenance | Literal["unknown", "model-inferred", "source-backed", "user-entered"]]
    sourceId: NotRequired[str | None]
    snippet: NotRequired[str | None]
    rationale: NotRequired[str | None]
    runId: NotRequired[str | None]
    updatedBy: NotRequired[groundplan.context.schemas.UpdatedBy | Literal["user", "model", "system"] | None]
    createdAt: NotRequired[str | None]
    updatedAt: NotRequired[str | None]

class ContextDocument(TypedDict):
    sourcesById: dict[str, SourceWrite]
    inputsByPointer: dict[str, InputWrite]
    constraints: Sequence[ConstraintWrite]
    artifactsByType: dict[str, Sequence[ArtifactWrite]]
    format: NotRequired[Literal[1]]
    scopeId: NotRequired[Any]
    contextVersionId: NotRequired[Any]
    run: NotRequired[Any]
    missing: NotRequired[Any]
    warnings: NotRequired[Any]
    rev: NotRequired[Any]
    suggestions: NotRequired[builtins.list[Any] | None]
    displaced: NotRequired[Any]
    left_out: NotRequired[Any]
    next_cursor: NotRequired[Any]

class DecisionWrite(TypedDict):
    text: str
    rationale: str
    about: NotRequired[builtins.list[str] | None]
    outcome: NotRequired[str | None]
    supersedes: NotRequired[str | None]
    answers: NotRequired[str | None]

class DeletedItem(TypedDict):
    source_id: str
    reason: NotRequired[str]

class DocumentAssumption(TypedDict):
    key: str
    assumption_text: str
    node: NotRequired[str | None]
    source: NotRequired[str | None]
    target: NotRequired[str | None]
    edge_type: NotRequired[groundplan.purpose.model.EdgeType | Literal["CONTRIBUTES_TO", "CAUSES", "DEPENDS_ON", "FEEDBACK"] | None]
    risk_level: NotRequired[groundplan.purpose.model.RiskLevel | Literal["LOW", "MEDIUM", "HIGH"] | None]
    owner: NotRequired[str | None]
    review_by: NotRequired[str | None]

class DocumentEdge(TypedDict):
    source: str
    target: str
    edge_type: NotRequired[groundplan.purpose.model.EdgeType | Literal["CONTRIBUTES_TO", "CAUSES", "DEPENDS_ON", "FEEDBACK"]]
    mechanism: NotRequired[str | None]
    confidence: NotRequired[groundplan.purpose.model.Confidence | Literal["low", "medium", "high"] | None]

class DocumentIndicator(TypedDict):
    key: str
    node: str
    name: str
    unit: NotRequired[str | None]
    direction: NotRequired[groundplan.purpose.model.IndicatorDirection | Literal["increase", "decrease"] | None]
    baseline: NotRequired[float | None]
    baseline_verified: NotRequired[bool | None]
    target: NotRequired[float | None]
    method: NotRequired[str | None]
    frequency: NotRequired[str | None]
    owner: NotRequired[str | None]

class DocumentMeasurement(TypedDict):
    indicator: str
    value: float
    as_of: str
    note: NotRequired[str | None]

class DocumentNode(TypedDict):
    key: str
    node_type: groundplan.purpose.model.NodeType | Literal["GOAL", "OUTCOME", "OUTPUT", "ACTIVITY"]
    title: str
    description: NotRequired[str | None]
    narrative: NotRequired[str | None]
    owner: NotRequired[str | None]
    metadata: NotRequired[dict[str, Any] | None]

class DocumentWaiver(TypedDict):
    code: str
    refs: builtins.list[str]
    reason: str
    owner: str
    due: str

class Drop(TypedDict):
    op: Literal["drop"]
    node_id: str
    reason: str

Edge = TypedDict(
    "Edge",
    {
        "from": str,
        "to": str,
        "type": str,
        "remove": NotRequired[bool],
    },
)

class Filter(TypedDict):
    resolved: NotRequired[bool | None]
    outcome: NotRequired[Literal["done", "dropped"] | None]
    properties: NotRequired[dict[str, Any] | None]
    text: NotRequired[str | None]
    ancestor: NotRequired[str | None]
    parent: NotRequired[str | None]
    depends_on: NotRequired[str | None]
    depended_by: NotRequired[str | None]
    has_evidence_type: NotRequired[str | None]
    is_leaf: NotRequired[bool | None]
    is_actionable: NotRequired[bool | None]
    is_blocked: NotRequired[bool | None]
    claimed_by: NotRequired[str | None]

class InputWrite(TypedDict):
    pointer: str
    label: NotRequired[str]
    domain: NotRequired[str]
    required: NotRequired[bool]
    fieldType: NotRequired[str]
    options: NotRequired[builtins.list[str] | None]
    valueKind: NotRequired[groundplan.context.schemas.ValueKind | Literal["string", "number", "boolean", "enum", "json"]]
    value: NotRequired[Any]
    valueString: NotRequired[Any]
    valueNumber: NotRequired[Any]
    valueBoolean: NotRequired[Any]
    valueEnum: NotRequired[Any]
    valueJson: NotRequired[Any]
    provenance: NotRequired[groundplan.context.schemas.Provenance | Literal["unknown", "model-inferred", "source-backed", "user-entered"]]
    sourceIds: NotRequired[builtins.list[str]]
    evidenceSnippet: NotRequired[str | None]
    rationale: NotRequired[str | None]
    id: NotRequired[str | None]
    runId: NotRequired[str | None]
    updatedBy: NotRequired[groundplan.context.schemas.UpdatedBy | Literal["user", "model", "system"] | None]
    updatedAt: NotRequired[str | None]

class LinkWrite(TypedDict):
    sourceId: str
    pointer: NotRequired[str | None]
    constraint: NotRequired[str | None]

class MeasurementWrite(TypedDict):
    indicator: str
    value: float
    as_of: str
    source: NotRequired[str | None]
    note: NotRequired[str | None]

class Merge(TypedDict):
    op: Literal["merge"]
    source: str
    target: str

class Move(TypedDict):
    op: Literal["move"]
    node_id: str
    new_parent: str

class NewSection(TypedDict):
    title: str
    usageDescription: NotRequired[str]
    content: NotRequired[str]
    contentFormat: NotRequired[groundplan.work.containers.sections.section.ContentFormat | Literal["PLAIN_TEXT", "MARKDOWN", "JSON", "CODE"]]
    tags: NotRequired[str | builtins.list[str]]
    ordinal: NotRequired[int | None]

class PlanNode(TypedDict):
    ref: str
    summary: str
    parent_ref: NotRequired[str | None]
    depends_on: NotRequired[builtins.list[str]]
    context_links: NotRequired[builtins.list[str]]
    properties: NotRequired[dict[str, Any]]
    serves: NotRequired[builtins.list[str]]
    rests_on: NotRequired[builtins.list[str]]

class PolicyChanges(TypedDict):
    secrets: NotRequired[Literal["off", "warn", "refuse"]]
    evidence: NotRequired[Literal["off", "warn", "require"]]
    claims: NotRequired[Literal["soft", "enforced"]]
    overlap: NotRequired[Literal["off", "warn", "avoid"]]
    inherit_dependencies: NotRequired[bool]
    auto_resolve_parents: NotRequired[bool]
    claim_ttl_minutes: NotRequired[float | None]
    claim_minutes_people: NotRequired[float | None]
    agents: NotRequired[Literal["viewer", "editor", "owner"]]
    publish_role: NotRequired[Literal["owner", "editor"]]
    publish_gates: NotRequired[Literal["A", "AB"]]
    profile_min: NotRequired[Literal["light", "standard", "strict"]]

ProposedOperation = TypedDict(
    "ProposedOperation",
    {
        "kind": groundplan.purpose.compliance.checklist.OperationKind | Literal["create_node", "update_node", "delete_node", "create_edge", "update_edge", "delete_edge", "add_assumption", "update_assumption", "delete_assumption", "add_indicator", "update_indicator", "delete_indicator", "create_draft", "publish", "read"],
        "version": NotRequired[int | str | None],
        "node": NotRequired[str | None],
        "node_type": NotRequired[str | None],
        "title": NotRequired[str | None],
        "metadata": NotRequired[Any],
        "source": NotRequired[str | None],
        "target": NotRequired[str | float | None],
        "edge_type": NotRequired[str | None],
        "new_edge_type": NotRequired[str | None],
        "assumption": NotRequired[str | None],
        "assumption_text": NotRequired[str | None],
        "risk_level": NotRequired[str | None],
        "description": NotRequired[str | None],
        "narrative": NotRequired[str | None],
        "owner": NotRequired[str | None],
        "indicator": NotRequired[str | None],
        "name": NotRequired[Any],
        "unit": NotRequired[Any],
        "direction": NotRequired[Any],
        "baseline": NotRequired[Any],
        "baseline_verified": NotRequired[Any],
        "method": NotRequired[Any],
        "frequency": NotRequired[Any],
        "mechanism": NotRequired[str | None],
        "confidence": NotRequired[str | None],
        "review_by": NotRequired[str | None],
        "profile": NotRequired[str | None],
        "label": NotRequired[str | None],
        "from": NotRequired[int | str | None],
        "ref": NotRequired[Any],
        "was": NotRequired[Any],
        "parent_id": NotRequired[Any],
        "parent": NotRequired[Any],
        "children": NotRequired[Any],
        "path": NotRequired[Any],
        "tree": NotRequired[Any],
    },
)

class RelatedAtom(TypedDict):
    atomId: str
    reason: str
    name: NotRequired[str | None]
    missing: NotRequired[bool | None]

class RelatedMolecule(TypedDict):
    moleculeId: str
    reason: str
    name: NotRequired[str | None]
    missing: NotRequired[bool | None]

class Removals(TypedDict):
    inputs: NotRequired[builtins.list[str] | None]
    constraints: NotRequired[builtins.list[str] | None]
    sources: NotRequired[builtins.list[str] | None]
    artifacts: NotRequired[builtins.list[str] | None]

class RemoveAssumption(TypedDict):
    op: Literal["remove_assumption"]
    assumption: str

class RemoveEdge(TypedDict):
    op: Literal["remove_edge"]
    source: str
    target: str
    edge_type: NotRequired[groundplan.purpose.model.EdgeType | Literal["CONTRIBUTES_TO", "CAUSES", "DEPENDS_ON", "FEEDBACK"] | None]

class RemoveIndicator(TypedDict):
    op: Literal["remove_indicator"]
    indicator: str

class RemoveNode(TypedDict):
    op: Literal["remove_node"]
    node: str

class RequestWrite(TypedDict):
    question: str
    about: NotRequired[builtins.list[str] | None]
    to: NotRequired[str | None]

class ReviewWrite(TypedDict):
    assumption: str
    status: groundplan.purpose.model.AssumptionStatus | Literal["untested", "holding", "at_risk", "refuted"]
    reason: str
    evidence: NotRequired[str | None]

class SourceAtom(TypedDict):
    name: str
    knowledge: str
    paths: builtins.list[str]
    file: NotRequired[str]
    line: NotRequired[int | None]

class SourceEvidence(TypedDict):
    type: str
    text: str

class SourceItem(TypedDict):
    source_id: str
    title: str
    aliases: NotRequired[builtins.list[str]]
    fate: NotRequired[Literal["open", "done", "dropped", "held"]]
    hold_reason: NotRequired[str | None]
    source_status: NotRequired[str | None]
    state: NotRequired[str | None]
    priority: NotRequired[float | None]
    parent: NotRequired[str | None]
    depends_on: NotRequired[builtins.list[str]]
    links: NotRequired[Sequence[SourceLink]]
    sections: NotRequired[Sequence[SourceSection]]
    evidence: NotRequired[Sequence[SourceEvidence]]
    context_links: NotRequired[builtins.list[str]]
    tags: NotRequired[builtins.list[str]]
    properties: NotRequired[dict[str, Any]]
    is_group: NotRequired[bool]
    node: NotRequired[str | None]
    file: NotRequired[str]
    line: NotRequired[int | None]

class SourceLink(TypedDict):
    type: str
    source_id: str

class SourceMolecule(TypedDict):
    name: str
    knowledge: str
    related: NotRequired[Sequence[SourceRelation]]
    file: NotRequired[str]
    line: NotRequired[int | None]

class SourceRelation(TypedDict):
    name: str
    reason: NotRequired[str]

class SourceSection(TypedDict):
    title: str
    text: str

class SourceWrite(TypedDict):
    id: NotRequired[str | None]
    kind: NotRequired[groundplan.context.schemas.SourceKind | Literal["file", "url", "gis", "api", "manual"]]
    title: NotRequired[str]
    uri: NotRequired[str]
    fileId: NotRequired[str | None]
    mimeType: NotRequired[str | None]
    sizeBytes: NotRequired[int | None]
    parseStatus: NotRequired[groundplan.context.schemas.SourceParseStatus | Literal["pending", "parsed", "failed", "unsupported"]]
    excerpt: NotRequired[str | None]
    rawMeta: NotRequired[dict[str, Any]]
    runId: NotRequired[str | None]
    createdAt: NotRequired[str | None]
    originId: NotRequired[str | None]

class TagFilter(TypedDict):
    resolved: NotRequired[bool | None]
    outcome: NotRequired[Literal["done", "dropped"] | None]
    properties: NotRequired[dict[str, Any] | None]
    text: NotRequired[str | None]
    ancestor: NotRequired[str | None]
    parent: NotRequired[str | None]
    depends_on: NotRequired[str | None]
    depended_by: NotRequired[str | None]
    has_evidence_type: NotRequired[str | None]
    is_leaf: NotRequired[bool | None]
    is_actionable: NotRequired[bool | None]
    is_blocked: NotRequired[bool | None]
    claimed_by: NotRequired[str | None]
    tag: NotRequired[str | None]

class TaggedPlanNode(TypedDict):
    ref: str
    summary: str
    parent_ref: NotRequired[str | None]
    depends_on: NotRequired[builtins.list[str]]
    context_links: NotRequired[builtins.list[str]]
    properties: NotRequired[dict[str, Any]]
    serves: NotRequired[builtins.list[str]]
    rests_on: NotRequired[builtins.list[str]]
    tags: NotRequired[builtins.list[str]]

class TheoryDocument(TypedDict):
    nodes: Sequence[DocumentNode]
    edges: NotRequired[Sequence[DocumentEdge]]
    assumptions: NotRequired[Sequence[DocumentAssumption]]
    indicators: NotRequired[Sequence[DocumentIndicator]]
    waivers: NotRequired[Sequence[DocumentWaiver]]
    profile: NotRequired[groundplan.purpose.model.Profile | Literal["standard", "strict", "light"] | None]
    format: NotRequired[Literal[1]]
    measurements: NotRequired[Sequence[DocumentMeasurement]]

class Update(TypedDict):
    node_id: str
    resolved: NotRequired[bool]
    state: NotRequired[Any]
    summary: NotRequired[str]
    properties: NotRequired[dict[str, Any]]
    add_context_links: NotRequired[builtins.list[str]]
    remove_context_links: NotRequired[builtins.list[str]]
    add_evidence: NotRequired[Sequence[AddEvidence]]
    retract_note: NotRequired[str]
    serves: NotRequired[builtins.list[str]]
    rests_on: NotRequired[builtins.list[str]]
    expected_rev: NotRequired[int]
    claim: NotRequired[int]
    renew: NotRequired[bool]
    release: NotRequired[bool]
    hold: NotRequired[bool]

class UpdateAssumption(TypedDict):
    op: Literal["update_assumption"]
    assumption: str
    assumption_text: NotRequired[str]
    risk_level: NotRequired[groundplan.purpose.model.RiskLevel | Literal["LOW", "MEDIUM", "HIGH"] | None]
    owner: NotRequired[str | None]
    review_by: NotRequired[str | None]
    was: NotRequired[dict[str, Any]]

class UpdateEdge(TypedDict):
    op: Literal["update_edge"]
    source: str
    target: str
    edge_type: NotRequired[groundplan.purpose.model.EdgeType | Literal["CONTRIBUTES_TO", "CAUSES", "DEPENDS_ON", "FEEDBACK"] | None]
    new_edge_type: NotRequired[groundplan.purpose.model.EdgeType | Literal["CONTRIBUTES_TO", "CAUSES", "DEPENDS_ON", "FEEDBACK"] | None]
    mechanism: NotRequired[str | None]
    confidence: NotRequired[groundplan.purpose.model.Confidence | Literal["low", "medium", "high"] | None]
    was: NotRequired[dict[str, Any]]

class UpdateIndicator(TypedDict):
    op: Literal["update_indicator"]
    indicator: str
    name: NotRequired[str]
    unit: NotRequired[str | None]
    direction: NotRequired[groundplan.purpose.model.IndicatorDirection | Literal["increase", "decrease"] | None]
    baseline: NotRequired[float | None]
    baseline_verified: NotRequired[bool | None]
    target: NotRequired[float | None]
    method: NotRequired[str | None]
    frequency: NotRequired[str | None]
    owner: NotRequired[str | None]
    was: NotRequired[dict[str, Any]]

class UpdateNode(TypedDict):
    op: Literal["update_node"]
    node: str
    title: NotRequired[str]
    description: NotRequired[str | None]
    narrative: NotRequired[str | None]
    owner: NotRequired[str | None]
    node_type: NotRequired[groundplan.purpose.model.NodeType | Literal["GOAL", "OUTCOME", "OUTPUT", "ACTIVITY"]]
    metadata: NotRequired[dict[str, Any]]
    was: NotRequired[dict[str, Any]]

class WaiverWrite(TypedDict):
    code: str
    refs: builtins.list[str]
    reason: str
    owner: str
    due: str
