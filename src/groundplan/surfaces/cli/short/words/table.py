"""The short words as data: what they take, what they do in one line, and the function that runs them.

The parser, `--help`, the completion of shells and the reference are made from this table.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace


class Kind(StrEnum):
    """What a value is, for completion."""

    TEXT = "text"
    NODE = "node"
    PROJECT = "project"
    TAG = "tag"
    KEY = "key"
    STATE = "state"
    FILE = "file"


class WordArgument(Struct, frozen=True):
    """A positional argument. Of several words for one text, the quotation marks may be left out."""

    name: str
    help: str
    kind: Kind = Kind.TEXT
    required: bool = True
    many: bool = False
    joined: bool = False  # many words are one text


class Option(Struct, frozen=True):
    """An option: its names, the longest first, and the name of its value; a switch has none."""

    names: tuple[str, ...]
    value: str
    help: str
    kind: Kind = Kind.TEXT
    many: bool = False

    @property
    def key(self) -> str:
        """The name by which its value is found."""
        return self.names[0].removeprefix("--").replace("-", "_")


class Word(Struct, frozen=True):
    """One short word."""

    name: str
    summary: str
    run: str  # the function, as `module:function` below this package
    arguments: tuple[WordArgument, ...] = ()
    options: tuple[Option, ...] = ()
    synonyms: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()  # below its options, in --help
    is_first: bool = False  # among the commands that `--help` shows first


NODE = WordArgument("ID", "The task: its id or its first 3 characters, its title, or - for the last one.", Kind.NODE)
NODES = replace(NODE, many=True)
MAYBE_NODE = replace(NODE, required=False)
MESSAGE = Option(("--message", "-m"), "TEXT", "The reason or a note; kept in the history.")
OFF = Option(("--off",), "", "Take it back.")
WATCH = Option(("--watch", "-w"), "", "Draw again after every change, until Ctrl-C.")
LIMIT = Option(("--limit", "-n"), "N", "How many at most.")
CURSOR = Option(("--cursor",), "TEXT", "The next page, as the page before names it.")
TAG = Option(("--tag", "-t"), "TAG", "A tag; repeatable.", Kind.TAG, many=True)
UNDER = Option(("--under", "-u"), "ID", "Below this task.", Kind.NODE)

STATES = ("open", "ready", "blocked", "taken", "mine", "done", "dropped", "all")

WORDS: tuple[Word, ...] = (
    Word(
        "add",
        "Add a task.",
        "planning:add",
        (WordArgument("TITLE", "What is to be done.", joined=True, many=True),),
        (
            UNDER,
            Option(("--after", "-a"), "ID", "It waits for this task; repeatable.", Kind.NODE, many=True),
            Option(("--priority", "-p"), "N", "A number; a higher one comes first."),
            TAG,
            Option(("--serves",), "KEY", "What it is for, such as OC1; repeatable.", Kind.KEY, many=True),
            MESSAGE,
        ),
        ("a", "create", "new"),
        is_first=True,
    ),
    Word(
        "next",
        "Show what to do next.",
        "offering:show_next",
        (),
        (LIMIT, UNDER, WATCH),
        ("n", "ready"),
        is_first=True,
    ),
    Word(
        "take",
        "Take a task, or the next one, so that nobody else does.",
        "offering:take",
        (MAYBE_NODE,),
        (UNDER, replace(OFF, help="Give it back."), MESSAGE),
        ("t", "claim", "start"),
        is_first=True,
    ),
    Word(
        "done",
        "Finish tasks.",
        "finishing:finish",
        (NODES,),
        (
            Option(("--evidence", "-e"), "TYPE:REF", "What shows it, such as commit:9f2ab1; repeatable.", many=True),
            replace(MESSAGE, help="A note, kept as evidence."),
            replace(OFF, help="Open them again."),
        ),
        ("d", "close", "finish", "resolve", "complete"),
        is_first=True,
    ),
    Word(
        "drop",
        "Drop tasks that will not be done, with everything below them.",
        "finishing:drop",
        (NODES,),
        (replace(MESSAGE, help="Why; needed."),),
        ("cancel", "abandon"),
    ),
    Word(
        "block",
        "Let a task wait for others.",
        "waiting:block",
        (NODE, replace(NODES, name="ON_IDS", required=False, help="The tasks that it waits for.")),
        (
            Option(("--on", "-o"), "ID", "The task that it waits for; repeatable.", Kind.NODE, many=True),
            replace(OFF, help="It waits for them no more."),
            MESSAGE,
        ),
        ("b", "wait"),
    ),
    Word(
        "hold",
        "Put tasks on hold.",
        "waiting:hold",
        (NODES,),
        (replace(MESSAGE, help="Why; needed."), replace(OFF, help="End the hold.")),
        ("pause",),
    ),
    Word(
        "ls",
        "List tasks.",
        "listing:list_tasks",
        (WordArgument("STATE", f"Which: {', '.join(STATES)}. Default: open.", Kind.STATE, required=False),),
        (
            replace(TAG, help="Only those with this tag.", many=False),
            replace(UNDER, help="Only those below this task."),
            Option(("--by",), "NAME", "Only those that this actor has taken."),
            Option(("--text",), "TEXT", "Only those with this text in the title."),
            Option(("--sort",), "ORDER", "readiness (the default), recent, created or depth."),
            LIMIT,
            CURSOR,
            WATCH,
        ),
        ("l", "list", "todo"),
        is_first=True,
    ),
    Word(
        "show",
        "Show a task with what it waits for and what is below it.",
        "reading:show",
        (NODES,),
        (Option(("--depth",), "N", "How many levels below it."),),
        ("s", "view", "get", "cat"),
        is_first=True,
    ),
    Word(
        "find",
        "Find words in tasks, knowledge, purpose and facts.",
        "reading:find",
        (WordArgument("WORDS", "All of them, in any order.", joined=True, many=True),),
        (LIMIT,),
        ("f", "grep"),
        is_first=True,
    ),
    Word(
        "edit",
        "Edit a task in your editor.",
        "editing:edit",
        (NODE,),
        (Option(("--file", "-f"), "FILE", "Take the text from a file, or - for standard input.", Kind.FILE),),
        is_first=True,
        notes=("The editor is $VISUAL, else $EDITOR, else vi. If it was changed meanwhile, what you typed is kept.",),
    ),
    Word(
        "note",
        "Add a note to a task.",
        "editing:add_note",
        (
            NODE,
            WordArgument("TEXT", "The note. Default: your editor opens.", required=False, joined=True, many=True),
        ),
        (),
        ("comment",),
    ),
    Word(
        "log",
        "Show what happened, newest first.",
        "reading:show_log",
        (MAYBE_NODE,),
        (LIMIT, CURSOR),
        ("history",),
    ),
    Word(
        "board",
        "Show tasks by state, side by side.",
        "pictures:show_board",
        (),
        (LIMIT, WATCH),
        ("kanban",),
        is_first=True,
    ),
    Word(
        "tree",
        "Show the tree of tasks.",
        "pictures:show_tree",
        (MAYBE_NODE,),
        (Option(("--depth",), "N", "How many levels. Default: 3."), WATCH),
    ),
    Word("why", "Show what a task is for, up to the goals.", "reading:show_why", (NODE,), ()),
    Word(
        "undo",
        "Undo your last change, then the one before it, or the write of an event.",
        "reading:undo",
        (WordArgument("EVENT", "The event, such as 12.0. Default: your last change.", required=False),),
        (
            Option(("--redo",), "", "Do again what your last undo took back."),
            Option(("--dry-run",), "", "Only say what it would do."),
            Option(("--op-id",), "TEXT", "With the same id, the request has one effect."),
        ),
    ),
    Word(
        "inbox",
        "Show what waits for a person, most urgent first.",
        "reading:show_inbox",
        (),
        (LIMIT, CURSOR, WATCH),
        is_first=True,
    ),
)

AGENT_HELP = "The agent that acts. Default: GROUNDPLAN_AGENT, else the coding agent that starts this."
PERSON_HELP = "The person who acts; without NAME, and by default, your user name."
COMMON_OPTIONS: tuple[Option, ...] = (
    Option(("--project", "-P"), "NAME", "The project. Default: the configured one, else the only one.", Kind.PROJECT),
    Option(("--json",), "", "Print the answer as JSON, one line for each call."),
    Option(("--no-pager",), "", "Print long output at once."),
    Option(("--db",), "PATH|URL", "Default: GROUNDPLAN_DB, else the plan here or above.", Kind.FILE),
    Option(("--org",), "ID", "The organization. Default: GROUNDPLAN_ORG, else local."),
    Option(("--agent",), "NAME", AGENT_HELP),
    Option(("--person",), "[NAME]", PERSON_HELP),
    Option(("--access",), "open|members", "open: act as owner; members: the stored roles decide."),
    Option(("--config",), "FILE", "Default: the nearest groundplan.yaml, here or above.", Kind.FILE),
    Option(("--help", "-h"), "", "Show this and exit."),
)

# Words of other tools that mean something else here: the sentence says what to use.
NOT_WORDS: Mapping[str, str] = {
    "rm": "nothing is deleted here; drop ID -m why keeps the task and the reason, undo takes back your last change",
    "delete": "nothing is deleted here; drop ID -m why keeps the task and the reason, undo takes back your last change",
    "remove": "nothing is deleted here; drop ID -m why keeps the task and the reason, undo takes back your last change",
    "reopen": "done ID --off opens a finished task again",
    "unblock": "block ID --on OTHER --off ends the waiting, hold ID --off ends a hold",
    "unclaim": "take ID --off gives a task back",
    "release": "take ID --off gives a task back",
    "resume": "hold ID --off ends a hold",
    "dep": "block ID --on OTHER lets a task wait for another",
    "link": "block ID --on OTHER lets a task wait for another; add --serves KEY says what it is for",
    "status": "show ID shows a task, ls lists them, where says which plan is in force",
    "update": "edit ID changes a task",
    "move": "work restructure moves tasks; undo takes it back",
    "sync": "every command reads and writes the plan at once; there is nothing to send",
    "help": "groundplan --help lists the commands, WORD --help explains one",
}


def find_word(name: str) -> Word | None:
    """Return the word with this name or synonym."""
    return _BY_NAME.get(name)


_BY_NAME = {name: word for word in WORDS for name in (word.name, *word.synonyms)}
