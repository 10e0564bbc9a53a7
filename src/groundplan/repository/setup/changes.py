"""Change files of a working copy in one step, record the changes, and undo them.

Every text is computed before the first file is written. If a file cannot be written, those before it are restored. What
was written is remembered in the git folder of the working copy, which is never committed: a file that still has that
text becomes exactly what it was; from one that was edited since, only our part is removed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from difflib import unified_diff
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from groundplan.kernel.errors import Unavailable
from groundplan.kernel.wording import quote_text
from groundplan.repository.rules.folder import Folder, UnusableFile
from groundplan.repository.setup.blocks import EditedText

CONTEXT_LINES = 2  # around a change
RECORD_FILE = "groundplan/setup.json"


class NotWritable(Unavailable):
    """The working copy cannot be written to."""

    code = "not_writable"

    def __init__(self, file: str, folder: Path, reason: str) -> None:
        super().__init__(
            f"{quote_text(file)} in {quote_text(str(folder))} {reason}; no file of the working copy was changed. Make "
            "it writable, or give the database a place of its own with groundplan init PATH",
            file=file,
        )


class SetupPart(NamedTuple):
    """One part of the set-up: its file, and functions that add and remove it."""

    folder: Path
    file: str
    add: Callable[[str | None], EditedText]
    remove: Callable[[str], EditedText]
    is_program: bool = False

    @property
    def shown_file(self) -> str:
        """The file in messages. A file in the git folder is shown with that folder."""
        return f".git/{self.file}" if self.folder.name == ".git" else self.file

    @property
    def key(self) -> str:
        """The name of the file in the record."""
        return str(self.folder / self.file)


class SetupChange(NamedTuple):
    """A file before and after a change. None means that it does not exist."""

    part: SetupPart
    before: str | None
    after: str | None

    @property
    def action(self) -> str:
        """The kind of the change: created, changed or removed."""
        return "created" if self.before is None else "removed" if self.after is None else "changed"

    @property
    def diff(self) -> list[str]:
        """The change in the format of `diff -u`."""
        before, after = ((text or "").splitlines() for text in (self.before, self.after))
        old, new = ("/dev/null" if text is None else self.part.shown_file for text in (self.before, self.after))
        return list(unified_diff(before, after, old, new, lineterm="", n=CONTEXT_LINES))


class KeptFile(NamedTuple):
    """A file that was not changed, and the reason."""

    file: str
    reason: str


class FileRecord(msgspec.Struct):
    """The text of a file before and after the set-up, and the folders that the set-up created for it."""

    before: str | None
    after: str | None
    folders: list[str] = []


class SetupRecord:
    """The record of the set-up of a working copy, in its git folder.

    What was installed for the person and not into the working copy is recorded as a file without a text.
    """

    def __init__(self, git_folder: Path) -> None:
        self._folder = Folder(git_folder)
        self.files: dict[str, FileRecord] = {}
        with suppress(UnusableFile, msgspec.DecodeError):  # without it, our parts are still found by their marks
            text = self._folder.read(RECORD_FILE)
            self.files = msgspec.json.decode(text or "{}", type=dict[str, FileRecord])

    def save(self) -> None:
        """Write the record, or remove its file if it is empty."""
        with suppress(UnusableFile):
            if self.files:
                self._keep_private()
                self._folder.write(RECORD_FILE, msgspec.json.encode(self.files).decode("utf-8"))
            elif self._folder.read(RECORD_FILE) is not None:
                self._folder.remove(RECORD_FILE)
        if not self.files:
            with suppress(OSError):
                (self._folder.root / RECORD_FILE).parent.rmdir()

    def _keep_private(self) -> None:
        """Create the record with access only for its owner, because the recorded settings may contain keys."""
        path = self._folder.root / RECORD_FILE
        with suppress(OSError):  # it exists, or writing it reports why not
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch(mode=0o600, exist_ok=False)


class PlannedSetup(NamedTuple):
    """The changes of a set-up or of its removal, and the files that it does not change."""

    changes: list[SetupChange]
    kept: list[KeptFile]

    def join(self, planned: PlannedSetup) -> PlannedSetup:
        """Return the changes of both plans."""
        return PlannedSetup(self.changes + planned.changes, self.kept + planned.kept)

    def to_data(self) -> dict[str, Any]:
        """Return the changes and the unchanged files as data for `--json`."""
        changes = [
            {"file": change.part.shown_file, "action": change.action, "diff": "\n".join(change.diff)}
            for change in self.changes
        ]
        return {"changes": changes, "kept": [kept._asdict() for kept in self.kept]}


def plan_additions(parts: Iterable[SetupPart]) -> PlannedSetup:
    """Return the changes that add or update every part."""
    return _plan(parts, lambda part, text: part.add(text))


def plan_removals(parts: Iterable[SetupPart], record: SetupRecord) -> PlannedSetup:
    """Return the changes that remove every part."""

    def remove(part: SetupPart, text: str | None) -> EditedText:
        written = record.files.get(part.key)
        if text is None:
            return EditedText(None)
        return EditedText(written.before) if written and text == written.after else part.remove(text)

    return _plan(parts, remove)


def apply_changes(changes: Sequence[SetupChange], record: SetupRecord) -> None:
    """Write all files or none, and record their earlier texts."""
    made = {change.part.key: _list_missing_folders(change.part) for change in changes}
    done: list[SetupChange] = []
    try:
        for change in changes:
            if Folder(change.part.folder).read(change.part.file) != change.before:
                raise UnusableFile("was changed meanwhile")
            _write(change.part, change.after, is_new=change.before is None)
            done.append(change)
    except UnusableFile as error:
        for written in reversed(done):
            with suppress(UnusableFile):  # it was writable a moment ago
                _write(written.part, written.before, is_new=written.after is None)
        for folders in made.values():
            _remove_empty(folders)
        raise NotWritable(change.part.shown_file, change.part.folder, error.reason) from None
    for change in changes:
        _remember(record, change, made[change.part.key])
    record.save()


def _plan(parts: Iterable[SetupPart], edit: Callable[[SetupPart, str | None], EditedText]) -> PlannedSetup:
    planned = PlannedSetup([], [])
    for part in parts:
        try:
            before = Folder(part.folder).read(part.file)
            edited = edit(part, before)
            if edited.text != before:
                _refuse_read_only(part)
                planned.changes.append(SetupChange(part, before, edited.text))
        except UnusableFile as error:
            edited = EditedText(None, error.reason)
        if edited.kept is not None:
            planned.kept.append(KeptFile(part.shown_file, edited.kept))
    return planned


def _refuse_read_only(part: SetupPart) -> None:
    """Check before any change that a file can be replaced; its folder must be writable."""
    folder = (part.folder / part.file).parent
    while not folder.exists() and folder != part.folder:
        folder = folder.parent
    if folder.is_dir() and not os.access(folder, os.W_OK | os.X_OK):
        raise NotWritable(part.shown_file, part.folder, "cannot be written, because its folder is read-only")


def _write(part: SetupPart, text: str | None, *, is_new: bool = False) -> None:
    folder = Folder(part.folder)
    if text is None:
        folder.remove(part.file)
        return
    folder.write(part.file, text)
    if part.is_program and is_new:
        path = part.folder / part.file
        path.chmod(path.stat().st_mode | 0o111)


def _remember(record: SetupRecord, change: SetupChange, folders: list[str]) -> None:
    part = change.part
    written = record.files.pop(part.key, None)
    if written is not None and change.before == written.after:
        original, folders = written.before, written.folders
    else:
        # The file may have our part already, from a commit of somebody else.
        original = None if change.before is None else part.remove(change.before).text
    if change.after is None or change.after == original:
        _remove_empty(folders)
    else:
        record.files[part.key] = FileRecord(original, change.after, folders)


def _list_missing_folders(part: SetupPart) -> list[str]:
    """Return the folders that do not exist yet. The innermost comes first."""
    path = part.folder / part.file
    return [str(above) for above in path.parents if above != part.folder and not above.exists()]


def _remove_empty(folders: Iterable[str]) -> None:
    for folder in folders:
        with suppress(OSError):  # something else is in it
            Path(folder).rmdir()
