"""A short name of the program of one's own choice: a link beside the installed program.

`pl` is installed with the program. Another name needs no second installation: pip, uv and pipx put the program into a
folder on the PATH, and a link in it starts the same file.
"""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

from groundplan.kernel.wording import quote_text
from groundplan.repository.setup.blocks import EditedText
from groundplan.setting_values import SHORT_NAME_DEFAULT, check_short_name
from groundplan.surfaces.cli.failures import UsageError

PROGRAM = "groundplan"
OPTION = "--short"
_LINE = re.compile(r"^short_name:.*(?:\n|\Z)", re.MULTILINE)


def refuse_taken_name(name: str) -> None:
    """Check a short name before anything is changed."""
    check_short_name(name, OPTION)
    found = shutil.which(name)
    if found is not None and name not in (PROGRAM, SHORT_NAME_DEFAULT) and not _is_own_link(Path(found)):
        raise UsageError(f"{quote_text(name)} is another program already, {found}; choose another name after {OPTION}")


def create_link(name: str) -> str | None:
    """Make the program start under a name; return what the person has to do instead if that is not possible."""
    if name in (PROGRAM, SHORT_NAME_DEFAULT):
        return None
    place = _find_place(name)
    if place is not None:
        if _is_own_link(place):
            return None
        try:
            place.symlink_to(PROGRAM)
        except OSError:  # not writable, or taken by something that cannot be started
            place = None
    return None if place else f"add this line to the start file of your shell: alias {name}={PROGRAM}"


def remove_link(name: str) -> str | None:
    """Remove the link of a name, and return it, if there was one."""
    place = _find_place(name)
    if place is None or name in (PROGRAM, SHORT_NAME_DEFAULT) or not _is_own_link(place):
        return None
    place.unlink()
    return str(place)


def add_setting(text: str | None, name: str) -> EditedText:
    """Return a configuration with the short name."""
    line = f"short_name: {name}\n"
    if text is None or name == SHORT_NAME_DEFAULT:
        return EditedText(text)
    if _LINE.search(text):
        return EditedText(_LINE.sub(line, text, count=1))
    return EditedText(f"{text}{'' if not text or text.endswith(chr(10)) else chr(10)}{line}")


def remove_setting(text: str) -> EditedText:
    """Return a configuration without a short name."""
    return EditedText(_LINE.sub("", text, count=1))


def _find_place(name: str) -> Path | None:
    """Return where the link is or would be: beside the program, as the shell finds it."""
    program = shutil.which(PROGRAM)
    return None if program is None else Path(program).absolute().parent / name


def _is_own_link(path: Path) -> bool:
    try:
        return os.readlink(path) == PROGRAM  # noqa: PTH115 - compared as text, because it is relative
    except OSError:
        return False
