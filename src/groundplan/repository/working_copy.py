"""The working copy beside a session: turns paths as people and agents have them into paths from its root.

Nothing is read before the first path. Then a folder with `.git` is looked for, upwards from the given one. Git itself
is not started.
"""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path

from groundplan.knowledge.paths.names import is_drive

FROM_ROOT = ":/"  # begins a pattern that starts at the root, as in git


class WorkingCopy:
    """The working copy around a folder, by default the current one.

    A relative path starts at the folder. With `starts_at_root` it starts at the root, unless only the folder has it:
    agents know paths from the root, but may have been started below it. With `is_chosen`, the folder itself is the root
    where there is no repository. `advice` says what to do where no root is known.
    """

    def __init__(
        self,
        folder: str = ".",
        *,
        starts_at_root: bool = False,
        is_chosen: bool = False,
        advice: str = "run this command in the repository",
    ) -> None:
        self.advice = advice
        self._folder = folder
        self._starts_at_root = starts_at_root
        self._is_chosen = is_chosen

    @property
    def root(self) -> str | None:
        """The root of the working copy, or None if the folder is in none."""
        return None if self._places is None else str(self._places[1])

    @property
    def folder_names(self) -> tuple[str, ...]:
        """The names from the root to the folder; none at the root, or if no root is known."""
        return () if self._places is None else self._places[0].relative_to(self._places[1]).parts

    def spell_pattern(self, pattern: str) -> str:
        """Return how a pattern from the root is written here."""
        return pattern if self._starts_at_root or not self.folder_names else FROM_ROOT + pattern

    def locate(self, path: str) -> str:
        """Return a path from the root, or the path itself if it is outside of the working copy or none is known."""
        if self._places is None or is_drive(path.partition("/")[0]):
            return path
        folder, root = self._places
        try:
            if self._starts_at_root and (os.path.lexists(root / path) or not os.path.lexists(folder / path)):
                folder = root
            return self._strip_root(Path(os.path.normpath(folder / path))) or path
        except (OSError, ValueError, RuntimeError):  # no file can have this name, or links run in a circle
            return path

    def is_folder(self, path: str) -> bool | None:
        """Return whether a path from the root is a folder, or None if it does not exist or no root is known."""
        if self._places is None:
            return None
        place = self._places[1] / path
        try:
            return place.is_dir() if os.path.lexists(place) else None
        except OSError:  # above it is something that may not be read
            return None

    @cached_property
    def _places(self) -> tuple[Path, Path] | None:
        """The folder and the root, or None if there is no root."""
        try:
            folder = Path(os.path.normpath(Path(self._folder).absolute()))
        except OSError:  # the current directory was deleted
            return None
        root = find_root(folder) or (folder if self._is_chosen else None)
        return None if root is None else (folder, root)

    @cached_property
    def _roots(self) -> tuple[Path, ...]:
        """The root as it was found, and without symbolic links."""
        return () if self._places is None else (self._places[1], self._places[1].resolve())

    def _strip_root(self, place: Path) -> str | None:
        """Return an absolute path without the root, or None if it is outside."""
        # The way to the working copy may lead over symbolic links. The file itself may be one that git keeps.
        return self._strip_either_root(place) or self._strip_either_root(place.parent.resolve() / place.name)

    def _strip_either_root(self, place: Path) -> str | None:
        root = next(filter(place.is_relative_to, self._roots), None)
        return None if root is None else place.relative_to(root).as_posix()


def find_root(folder: Path) -> Path | None:
    """Return the closest folder with `.git`: this one, or one above it."""
    for above in (folder, *folder.parents):
        try:
            if (above / ".git").exists():
                return above
        except OSError:  # it may not be read
            continue
    return None
