"""Detect folders that a program copies to other machines, because a SQLite database in such a folder gets damaged.

Such programs copy one file at a time, while SQLite changes the database and its log together; and two machines that
both write are merged by copying one file over the other.
"""

from __future__ import annotations

import os
from pathlib import Path

REMEDY = (
    "move the repository out of that folder, or keep only the database elsewhere: "
    "put db_path: /another/folder/plan.db into the configuration"
)

# By the name of a folder on the way, in lower case; the name of an account may follow, as in "OneDrive - Company".
_FOLDER_NAMES = {
    "dropbox": "Dropbox",
    "onedrive": "OneDrive",
    "icloud drive": "iCloud Drive",
    "com~apple~clouddocs": "iCloud Drive",
    "mobile documents": "iCloud Drive",
    "google drive": "Google Drive",
    "googledrive": "Google Drive",
    "nextcloud": "Nextcloud",
    "owncloud": "ownCloud",
    "pcloud drive": "pCloud",
}
_MOUNTS = "CloudStorage"  # where macOS keeps such folders, as in "CloudStorage/GoogleDrive-ada@example.org"
# By a file or folder that the program keeps in the folder that it copies.
_MARKS = {
    ".stfolder": "Syncthing",
    ".dropbox": "Dropbox",
    ".dropbox.cache": "Dropbox",
    ".owncloudsync.log": "ownCloud",
    ".nextcloudsync.log": "Nextcloud",
    ".tmp.driveupload": "Google Drive",
}


def find_sync_program(folder: Path) -> str | None:
    """Return the name of the program that copies a folder to other machines, or None if none seems to."""
    for above in (folder, *folder.parents):
        service = next((program for start, program in _FOLDER_NAMES.items() if _is_called(above, start)), None)
        service = service or next((program for mark, program in _MARKS.items() if os.path.lexists(above / mark)), None)
        if service:
            return service
    return None


def describe_danger(db: str) -> str | None:
    """Return the reason why a database should not stay in its folder; None if no program copies the folder."""
    program = find_sync_program(Path(db).absolute().parent)
    if program is None:
        return None
    return (
        f"the folder of the database is synced with other machines by {program}, which copies the database and its "
        "log one after the other and can damage both"
    )


def _is_called(folder: Path, start: str) -> bool:
    """Return True if a folder has this name, possibly followed by the name of an account."""
    name = folder.name.lower()
    is_mounted = folder.parent.name == _MOUNTS
    return name == start or name.startswith((f"{start} ", f"{start}-" if is_mounted else f"{start} "))
