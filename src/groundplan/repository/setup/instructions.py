"""The block in AGENTS.md or CLAUDE.md that tells agents that this repository has a plan, and how to use it."""

from __future__ import annotations

import re

from groundplan.repository.rules.folder import Folder, UnusableFile
from groundplan.repository.setup.marked_block import EditedText, append_block, format_block, remove_block, replace_block

AGENTS_FILE = "AGENTS.md"
CLAUDE_FILE = "CLAUDE.md"
FILES = (AGENTS_FILE, CLAUDE_FILE)
COMMENT = "<!--"

_IMPORT = re.compile(r"^@(?:\./)?AGENTS\.md\s*$", re.MULTILINE)

BODY = """\
## The plan of this repository

Tasks, what is known about files, facts and goals are kept in Groundplan, not in lists in Markdown.

- Before you begin: `{program} next`, then `{program} take ID`. `{program} show ID` has the details and why it is done.
- Before you change a file: `groundplan knowledge context FILE`.
- New work, or work that you find: `{program} add "Title"`; what has to wait: `{program} block ID --on OTHER`.
- When it is done: `{program} done ID -e commit:SHA -m "what was found"`. Name the task in the commit: `plan-ID`.

With the MCP server `groundplan`, use its tools instead: `graph_next`, `query_graph`, `graph_plan`, `graph_update`.
"""


def choose_files(root: Folder) -> list[str]:
    """Return the files that get the block: those that exist, or AGENTS.md. One that includes AGENTS.md needs none."""
    found = [file for file in FILES if _has_own_text(root, file)]
    if AGENTS_FILE in found and CLAUDE_FILE in found and _IMPORT.search(root.read(CLAUDE_FILE) or ""):
        found.remove(CLAUDE_FILE)
    return found or [AGENTS_FILE]


def add_instructions(text: str | None, *, program: str) -> EditedText:
    """Return the file with the block, which is brought up to date if there is one."""
    block = format_block(BODY.format(program=program), comment=COMMENT)
    return replace_block(text or "", block) or EditedText(append_block(text or "", block))


def remove_instructions(text: str) -> EditedText:
    """Return the file without the block."""
    return remove_block(text)


def _has_own_text(root: Folder, file: str) -> bool:
    """Return whether the file exists. A link to the other file does not count."""
    try:
        return root.read(file) is not None
    except UnusableFile:
        return not (root.root / file).is_symlink()
