"""The part of `groundplan init` that is about a working copy: where its plan is, and what is set up around it."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple

from groundplan.configuration import Flags, Settings
from groundplan.discovery import CONFIG_NAMES, PLAN_FOLDER, REPOSITORY_DB_NAME, find_plans
from groundplan.git_folders import find_git_folders
from groundplan.kernel.errors import GroundplanError, Invalid
from groundplan.kernel.store.open_store import is_postgres
from groundplan.kernel.wording import PROGRAM, SHORT_NAME, find_nearest, join_alternatives, quote_text
from groundplan.repository.git import Repository, find_root
from groundplan.repository.rules.folder import Folder, UnusableFile
from groundplan.repository.setup import blocks
from groundplan.repository.setup.changes import (
    FileRecord,
    NotWritable,
    PlannedSetup,
    SetupPart,
    SetupRecord,
    apply_changes,
    plan_additions,
    plan_removals,
)
from groundplan.repository.setup.clients import CLIENTS, AiClient, find_clients
from groundplan.skills import SKILL_FILE, SKILL_NAMES
from groundplan.surfaces.cli import completion
from groundplan.surfaces.cli.failures import UsageError
from groundplan.surfaces.cli.invocation import CommandResult, Invocation
from groundplan.surfaces.cli.screen.output import GAP, Part
from groundplan.surfaces.cli.steps import Step, join_steps, list_section

PROJECT_CHARS_MAX = 60
IGNORED = f"# The database and its companions stay on this machine.\n{REPOSITORY_DB_NAME}*\n"


class RepositoryPlan(NamedTuple):
    """Where the plan of a repository is."""

    root: Path

    @property
    def db(self) -> str:
        """The database."""
        return str(self.root / PLAN_FOLDER / REPOSITORY_DB_NAME)

    @property
    def config_file(self) -> str:
        """The path of the configuration file of the repository."""
        return str(self.root / PLAN_FOLDER / CONFIG_NAMES[0])

    @property
    def project(self) -> str:
        """The name of the first project: that of the repository's folder."""
        return " ".join(self.root.name.split())[:PROJECT_CHARS_MAX] or "plan"


def choose_repository(flags: Flags, settings: Settings, *, own: bool) -> RepositoryPlan | None:
    """Return the repository that gets a plan in `.groundplan/`, or has one there; None if another plan is in force.

    A linked worktree shares the plan of the main working copy, and a repository below a plan uses that one; with `own`
    it gets its own.
    """
    root = find_root(Path.cwd())
    if root is None or is_named(flags, settings):
        return None
    if own:
        return RepositoryPlan(root)
    folders = find_git_folders(root)
    plan = RepositoryPlan((folders and folders.main_copy) or root)
    if settings.config_file is None:
        return None if Path(settings.db).exists() else plan
    is_its_plan = Path(settings.config_file).resolve() == Path(plan.config_file).resolve()
    return plan if is_its_plan and Path(settings.db).resolve() == Path(plan.db).resolve() else None


def is_named(flags: Flags, settings: Settings) -> bool:
    """Return whether the plan was named by a flag or the environment, and not found."""
    return flags.config is not None or settings.sources.get("db") in ("--db", "GROUNDPLAN_DB")


def find_working_copy(flags: Flags, settings: Settings) -> Path:
    """Return the root of the working copy that the plan in force is the plan of."""
    root = find_root(Path.cwd())
    if root is None:
        raise UsageError("this folder is in no git repository; run git init first")
    if is_named(flags, settings):
        raise UsageError(
            "clients and hooks find the plan of the repository by themselves, so none may be named here; "
            "leave out --db and --config, and unset GROUNDPLAN_DB"
        )
    in_force = settings.config_file or (settings.db if Path(settings.db).exists() else None)
    found = next(find_plans(str(root)), None)
    if in_force is not None and (
        found is None or Path(found.config_file or found.db or "").resolve() != Path(in_force).resolve()
    ):
        raise UsageError(
            f"the plan {in_force} is below the root of the repository, {root}, where clients and hooks start; "
            "run groundplan init in the root"
        )
    return root


def find_plan_above(root: Path) -> str | None:
    """Return the plan of a folder above a repository, if there is one."""
    found = next(find_plans(str(root.parent)), None)
    return None if found is None else found.config_file or found.db


def write_files(plan: RepositoryPlan) -> list[str]:
    """Write the configuration and the ignore file, unless they exist; return the files that were written."""
    folder = Folder(plan.root)
    texts = {
        f"{PLAN_FOLDER}/{CONFIG_NAMES[0]}": f"db_path: {REPOSITORY_DB_NAME}\nproject: {_quote_yaml(plan.project)}\n",
        f"{PLAN_FOLDER}/.gitignore": IGNORED,
    }
    written = []
    for path, text in texts.items():
        try:
            if folder.read(path) is None:
                folder.write(path, text)
                written.append(path)
        except UnusableFile as error:
            raise NotWritable(path, plan.root, error.reason) from None
    return written


def _quote_yaml(text: str) -> str:
    """Return a text as a YAML scalar."""
    return "'" + text.replace("'", "''") + "'"


NO_CLIENT = "none"


class SetupChoice(NamedTuple):
    """What a person wants to have set up in a working copy."""

    clients: list[str] | None = None  # None: those that are found
    instructions: bool = True
    hook: bool = False

    @property
    def is_given(self) -> bool:
        """Whether something was asked for that only a working copy can have."""
        return self.hook or any(name != NO_CLIENT for name in self.clients or ())


class NamedClientFile(Invalid):
    """The file of a client that was asked for cannot be changed."""

    code = "client_file"


class WorkingCopyParts:
    """What can be set up in one working copy, and what is."""

    def __init__(self, root: Path) -> None:
        self.root = root
        folders = find_git_folders(root)
        self.record = SetupRecord(folders.own if folders else root / ".git")

    def plan(self, choice: SetupChoice) -> PlannedSetup:
        """Return the changes that bring the working copy up to date."""
        named = [CLIENTS[name] for name in _check_names(choice.clients or [])]
        planned = plan_additions(self._list_parts(choice, named))
        refused = [kept for kept in planned.kept if kept.file in {client.file for client in named}]
        if refused:
            raise NamedClientFile(
                f"{refused[0].file} {refused[0].reason}; nothing was changed. Correct the file, then run this again",
                file=refused[0].file,
            )
        return planned

    def plan_removal(self) -> PlannedSetup:
        """Return the changes that take back everything that was set up here."""
        parts = [self._make_client_part(client) for client in CLIENTS.values()]
        texts = [file for file in blocks.FILES if not (self.root / file).is_symlink()]
        parts += map(self._make_instructions_part, texts)
        hook = None
        with suppress(GroundplanError):  # without git there is no hook
            hook = self._make_hook_part()
        # A person, or another worktree, may have written it.
        if hook is not None and (hook.key in self.record.files or hook.folder == self.root):
            parts.append(hook)
        return plan_removals(parts, self.record)

    def _list_parts(self, choice: SetupChoice, named: list[AiClient]) -> Iterator[SetupPart]:
        for client in named if choice.clients else find_clients(self.root):
            yield self._make_client_part(client)
        if choice.instructions:
            yield from map(self._make_instructions_part, blocks.choose_files(Folder(self.root)))
        if choice.hook:
            hook = self._make_hook_part()
            if hook is None:
                raise UsageError(
                    "git runs the hooks of a folder outside of this repository (core.hooksPath), which others use too; "
                    f"let its {blocks.HOOK} start: {PROGRAM} after-commit"
                )
            yield hook

    def _make_client_part(self, client: AiClient) -> SetupPart:
        return SetupPart(self.root, client.file, client.add_entry, client.remove_entry)

    def _make_instructions_part(self, file: str) -> SetupPart:
        add = partial(blocks.add_instructions, program=SHORT_NAME)
        return SetupPart(self.root, file, add, blocks.remove_instructions)

    def _make_hook_part(self) -> SetupPart | None:
        """Return the part of the hook, or None if the hooks are not those of this repository."""
        hooks = Repository(self.root).find_hooks_folder()
        folders = find_git_folders(self.root)
        for folder in (folders.shared if folders else None, self.root):
            if folder is not None and hooks.resolve().is_relative_to(folder.resolve()):
                file = str(hooks.resolve().relative_to(folder.resolve()) / blocks.HOOK)
                # A hook in the working copy is shared, so it names no path of this machine.
                program = PROGRAM if folder == self.root or shutil.which(PROGRAM) else str(Path(sys.argv[0]).absolute())
                add = partial(blocks.add_hook, program=program, is_started=os.access(hooks / blocks.HOOK, os.X_OK))
                return SetupPart(folder, file, add, blocks.remove_hook, is_program=True)
        return None


def _check_names(names: list[str]) -> list[str]:
    allowed = [*CLIENTS, NO_CLIENT]
    for name in names:
        if name not in allowed:
            near = find_nearest(name, allowed)
            hint = f"did you mean {near}?" if near else f"use {join_alternatives(allowed)}"
            raise UsageError(f"--client does not know {quote_text(name)}; {hint}", allowed=allowed)
    return [name for name in dict.fromkeys(names) if name != NO_CLIENT]


COMPLETION = "completion"  # in the record
SKILL_FOLDERS = ("skills", "*/skills")  # as .claude/skills; --skills may have named any other


class PreparedSetup(NamedTuple):
    """The planned changes of a working copy. Nothing is written before `apply`."""

    parts: WorkingCopyParts
    planned: PlannedSetup
    notes: list[str]

    def apply(self, *, with_completion: bool) -> Step:
        """Write the files, and return what was written."""
        if with_completion:
            self.parts.record.files[COMPLETION] = FileRecord(None, None)
        apply_changes(self.planned.changes, self.parts.record)
        return self.describe("Files of the working copy:")

    def describe(self, title: str) -> Step:
        """Return the changes and the notes."""
        data = self.planned.to_data() | ({"notes": self.notes} if self.notes else {})
        return Step(data, list_setup(self.planned, self.notes, title))


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
    parts = WorkingCopyParts(root)
    planned = parts.plan(choice)
    notes = list(_list_notes(root, settings, plan, is_client_planned=bool(planned.changes)))
    return PreparedSetup(parts, planned, notes)


def undo_setup(invocation: Invocation, *, dry_run: bool) -> CommandResult:
    """Remove everything that `groundplan init` has written into the working copy. The plan stays."""
    root = find_root(Path.cwd())
    if root is None:
        raise UsageError("this folder is in no git repository, so groundplan init has set up nothing else here")
    parts = WorkingCopyParts(root)
    planned = parts.plan_removal()
    removed: list[str] = []
    if not dry_run:
        if parts.record.files.pop(COMPLETION, None) is not None:
            removed += map(str, completion.uninstall())
        apply_changes(planned.changes, parts.record)
    skills = find_skill_folders(root)
    data = {**planned.to_data(), "removed": removed, "skills_kept": skills, "dry_run": dry_run}

    seen = f" ({', '.join(skills)})" if skills else ""
    return join_steps(
        Step(
            data,
            [
                *([] if planned.changes or removed else ["There is nothing to take back."]),
                *list_setup(planned, [], "Would be taken back:" if dry_run else "Taken back:"),
                *(f"  removed  {path}" for path in removed),
                GAP,
                "The plan itself stays where it is: groundplan where shows its database and its configuration.",
                f"So do skills that --skills has installed{seen}: remove their folders if nobody needs them.",
            ],
        )
    )


def find_skill_folders(root: Path) -> list[str]:
    """Return the folders of a working copy in which clients look for skills and that have some of ours."""
    found = {
        folder.relative_to(root).as_posix()
        for pattern in SKILL_FOLDERS
        for folder in root.glob(pattern)
        if any((folder / name / SKILL_FILE).exists() for name in SKILL_NAMES)
    }
    return sorted(found)


def list_setup(planned: PlannedSetup, notes: Iterable[str], title: str) -> Iterator[Part]:
    """Yield the changes of files, first as a list and then line by line."""
    yield from list_section(title, (f"{change.action:8} {change.part.shown_file}" for change in planned.changes))
    for change in planned.changes:
        yield from (GAP, *change.diff)
    yield from list_section("Not changed:", (f"{kept.file} {kept.reason}" for kept in planned.kept))
    yield from list_section("Warnings:", notes)


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
    if is_client_planned and shutil.which(PROGRAM) is None:
        yield (
            f"{PROGRAM} is not on the PATH, so clients and agents will not find it; "
            "install it for your account, with uv tool install or pipx install"
        )
