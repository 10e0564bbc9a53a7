"""The parts of a working copy that `groundplan init` sets up: clients, instructions, the hook, the short name."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple

from groundplan.git_folders import find_git_folders
from groundplan.kernel.errors import GroundplanError, Invalid
from groundplan.kernel.wording import find_nearest, join_alternatives, quote_text
from groundplan.repository.git import Repository
from groundplan.repository.rules.folder import Folder
from groundplan.repository.setup import blocks
from groundplan.repository.setup.changes import PlannedSetup, SetupPart, SetupRecord, plan_additions, plan_removals
from groundplan.repository.setup.clients import CLIENTS, AiClient, find_clients
from groundplan.surfaces.cli.failures import UsageError
from groundplan.surfaces.cli.setup.working_copy.short_name import PROGRAM, add_setting, remove_setting

NO_CLIENT = "none"


class SetupChoice(NamedTuple):
    """What a person wants to have set up in a working copy."""

    clients: list[str] | None = None  # None: those that are found
    instructions: bool = True
    hook: bool = False
    short_name: str | None = None

    @property
    def is_given(self) -> bool:
        """Whether something was asked for that only a working copy can have."""
        return self.hook or bool(self.short_name) or any(name != NO_CLIENT for name in self.clients or ())


class NamedClientFile(Invalid):
    """The file of a client that was asked for cannot be changed."""

    code = "client_file"


class WorkingCopyParts:
    """What can be set up in one working copy, and what is."""

    def __init__(self, root: Path, config_file: str, *, short_name: str) -> None:
        self.root = root
        self._config_file = Path(config_file).absolute()
        self._short_name = short_name
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

    def plan_setting(self, name: str) -> PlannedSetup:
        """Return the change that writes a short name into the configuration, which must exist by now."""
        return plan_additions([self._make_setting_part(name)])

    def plan_removal(self) -> PlannedSetup:
        """Return the changes that take back everything that was set up here."""
        parts = [self._make_client_part(client) for client in CLIENTS.values()]
        texts = [file for file in blocks.FILES if not (self.root / file).is_symlink()]
        parts += map(self._make_instructions_part, texts)
        shared = [self._make_setting_part(self._short_name)]
        with suppress(GroundplanError):  # without git there is no hook
            shared += filter(None, [self._make_hook_part()])
        # A person, or another worktree, may have written these.
        parts += [part for part in shared if part.key in self.record.files or part.folder == self.root]
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
        add = partial(blocks.add_instructions, program=self._short_name)
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

    def _make_setting_part(self, name: str) -> SetupPart:
        file = self._config_file
        return SetupPart(file.parent, file.name, partial(add_setting, name=name), remove_setting)


def _check_names(names: list[str]) -> list[str]:
    allowed = [*CLIENTS, NO_CLIENT]
    for name in names:
        if name not in allowed:
            near = find_nearest(name, allowed)
            hint = f"did you mean {near}?" if near else f"use {join_alternatives(allowed)}"
            raise UsageError(f"--client does not know {quote_text(name)}; {hint}", allowed=allowed)
    return [name for name in dict.fromkeys(names) if name != NO_CLIENT]
