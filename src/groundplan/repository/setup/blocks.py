"""A block between two marks in a handwritten file: it can be added, updated and removed.

    <!-- groundplan:begin 1f2e3d4c5b6a ... -->      # groundplan:begin 1f2e3d4c5b6a ...
    text                                            text
    <!-- groundplan:end -->                         # groundplan:end

The number is a hash of the text. A block that somebody has edited is left alone. There is one for agents in AGENTS.md
or CLAUDE.md, and one in the git hook `post-commit`.
"""

from __future__ import annotations

import re
import shlex
from hashlib import sha256
from typing import NamedTuple

from groundplan.repository.rules.folder import Folder, UnusableFile
from groundplan.repository.rules.plan_files import HAND_EDITED
from groundplan.repository.rules.rule import apply_line_breaks, detect_line_breaks, normalize_line_breaks

REMARK = "(written by groundplan init; groundplan init --undo removes it)"
DIGEST_CHARS = 12

_MARKED = re.compile(
    r"^(?P<open><!--|\#)\ groundplan:begin\ (?P<digest>[0-9a-f]{12})\b[^\n]*\n"
    r"(?P<body>(?:(?!(?:<!--|\#)\ groundplan:begin\b)[^\n]*\n)*?)"
    r"(?:<!--|\#)\ groundplan:end\b[^\n]*(?:\n|\Z)",
    re.MULTILINE | re.VERBOSE,
)
_BEGIN = re.compile(r"^(?:<!--|#) groundplan:begin\b", re.MULTILINE)


class EditedText(NamedTuple):
    """A text after an edit. If nothing was edited, `kept` is the reason as a predicate that follows the file name."""

    text: str | None  # None: the file is not needed any more
    kept: str | None = None


def format_block(body: str, *, comment: str) -> str:
    """Return a block. `comment` is "#" or "<!--". The body must end with a line break."""
    end = " -->" if comment == "<!--" else ""
    return f"{comment} groundplan:begin {_digest(body)} {REMARK}{end}\n{body}{comment} groundplan:end{end}\n"


def replace_block(text: str, block: str) -> EditedText | None:
    """Return the text with its block updated, or None if it has no block."""
    match = _find_block(text)
    if match is None or isinstance(match, EditedText):
        return match
    wanted = apply_line_breaks(block, detect_line_breaks(text))
    return EditedText(text[: match.start()] + wanted + text[match.end() :])


def append_block(text: str, block: str) -> str:
    """Return the text with the block at its end, after a blank line."""
    gap = "" if not text or text.endswith(("\n\n", "\n\r\n")) else "\n" if text.endswith("\n") else "\n\n"
    return text + apply_line_breaks(gap + block, detect_line_breaks(text))


def remove_block(text: str) -> EditedText:
    """Return the text without its block and the blank line before it; unchanged if it has no block."""
    match = _find_block(text)
    if match is None:
        return EditedText(text)
    if isinstance(match, EditedText):
        return match
    before = text[: match.start()]
    for blank in ("\r\n\r\n", "\n\n"):
        if before.endswith(blank):
            before = before[: -len(blank) // 2]
            break
    return EditedText(before + text[match.end() :])


def _find_block(text: str) -> re.Match[str] | EditedText | None:
    """Return the match of the block in a text; None without a block, or the reason why the text cannot be edited."""
    begins = len(_BEGIN.findall(text))
    if not begins:
        return None
    match = _MARKED.search(text)
    if begins > 1:
        return EditedText(text, "has the block of Groundplan twice; delete one of them")
    if match is None:
        return EditedText(text, "has a block of Groundplan without its last line; delete the block")
    if _digest(match["body"]) != match["digest"]:
        return EditedText(text, f"{HAND_EDITED} inside the block of Groundplan; delete the block to get a new one")
    return match


def _digest(body: str) -> str:
    return sha256(normalize_line_breaks(body).encode("utf-8", "surrogatepass")).hexdigest()[:DIGEST_CHARS]


# --- The block in AGENTS.md or CLAUDE.md that tells agents that this repository has a plan, and how to use it ---------

AGENTS_FILE = "AGENTS.md"
CLAUDE_FILE = "CLAUDE.md"
FILES = (AGENTS_FILE, CLAUDE_FILE)
INSTRUCTIONS_COMMENT = "<!--"

_IMPORT = re.compile(r"^@(?:\./)?AGENTS\.md\s*$", re.MULTILINE)

INSTRUCTIONS_BODY = """\
## The plan of this repository

Tasks, what is known about files, facts and goals are kept in Groundplan, not in lists in Markdown.

- Before you begin: `{program} next`, then `{program} take ID`. `{program} show ID` has the details and why it is done.
- Before you change a file: `groundplan knowledge context FILE`.
- New work, or work that you find: `{program} add "Title"`; what has to wait: `{program} block ID --on OTHER`.
- When it is done: `{program} done ID -e commit:SHA -m "what was found"`. Name the task in the commit: `plan-ID`.
- Say who you are: each command takes `--agent NAME`, or `export GROUNDPLAN_AGENT=NAME` (claude, codex, cursor …).
  `--person` is for people.

With the MCP server `groundplan`, use its tools instead: `graph_next`, `query_graph`, `graph_plan`, `graph_update`.
"""


def choose_files(root: Folder) -> list[str]:
    """Return the files for the block: the existing ones, else AGENTS.md. One that includes AGENTS.md needs none."""
    texts = {file: text for file in FILES if (text := _read(root, file)) is not None}
    if AGENTS_FILE in texts and _IMPORT.search(texts.get(CLAUDE_FILE, "")):
        del texts[CLAUDE_FILE]
    return list(texts) or [AGENTS_FILE]


def add_instructions(text: str | None, *, program: str) -> EditedText:
    """Return the file with the block, which is updated if it exists."""
    block = format_block(INSTRUCTIONS_BODY.format(program=program), comment=INSTRUCTIONS_COMMENT)
    return replace_block(text or "", block) or EditedText(append_block(text or "", block))


def remove_instructions(text: str) -> EditedText:
    """Return the file without the block."""
    return remove_block(text)


def _read(root: Folder, file: str) -> str | None:
    """Return the text of a file; None if it does not exist or is a link to the other one. It may be unreadable."""
    try:
        return root.read(file)
    except UnusableFile:  # adding the block reports why
        return None if (root.root / file).is_symlink() else ""


# The git hook that looks at every new commit: it checks the knowledge and links the commit to the tasks it names.
# It is a block in the hook `post-commit`, which runs when the commit exists, so that nothing it does can prevent one. A
# hook that is there already keeps its text; the block goes to its top, because a script may end early.

HOOK = "post-commit"
SHELL = "#!/bin/sh\n"
HOOK_COMMENT = "#"

_SHELL_SCRIPT = re.compile(r"#! *(?:/\S*/)?(?:env +)?(?:\S*/)?(?:sh|bash|dash|ksh|zsh)(?: +-[a-z]+)*\r?$")

# Commits of a rebase are skipped: they were seen when they were made, and there may be hundreds.
HOOK_BODY = """\
if command -v {program} >/dev/null 2>&1 && [ ! -d "$(git rev-parse --git-path rebase-merge)" ]; then
  {program} after-commit </dev/null || true
fi
"""


def add_hook(text: str | None, *, program: str, is_started: bool) -> EditedText:
    """Return the hook with the block. `program` is a name on the PATH, or a path.

    A hook that git does not start, because it is not executable, is left alone: somebody has switched it off.
    """
    block = format_block(HOOK_BODY.format(program=shlex.quote(program)), comment=HOOK_COMMENT)
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
