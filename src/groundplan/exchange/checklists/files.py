"""The files of a checklist import, and the names that their items keep from one import to the next."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from groundplan.exchange.model import BadLines, UnreadableSource
from groundplan.exchange.text_files import find_conflict_marker, iter_files, read_text
from groundplan.repository.rules.folder import SKIPPED_FOLDERS
from groundplan.repository.working_copy import find_root


@dataclass(frozen=True, slots=True)
class ChecklistFile:
    """A file: its path, its name from the root of the repository, and its text."""

    path: str
    name: str
    text: str


def iter_checklists(path: Path, bad: BadLines, *, is_wanted: Callable[[str], bool]) -> Iterator[ChecklistFile]:
    """Yield a file, or the Markdown files below a folder whose names are wanted.

    Raises:
        UnreadableSource: there is no such file, or it is not text.
        BadLineFound: a file has conflict markers, and bad lines are not skipped.
    """
    if not path.exists():
        raise UnreadableSource(str(path), "no such file or folder")
    files = (file for file in iter_files(path, ".md") if is_wanted(file.name)) if path.is_dir() else [path]
    folder = path.absolute() if path.is_dir() else path.absolute().parent
    # Without a repository, the folder is part of the name: several folders may have a tasks.md.
    root = find_root(folder) or folder.parent
    for file in files:
        name = file.absolute().relative_to(root).as_posix()
        if SKIPPED_FOLDERS.intersection(Path(name).parts):
            continue
        text = read_text(file)
        if (line := find_conflict_marker(text)) is not None:
            bad.add(str(file), line, "is a conflict marker of a merge; resolve the merge first")
            continue
        yield ChecklistFile(str(file), name, text)
