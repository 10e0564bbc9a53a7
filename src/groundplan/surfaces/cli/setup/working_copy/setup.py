"""The steps of `groundplan init` in a working copy: plan every change, show it, make it, take it back."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from groundplan.configuration import Settings
from groundplan.git_folders import find_git_folders
from groundplan.kernel.store.open_store import is_postgres
from groundplan.repository.git import find_root
from groundplan.repository.setup.changes import FileRecord, PlannedSetup, apply_changes
from groundplan.skills import SKILL_FILE, SKILL_NAMES
from groundplan.surfaces.cli import completion
from groundplan.surfaces.cli.failures import UsageError
from groundplan.surfaces.cli.invocation import CommandResult, Invocation
from groundplan.surfaces.cli.setup.working_copy import short_name
from groundplan.surfaces.cli.setup.working_copy.parts import SetupChoice, WorkingCopyParts
from groundplan.surfaces.cli.setup.working_copy.repository_plan import (
    RepositoryPlan,
    find_plan_above,
    find_working_copy,
)

COMPLETION = "completion"  # in the record
SKILL_FOLDERS = ("skills", "*/skills")  # as .claude/skills; --skills may have named any other


@dataclass(slots=True)
class PreparedSetup:
    """The planned changes of a working copy. Nothing is written before `finish`."""

    parts: WorkingCopyParts
    planned: PlannedSetup
    short_name: str | None = None
    notes: list[str] = field(default_factory=list)
    installs_completion: bool = False

    def finish(self, made: CommandResult) -> CommandResult:
        """Write the files, and return the result of `groundplan init` with what was written."""
        if self.short_name is not None:  # the configuration may be new
            self.planned = self.planned.join(self.parts.plan_setting(self.short_name))
        if self.installs_completion:
            self.parts.record.files[COMPLETION] = FileRecord(None, None)
        apply_changes(self.planned.changes, self.parts.record)
        if self.short_name is not None and (by_hand := short_name.create_link(self.short_name)):
            self.notes.append(f"the name {self.short_name} could not be installed; {by_hand}")
        return self.describe(made)

    def describe(self, made: CommandResult, title: str = "Files of the working copy:") -> CommandResult:
        """Return a result with the changes and the notes after it."""
        data = {**made.data, **self.planned.to_data()}
        if self.notes:
            data["notes"] = self.notes

        def draw() -> None:
            made.draw()
            draw_setup(self.planned, self.notes, title)

        return CommandResult(data, draw)


def prepare_setup(invocation: Invocation, plan: RepositoryPlan | None, choice: SetupChoice) -> PreparedSetup | None:
    """Return what to change in the working copy; None if there is none and nothing was asked for."""
    settings = invocation.settings
    try:
        root = find_working_copy(invocation.flags, settings)
    except UsageError:
        if choice.is_given:
            raise
        return None
    if is_postgres(settings.db) and not choice.is_given:
        return None
    if choice.short_name is not None:
        short_name.refuse_taken_name(choice.short_name)
    parts = _make_parts(root, settings, plan, choice.short_name)
    planned = parts.plan(choice)
    notes = list(_list_notes(root, settings, plan, is_client_planned=bool(planned.changes)))
    return PreparedSetup(parts, planned, choice.short_name, notes)


def undo_setup(invocation: Invocation, *, dry_run: bool) -> CommandResult:
    """Remove everything that `groundplan init` has written into the working copy. The plan stays."""
    root = find_root(Path.cwd())
    if root is None:
        raise UsageError("this folder is in no git repository, so groundplan init has set up nothing else here")
    settings = invocation.settings
    parts = _make_parts(root, settings, None, None)
    planned = parts.plan_removal()
    removed: list[str] = []
    if not dry_run:
        if parts.record.files.pop(COMPLETION, None) is not None:
            removed += map(str, completion.uninstall())
        apply_changes(planned.changes, parts.record)
        link = short_name.remove_link(settings.short_name)
        removed += [link] if link else []
    skills = find_skill_folders(root)
    data = {**planned.to_data(), "removed": removed, "skills_kept": skills, "dry_run": dry_run}

    def draw() -> None:
        from groundplan.surfaces.cli.terminal import echo

        if not (planned.changes or removed):
            echo("There is nothing to take back.")
        draw_setup(planned, [], "Would be taken back:" if dry_run else "Taken back:")
        echo(*(f"  removed  {path}" for path in removed))
        echo("", "The plan itself stays where it is: groundplan where shows its database and its configuration.")
        seen = f" ({', '.join(skills)})" if skills else ""
        echo(f"So do skills that --skills has installed{seen}: remove their folders if nobody needs them.")

    return CommandResult(data, draw)


def find_skill_folders(root: Path) -> list[str]:
    """Return the folders of a working copy in which clients look for skills and that have some of ours."""
    found = {
        folder.relative_to(root).as_posix()
        for pattern in SKILL_FOLDERS
        for folder in root.glob(pattern)
        if any((folder / name / SKILL_FILE).exists() for name in SKILL_NAMES)
    }
    return sorted(found)


def draw_setup(planned: PlannedSetup, notes: Iterable[str], title: str) -> None:
    """Print the changes of files, first as a list and then line by line."""
    from groundplan.surfaces.cli.terminal import echo, echo_list

    echo_list(title, (f"{change.action:8} {change.part.shown_file}" for change in planned.changes))
    for change in planned.changes:
        echo("", *change.diff)
    echo_list("Not changed:", (f"{kept.file} {kept.reason}" for kept in planned.kept))
    echo_list("Warnings:", notes)


def _make_parts(
    root: Path, settings: Settings, plan: RepositoryPlan | None, new_short_name: str | None
) -> WorkingCopyParts:
    place = plan or RepositoryPlan(root)
    return WorkingCopyParts(
        root,
        settings.config_file or place.config_file,
        short_name=new_short_name or settings.short_name,
    )


def _list_notes(
    root: Path, settings: Settings, plan: RepositoryPlan | None, *, is_client_planned: bool
) -> Iterable[str]:
    """Yield what a person should know about where the plan is and who finds it."""
    folders = find_git_folders(root)
    above = find_plan_above(root)
    if plan is not None and plan.root != root:
        yield f"this worktree shares the plan of the main working copy, {plan.root}; for one of its own: --own"
    elif plan is not None and above is not None:
        yield f"there is another plan above this repository, {above}; commands in here use the nearer one"
    elif plan is None and above is not None and (settings.config_file or settings.db) == above:
        kind = "submodule" if folders and "modules" in folders.own.parts else "repository"
        yield f"this {kind} uses the plan above it, {above}; for one of its own: groundplan init --own"
    if is_client_planned and shutil.which(short_name.PROGRAM) is None:
        yield (
            f"{short_name.PROGRAM} is not on the PATH, so clients and agents will not find it; "
            "install it for your account, with uv tool install or pipx install"
        )
