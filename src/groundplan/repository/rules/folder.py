"""Read and write files below one folder, without following symbolic links.

A repository may contain the work of strangers. A link in it could direct a write to a shell's start file, or an import
to a private key, so each step of a path is opened on its own and links are refused. A file is replaced atomically.
"""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NoReturn

FILE_BYTES_MAX = 4 << 20
SKIPPED_FOLDERS = frozenset({".git", "node_modules"})  # large, and without handwritten rules

_FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# O_NONBLOCK: opening a pipe in place of a file must not block.
_READ_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_CREATE_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class UnusableFile(Exception):
    """The file cannot be used. The reason is a predicate that follows the name of the file."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Folder:
    """A folder and the text files below it, by relative path."""

    def __init__(self, root: Path) -> None:
        self.root = root

    @property
    def is_usable(self) -> bool:
        """True if the folder exists or can be created."""
        try:
            return self.root.is_dir() or not self.root.exists()
        except OSError:
            return True  # inaccessible; the first use reports why

    def read(self, path: str) -> str | None:
        """Return the text of a file, or None if it does not exist."""
        *above, name = _split_path(path)
        try:
            with self._open_folder(above, make=False) as folder:
                return _read_text(name, folder)
        except FileNotFoundError:
            return None
        except OSError as error:
            _refuse(error)

    def write(self, path: str, text: str) -> None:
        """Write a file, and create the folders above it."""
        *above, name = _split_path(path)
        raw = text.encode("utf-8")
        if len(raw) > FILE_BYTES_MAX:
            raise UnusableFile(f"would have {len(raw)} bytes, the limit is {FILE_BYTES_MAX}")
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            with self._open_folder(above, make=True) as folder:
                _replace(name, raw, folder)
        except OSError as error:
            _refuse(error)

    def remove(self, path: str) -> None:
        """Delete a file."""
        *above, name = _split_path(path)
        try:
            with self._open_folder(above, make=False) as folder:
                os.unlink(name, dir_fd=folder)
        except OSError as error:
            _refuse(error)

    def list_names(self, path: str, suffix: str) -> list[str]:
        """Return the sorted names in one folder that end with `suffix`; an empty list if the folder does not exist."""
        try:
            with self._open_folder(_split_path(path), make=False) as folder, os.scandir(folder) as entries:
                return sorted(entry.name for entry in entries if entry.name.endswith(suffix))
        except FileNotFoundError:
            return []
        except OSError as error:
            _refuse(error)

    def find_files(self, name: str) -> list[str]:
        """Return the sorted paths of all files with this name, without following links."""
        names = []
        for above, folders, files in os.walk(self.root):
            folders[:] = [folder for folder in folders if folder not in SKIPPED_FOLDERS]
            if name in files:
                names.append((Path(above) / name).relative_to(self.root).as_posix())
        return sorted(names)

    @contextmanager
    def _open_folder(self, steps: list[str], *, make: bool) -> Iterator[int]:
        # Links are allowed for the root only, which the caller chose.
        folder = os.open(self.root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            for step in steps:
                below = _open_below(step, folder, make=make)
                os.close(folder)
                folder = below
            yield folder
        finally:
            os.close(folder)


def to_display_path(path: str) -> str:
    """Return a path for an answer, with replacements for invalid UTF-8."""
    return path.encode("utf-8", "replace").decode("utf-8")


def _split_path(path: str) -> list[str]:
    steps = path.split("/")
    if any(step in ("", ".", "..") or "\0" in step for step in steps):
        raise UnusableFile("is not a path below the folder")
    return steps


def _open_below(step: str, folder: int, *, make: bool) -> int:
    try:
        return os.open(step, _FOLDER_FLAGS, dir_fd=folder)
    except FileNotFoundError:
        if not make:
            raise
        with suppress(FileExistsError):  # another process created it first
            os.mkdir(step, dir_fd=folder)
        return os.open(step, _FOLDER_FLAGS, dir_fd=folder)
    except OSError:
        if _is_link(step, folder):
            raise UnusableFile(f"is behind the symbolic link {step!r}, which is not followed") from None
        raise


def _is_link(name: str, folder: int) -> bool:
    return stat.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)


def _read_text(name: str, folder: int) -> str:
    try:
        file = os.open(name, _READ_FLAGS, dir_fd=folder)
    except FileNotFoundError:
        raise
    except OSError:
        if _is_link(name, folder):
            raise UnusableFile("is a symbolic link, which is not followed") from None
        raise
    try:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            raise UnusableFile("is not a regular file")
        with os.fdopen(file, "rb", closefd=False) as content:
            raw = content.read(FILE_BYTES_MAX + 1)
    finally:
        os.close(file)
    if len(raw) > FILE_BYTES_MAX:
        raise UnusableFile(f"is larger than {FILE_BYTES_MAX} bytes")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UnusableFile(f"is not UTF-8 text at byte {error.start}") from None


def _replace(name: str, raw: bytes, folder: int) -> None:
    mode = _get_mode(name, folder)
    # In the same folder, so that the rename stays on one file system.
    fresh = f".{secrets.token_hex(8)}.groundplan"
    file = os.open(fresh, _CREATE_FLAGS, 0o666, dir_fd=folder)
    try:
        with os.fdopen(file, "wb") as content:
            if mode is not None:
                os.fchmod(file, mode)
            content.write(raw)
        os.rename(fresh, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        os.unlink(fresh, dir_fd=folder)
        raise


def _get_mode(name: str, folder: int) -> int | None:
    """Return the permissions of the file to replace, or None if it does not exist."""
    try:
        mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
    except FileNotFoundError:
        return None
    if stat.S_ISLNK(mode):
        raise UnusableFile("is a symbolic link, which is not followed")
    if not stat.S_ISREG(mode):
        raise UnusableFile("is not a regular file")
    return stat.S_IMODE(mode)


def _refuse(error: OSError) -> NoReturn:
    raise UnusableFile(f"cannot be accessed: {error.strerror}") from None
