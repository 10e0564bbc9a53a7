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
    texts = {file: text for file in FILES if (text := _read(root, file)) is not None}
    if AGENTS_FILE in texts and _IMPORT.search(texts.get(CLAUDE_FILE, "")):
        del texts[CLAUDE_FILE]
    return list(texts) or [AGENTS_FILE]


def add_instructions(text: str | None, *, program: str) -> EditedText:
    """Return the file with the block, which is brought up to date if there is one."""
    block = format_block(BODY.format(program=program), comment=COMMENT)
    return replace_block(text or "", block) or EditedText(append_block(text or "", block))


def remove_instructions(text: str) -> EditedText:
    """Return the file without the block."""
    return remove_block(text)


def _read(root: Folder, file: str) -> str | None:
    """Return the text of a file; None if there is none, or it is a link to the other one. It may be unreadable."""
    try:
        return root.read(file)
    except UnusableFile:  # adding the block reports why
        return None if (root.root / file).is_symlink() else ""
