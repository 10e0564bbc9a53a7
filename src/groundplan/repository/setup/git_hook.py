"""The git hook that looks at every new commit: it checks the knowledge and links the commit to the tasks it names.

It is a block in the hook `post-commit`, which runs when the commit exists, so that nothing it does can prevent one. A
hook that is there already keeps its text; the block goes to its top, because a script may end early.
"""

from __future__ import annotations

import re
import shlex

from groundplan.repository.rules.line_breaks import detect_line_breaks
from groundplan.repository.setup.marked_block import EditedText, format_block, remove_block, replace_block

HOOK = "post-commit"
SHELL = "#!/bin/sh\n"
COMMENT = "#"

_SHELL_SCRIPT = re.compile(r"#! *(?:/\S*/)?(?:env +)?(?:\S*/)?(?:sh|bash|dash|ksh|zsh)(?: +-[a-z]+)*\r?$")

# Commits of a rebase are skipped: they were seen when they were made, and there may be hundreds.
BODY = """\
if command -v {program} >/dev/null 2>&1 && [ ! -d "$(git rev-parse --git-path rebase-merge)" ]; then
  {program} after-commit </dev/null || true
fi
"""


def add_hook(text: str | None, *, program: str, is_started: bool) -> EditedText:
    """Return the hook with the block. `program` is a name on the PATH, or a path.

    A hook that git does not start, because it is not executable, is left alone: somebody has switched it off.
    """
    block = format_block(BODY.format(program=shlex.quote(program)), comment=COMMENT)
    if text is None:
        return EditedText(SHELL + block)
    if not is_started:
        return EditedText(text, "is not executable, so git does not start it; make it executable, or remove it")
    if detect_line_breaks(text) != "\n":
        return EditedText(text, f"has Windows line breaks, which a shell cannot run; {_describe_by_hand(program)}")
    edited = replace_block(text, block)
    if edited is not None:
        return edited
    first, has_more, rest = text.partition("\n")
    if not _SHELL_SCRIPT.fullmatch(first):
        return EditedText(text, f"is not a shell script; {_describe_by_hand(program)}")
    return EditedText(f"{first}\n{block}{rest}" if has_more else f"{first}\n{block}")


def remove_hook(text: str) -> EditedText:
    """Return the hook without the block, or no hook if nothing else was in it."""
    edited = remove_block(text)
    return EditedText(None) if edited.text == SHELL else edited


def _describe_by_hand(program: str) -> str:
    return f"let it start: {shlex.quote(program)} after-commit"
