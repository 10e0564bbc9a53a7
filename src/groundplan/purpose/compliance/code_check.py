"""Check code that touches toc_* tables: SQL by its statements, other languages by a short table of patterns.

BLOCKED is certain. LOOK: a toc_* table is named, and its use was not understood or the tenant is missing. The rest is
approved. SQL is read by sqlglot, an extra of the package; without it no statement is understood.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator
from typing import Literal, NamedTuple

from groundplan.kernel.errors import Invalid
from groundplan.kernel.input_gate.strict_json import decode
from groundplan.purpose.compliance.checklist import CodeFinding
from groundplan.purpose.metadata_structure import find_structure, fold_name, format_names
from groundplan.purpose.model import EdgeType, NodeType, RiskLevel

Language = Literal["sql", "indented", "braces"]
Span = tuple[int, int]

SUFFIXES: dict[str, Language] = {
    **dict.fromkeys((".sql", ".psql", ".pgsql", ".ddl"), "sql"),
    **dict.fromkeys((".py", ".pyi", ".rb"), "indented"),
    **dict.fromkeys((".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs", ".prisma"), "braces"),
    **dict.fromkeys((".java", ".kt", ".kts", ".scala", ".go", ".rs", ".cs", ".php", ".swift", ".dart"), "braces"),
}
WRITTEN_IN = {
    **dict.fromkeys(
        ("parent_id", "json_tree", "materialised_path", "single_parent", "edge_not_unique"), "Build Rule 2"
    ),
    **dict.fromkeys(("published_edited", "publish_unchecked", "draft_not_checked"), "Build Rule 3"),
    **dict.fromkeys(("no_tenant", "row_security_off", "open_policy"), "Section 7, Tenant Isolation"),
    "not_understood": "Build Rules 2 to 4",
}
USE_EDGES = "Connect nodes by rows of toc_edges: a node can have several parents"
NEXT_DRAFT = "Create a draft from the published version and change that"
ONLY_DRAFTS = "Add the condition that the version is a DRAFT"
FILTER_TENANT = "Add a condition on tenant_id"
READ_IT = "Read it by these rules"
INSTALL = "Run: pip install 'groundplan[check]', then check again"

_FLAGS = re.IGNORECASE | re.ASCII
_MODEL = r"[tT]oc(?:Node|Edge|Version|Assumption|EdgeAssumption|Indicator)s?(?![a-z])"
_NO_TABLE = r"(?!\w*_id\b|(?:check|edit|open|record|version)\b)"  # columns, and the tools of MCP
# A table by its name, or a trigger, class or variable that is named after one.
TOC_NAME = re.compile(rf"(?<![a-zA-Z0-9])(?i:toc_){_NO_TABLE}[a-zA-Z]\w*|\b{_MODEL}", re.ASCII)
PARENT = re.compile(r"\bparent_?(?:(?:node|toc)_?)?(?:id|uuid)\b|\bparent_(?:node|key|ref)\b", _FLAGS)


class Match(NamedTuple):
    """A finding by its offset in the text."""

    at: int
    verdict: Literal["BLOCKED", "LOOK"]
    rule: str
    text: str


class Unit(NamedTuple):
    """A statement, class, model or call, and its offset in the file. What is not run as it stands is opaque."""

    start: int
    text: str
    is_opaque: bool = False


def block(at: int, rule: str, message: str, action: str) -> Match:
    """Return a match that is certain."""
    return Match(at, "BLOCKED", rule, f"{WRITTEN_IN[rule]}: {message}. {action}.")


def look(at: int, rule: str, message: str, action: str) -> Match:
    """Return a match that a person has to look at."""
    return Match(at, "LOOK", rule, f"{WRITTEN_IN[rule]}: {message}. {action}.")


def check_code(path: str, text: str, language: Language | None = None) -> list[CodeFinding]:
    """Return the findings in the text of a file, by line. Its suffix or its text tells the language."""
    if not TOC_NAME.search(text):
        return []
    # A carriage return ends a line too, and with it a comment. The offsets stay the same.
    text = text.replace("\r\n", " \n").replace("\r", "\n")
    language = language or SUFFIXES.get(path[path.rfind(".") :]) or ("sql" if _SQL_LINE.search(text) else "braces")
    lines = [line_end.start() for line_end in re.finditer("\n", text)]
    findings = {
        CodeFinding(path, bisect_right(lines, match.at - 1) + 1, match.verdict, match.rule, match.text)
        for match in _find_matches(text, language)
    }
    return sorted(findings, key=lambda finding: (finding.line, finding.verdict, finding.rule, finding.text))


def decide(findings: Iterable[CodeFinding]) -> Literal["APPROVED", "LOOK", "BLOCKED"]:
    """Return the verdict on all of the code: the worst of its findings."""
    return min((finding.verdict for finding in findings), default="APPROVED")


def _find_matches(text: str, language: Language) -> Iterator[Match]:
    for match in _TRIGGERS_OFF.finditer(text):
        yield look(match.start(), "published_edited", "triggers are off for what follows", "Leave them enabled")
    if language == "sql":
        statements = list(split_statements(text))
    else:
        code, statements, fragments = _hide_strings(text, language)
        for unit in _split_code(code, language):
            if TOC_NAME.search(unit.text):
                yield from _move(_check_unit(unit.text), unit)
        yield from (_look_unread(at, "a part of a statement") for at in fragments)
    statements = [unit for unit in statements if TOC_NAME.search(unit.text)]
    created = {guard for unit in statements for guard in _list_created_guards(unit.text)}
    for unit in statements:
        yield from _move(_check_statement(unit, created), unit)


def _move(matches: Iterator[Match], unit: Unit) -> Iterator[Match]:
    """Yield the matches of a unit by their offset in the file, none before its first word."""
    start = unit.start + len(unit.text) - len(unit.text.lstrip())
    return (match._replace(at=max(start, unit.start + match.at)) for match in matches)


def _look_unread(at: int, what: str) -> Match:
    return look(at, "not_understood", f"{what} names a toc_* table and was not understood", READ_IT)


def _blank(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)


# --- SQL --------------------------------------------------------------------------------------------------------------

_C_COMMENT = r"/\*[^*]*(?:\*(?!/)[^*]*)*(?:\*/)?"
_SQL_TOKENS = re.compile(
    rf"(?P<comment>--[^\n]*|{_C_COMMENT})"
    r"|(?P<body>\$(?P<tag>[a-zA-Z_]*)\$.*?(?:\$(?P=tag)\$|\Z))"
    # A backslash escapes a quote in E'…' always, elsewhere in some dialects: there, if a word goes on.
    r"|(?P<string>\b[eE]'[^'\\]*(?:\\.[^'\\]*)*'?|'[^'\\]*(?:\\(?:'(?=\w))?[^'\\]*)*'?)"
    r'|(?P<name>"[^"\n]*"|`[^`\n]*`)|(?P<hole>[$#]?\{[^{}\n]*\})|(?P<end>;)',
    re.DOTALL,
)
_COPY = re.compile(r"\bCOPY\s[^;']{1,2000}?\sFROM\s+STDIN\b[^;']{0,200};", _FLAGS)
_SQL_LINE = re.compile(r"^[ \t]*(?:CREATE|ALTER|INSERT|UPDATE|DELETE|SELECT)\s", re.IGNORECASE | re.MULTILINE)
_SQL = re.compile(
    r"\A[\s\"'`]*(?:SELECT\b(?=.*\bFROM\b)|WITH\s+(?:RECURSIVE\s+)?[\"`\w]+\s*(?:\([^()]*\)\s*)?AS\b|TRUNCATE\b)"
    r"|\b(?:CREATE\s+(?:TABLE|UNIQUE|INDEX|POLICY|OR|VIEW|TRIGGER|FUNCTION)|ALTER\s+TABLE|(?:INSERT|MERGE)\s+INTO"
    r"|UPDATE\s+(?:ONLY\s+)?\S+(?:\s+(?:AS\s+)?\w+)?\s+SET|DELETE\s+FROM|DROP\s+(?:TRIGGER|POLICY|TABLE))\b",
    re.IGNORECASE | re.DOTALL,
)
_ROUTINE = re.compile(r"\s*CREATE\b[^;]{0,200}?\b(?:TRIGGER|FUNCTION|PROCEDURE|EVENT)\b", _FLAGS)
_BEGIN, _END = re.compile(r"\bBEGIN\b", _FLAGS), re.compile(r"\s*END\b(?!\s+(?:IF|LOOP|CASE|WHILE|REPEAT)\b)", _FLAGS)
_CONTROL = re.compile(
    r"(?:\s*(?:(?:BEGIN|DECLARE|THEN|ELSE|LOOP|ATOMIC)\b|(?:IF|ELSIF|ELSEIF|WHEN)\b.*?\bTHEN\b|CREATE\b.*?\bBEGIN\b))*",
    _FLAGS | re.DOTALL,
)
_LITERAL = re.compile(r"'((?:[^']|'')*)'")
_DOUBLED = re.compile(r"''([^']*)''")  # a literal inside a literal
# What an INSERT stores, a COMMENT says or a RAISE reports is text, which nothing runs.
_TEXTS = re.compile(
    r"\b(?:RAISE\b\s*\(?|COMMENT\s+ON\b[^;']{0,300}?\bIS\b|(?<!\()VALUES\s*\()"
    r"(?:[^();']|'(?:[^']|'')*'(?!\s*\|)|\)\s*,\s*\()*",
    _FLAGS,
)
_KEEP_NAMES = re.compile(rf"({TOC_NAME.pattern})|[^\n]", TOC_NAME.flags)
_DROPPED = re.compile(r"\bDROP\s+(?:COLUMN\s+)?(?:IF\s+EXISTS\s+)?[\"`]?\w+", _FLAGS)

Guard = tuple[str, str, str | None]  # TRIGGER or POLICY, its name and table; SQLite drops one without naming the table

_NAME = r"(?:[\"`\[]?\w+[\"`\]]?\.)?[\"`\[]?(\w+)[\"`\]]?"  # possibly with its schema
_GUARD = rf"(TRIGGER|POLICY)\s+(?:IF\s+(?:NOT\s+)?EXISTS\s+)?{_NAME}"
_DROPS_GUARD = re.compile(rf"\bDROP\s+{_GUARD}(?:\s+ON\s+(?:ONLY\s+)?{_NAME})?", _FLAGS)
_CREATES_GUARD = re.compile(
    rf"\bCREATE\s+(?:\w+\s+){{0,3}}{_GUARD}(?:(?!\bTRIGGER\b)[^;()])*?\bON\s+(?:ONLY\s+)?{_NAME}", _FLAGS
)
_TRIGGERS_OFF = re.compile(r"\bsession_replication_role\b[^\n;]{0,20}\breplica\b", _FLAGS)
# What is certain in any statement that names a toc_* table, also where it is put together at run time.
_CERTAIN_IN_SQL = (
    (
        *("published_edited", "without its triggers a published version can be changed", "Leave them enabled"),
        re.compile(r"\bDISABLE\s+TRIGGER\b", _FLAGS),
    ),
    (
        *("row_security_off", "row level security of a toc_* table is switched off", "Leave it enabled and forced"),
        re.compile(r"\b(?:DISABLE|NO\s+FORCE)\s+ROW\s+LEVEL\s+SECURITY\b", _FLAGS),
    ),
    (
        *("open_policy", "the policy lets every tenant see or write the rows", "Compare tenant_id with the user's"),
        re.compile(r"\b(?:CREATE|ALTER)\s+POLICY\b[^;]{0,400}?\b(?:USING|CHECK)\s*\(\s*true\s*\)", _FLAGS),
    ),
)
_WORDS = re.compile(r"\b(node_type|edge_type|risk_level)[\"`]?\s+IN\s*\(([^()]*)\)", _FLAGS)
ALLOWED_WORDS: dict[str, list[str]] = {"node_type": [*NodeType], "edge_type": [*EdgeType], "risk_level": [*RiskLevel]}
_REPLACES = re.compile(r"\s*REPLACE\s+INTO\b", _FLAGS)


def split_statements(text: str, start: int = 0, *, is_opaque: bool = False) -> Iterator[Unit]:
    """Yield the statements of SQL without comments, and those in the bodies of functions, which are opaque."""
    text = _blank_copied_rows(text)
    parts: list[str] = []
    first = at = depth = 0  # of the current statement, of the rest, of the open routine
    for token in [*_SQL_TOKENS.finditer(text), None]:
        end, kind, found = (token.start(), token.lastgroup, token[0]) if token else (len(text), "end", "")
        parts += [text[at:end], _rewrite_token(kind, found)]
        at = end + len(found)
        if token and kind == "body":
            mark = len(token["tag"]) + 2
            yield from split_statements(found[mark:].removesuffix(found[:mark]), start + end + mark, is_opaque=True)
        elif kind == "end":
            statement = "".join(parts)
            if statement.strip():
                yield Unit(start + first, statement, is_opaque or depth > 0)
            depth += len(_BEGIN.findall(statement)) if depth or _ROUTINE.match(statement) else 0
            depth -= 1 if depth and _END.match(statement) else 0
            parts, first = [], at


def _rewrite_token(kind: str | None, found: str) -> str:
    """Return a token as a parser reads it, in the same length."""
    if kind == "string":
        return (" " + found[1:] if found[0] in "eE" else found).replace("\\'", "''")
    if kind in ("hole", "name"):
        return found if kind == "name" else "_" * len(found)
    return "" if kind == "end" else _blank(found)


def _blank_copied_rows(text: str) -> str:
    """Return SQL without the rows that follow COPY … FROM stdin."""
    parts, at = [], 0
    for header in _COPY.finditer(text):
        end = text.find("\n\\.", header.end())
        if header.start() >= at and end >= 0:
            parts += [text[at : header.end()], _blank(text[header.end() : end + 3])]
            at = end + 3
    return "".join((*parts, text[at:]))


def _list_created_guards(text: str) -> Iterator[Guard]:
    """Yield the triggers and policies on toc_* tables that a statement creates, with their table and without."""
    for match in _CREATES_GUARD.finditer(_LITERAL.sub(lambda literal: " " * len(literal[0]), text)):
        kind, name, table = match[1].upper(), match[2].lower(), match[3].lower()
        if table.startswith("toc_"):
            yield from ((kind, name, table), (kind, name, None))


def _check_statement(unit: Unit, created: Collection[Guard]) -> Iterator[Match]:
    text, found = _read_literals(unit.text, created)
    yield from found
    if not TOC_NAME.search(text):
        return
    yield from _match_dropped_guards(text, created)
    for rule, message, action, pattern in _CERTAIN_IN_SQL:
        yield from (block(match.start(), rule, message, action) for match in pattern.finditer(text))
    yield from _match_unknown_words(text)
    if unit.is_opaque and (control := _CONTROL.match(text)):
        text = _blank(control[0]) + text[control.end() :]
    try:
        from groundplan.purpose.compliance.code_sql import judge_statement  # sqlglot is optional, and slow to import
    except ImportError:
        yield from _match_unparsed(text)
        yield look(0, "not_understood", "SQL names a toc_* table and was not parsed: sqlglot is missing", INSTALL)
        return
    judged = judge_statement(text, is_whole=not unit.is_opaque)
    yield from _match_unparsed(text) if judged is None else judged
    if judged is None or unit.is_opaque:
        yield _look_unread(0, "the statement")


def _read_literals(text: str, created: Collection[Guard]) -> tuple[str, list[Match]]:
    """Return a statement without its plain texts, and what is found in the JSON and the statements of its literals."""
    found: list[Match] = []

    def read_json(literal: re.Match[str]) -> str:
        names = _find_json_structure(literal[1])
        if names:
            message = f"the JSON holds structure of the theory: {names}"
            found.append(block(literal.start(1), "json_tree", message, USE_EDGES))
        return f"'{_blank(literal[1])}'" if names else literal[0]

    def read_statements(literal: re.Match[str]) -> str:
        if not (_SQL.search(literal[1]) and TOC_NAME.search(literal[1])):
            return literal[0]
        for inner in split_statements(_DOUBLED.sub(r" '\1' ", literal[1]), literal.start(1), is_opaque=True):
            if TOC_NAME.search(inner.text):
                found.extend(_move(_check_statement(inner, created), inner))
        return f"'{_KEEP_NAMES.sub(lambda name: name[1] or ' ', literal[1])}'"  # the statement around it names them

    text = _LITERAL.sub(read_json, text)
    text = _TEXTS.sub(lambda texts: _LITERAL.sub(_blank_text, texts[0]), text)
    return _LITERAL.sub(read_statements, text), found


def _blank_text(literal: re.Match[str]) -> str:
    """Return a literal without its content; a single word, which may be a status, is kept."""
    return literal[0] if literal[1].isalpha() else f"'{_blank(literal[1])}'"


def _find_json_structure(content: str) -> str:
    """Return the names in JSON that hold structure of a theory."""
    if content.lstrip()[:1] not in ("{", "["):
        return ""
    try:
        links, trees = find_structure(decode(content.replace("''", "'").encode()))
    except (Invalid, UnicodeEncodeError):  # not JSON: an array, or a text in brackets
        return ""
    return format_names([*links, *trees])


def _match_dropped_guards(text: str, created: Collection[Guard]) -> Iterator[Match]:
    for match in _DROPS_GUARD.finditer(text):
        kind, name, table = match[1].lower(), match[2], match[3] and match[3].lower()
        if table and not table.startswith("toc_"):
            continue
        rule = "published_edited" if kind == "trigger" else "row_security_off"
        if (kind.upper(), name.lower(), table) in created:
            # Replaced by the file, or dropped when the migration is undone: the order is not known here.
            message = f"{kind} {name} is dropped and created in this file"
            yield look(match.start(), rule, message, "Make sure that it exists when the migration has run")
        else:
            lost = "a published version can be changed" if kind == "trigger" else "rows of other tenants may be seen"
            action = "Keep it, or create it again in the same file"
            yield block(match.start(), rule, f"without {kind} {name} {lost}", action)


def _match_unknown_words(text: str) -> Iterator[Match]:
    for match in _WORDS.finditer(text):
        column = match[1].lower()
        unknown = [word for word in _LITERAL.findall(match[2]) if word not in ALLOWED_WORDS[column]]
        if unknown:
            rule = "Build Rule 4" if column == "risk_level" else "Build Rule 2"
            message = f"{rule}: {column} {', '.join(unknown)} is none of the types of the model."
            yield Match(match.start(), "BLOCKED", "unknown_type", f"{message} Use {', '.join(ALLOWED_WORDS[column])}.")


def _match_unparsed(text: str) -> Iterator[Match]:
    """Yield what is certain in a statement that was not parsed."""
    for match in PARENT.finditer(_DROPPED.sub(lambda dropped: " " * len(dropped[0]), text)):
        yield block(match.start(), "parent_id", f"{match[0]} makes an adjacency list of the theory", USE_EDGES)
    if _REPLACES.match(text):
        yield look(0, "draft_not_checked", "REPLACE does not say that the version is a DRAFT", ONLY_DRAFTS)


# --- Other languages --------------------------------------------------------------------------------------------------

_DOUBLE, _SINGLE, _TEMPLATE = (rf"{mark}[^{mark}\\{end}]*(?:\\.[^{mark}\\{end}]*)*{mark}?" for mark, end in (
    ('"', r"\n"),
    ("'", r"\n"),
    ("`", ""),
))  # fmt: skip
_TRIPLE = '"""[^"\\\\]*(?:(?:\\\\.|"(?!""))[^"\\\\]*)*(?:""")?'
_HEREDOC = r"<<[<~-][\"']?(?P<tag>[A-Z]\w*)[\"']?[^\n]*\n.*?(?:\n[ \t]*(?P=tag)\b|\Z)"
_OTHER = r"(?P<open>[({\[])|(?P<close>[)}\]])|(?P<end>;)|(?P<line>\n)"
_CODE_TOKENS: dict[Language, re.Pattern[str]] = {
    "braces": re.compile(
        rf"(?P<comment>//[^\n]*|{_C_COMMENT})"
        rf"|(?P<string>{_TRIPLE}|{_DOUBLE}|{_SINGLE}|{_TEMPLATE}|{_HEREDOC})|{_OTHER}",
        re.DOTALL,
    ),
    "indented": re.compile(
        rf"""(?P<comment>\#[^\n]*)|(?P<string>{_TRIPLE}|{_TRIPLE.replace('"', "'")}|{_DOUBLE}|{_SINGLE}|{_HEREDOC})"""
        rf"|{_OTHER}",
        re.DOTALL,
    ),
}
# The name of a table or column, or an address of rows; any other text is not code.
_NAME_STRING = re.compile(r"[\"'`]+(?:[\w.:-]*|[^\s\"'`(){}]*/toc_[^\s\"'`(){}]*)[\"'`]+", re.ASCII)
_QUOTES = re.compile(r"\A(?:\"\"\"|'''|[\"'`]|<<[^\n]*\n)|(?:\"\"\"|'''|[\"'`]|\n[ \t]*[A-Z]\w*)\Z")
_ESCAPED = re.compile(r"\\(['\"])([^'\"\\]*)\\\1")  # a literal inside a string with the same quotes
_JOINT = re.compile(r"[\s+\\.]{0,200}[a-zA-Z]?")  # between the parts of a string, with the prefix of one, such as f
# A part of a statement that is put together, unless it stands alone as the documentation of a module or class.
_FRAGMENT = re.compile(
    r"\b(?:from|join|into|update|table|references)\s+[\w.\"`]{0,130}?\btoc_\w+"
    r"|\btoc_\w+[\"`]?\s+(?:set|where|add|drop|disable|enable|rename)\b",
    _FLAGS,
)
_ALONE = re.compile(r"(?:\A|\n)[ \t]*[rR]?\Z")
_TABLE_LINE = r"[^\n]*(?:(?:create|alter|change)_?table\b|\bSchema::(?:create|table)\b)"
_BLOCK_LINE = re.compile(
    r"(?:@[^\n]*\s+)?(?:export\s+|default\s+|abstract\s+|data\s+){0,3}"
    rf"(?:class\b(?!\s+(?:Meta|Config)\b)|(?:model|interface|struct|entity|record|trait)\s)|{_TABLE_LINE}",
    _FLAGS,
)
_OWN_LINES = re.compile(
    r"(?:async\s+def|def|function|func|fun|fn|class(?!\s+(?:Meta|Config)\b))\b"
    rf"|(?!{_TABLE_LINE})[^\n]*(?:=>|\))\s*(?::\s*[\w<>\[\],.|]{{1,200}}\s*)?\{{\s*\Z",
    _FLAGS,
)
_VALUE_HEAD = re.compile(r"(?:[=(,:?\[|&]|\breturn)\s*\Z")  # before the brace of an object
_CONTINUES = {"braces": re.compile(r"\s*[.?:&|+,)\]}=]"), "indented": re.compile(r"\s*[.)\]}]")}
_UNFINISHED = {"braces": tuple(",=+&|?:.("), "indented": tuple(",=+\\(")}
HEAD_CHARS_MAX = 400  # of the text before a brace, to see what it opens
DEPTH_MAX = 64  # deeper blocks belong to the one around them


def _hide_strings(text: str, language: Language) -> tuple[str, list[Unit], list[int]]:
    """Return code without comments and texts, the statements in its strings, and the places of parts of statements."""
    tokens = list(_CODE_TOKENS[language].finditer(text))
    hidden = [token.span() for token in tokens if token.lastgroup == "comment"]
    code = _blank_spans(text, hidden)
    statements: list[Unit] = []
    fragments: list[int] = []
    for strings in _group_strings(code, [token.span() for token in tokens if token.lastgroup == "string"]):
        first = at = strings[0][0]
        content = ""
        for start, end in strings:
            content += _blank(code[at:start]) + _QUOTES.sub(lambda quotes: _blank(quotes[0]), code[start:end])
            at = end
        content = _ESCAPED.sub(r" \1\2\1 ", content)
        if _SQL.search(content):
            statements += split_statements(content, first)
            hidden.append((first, at))
        elif _FRAGMENT.search(content) and not _ALONE.search(code, max(0, first - HEAD_CHARS_MAX), first):
            fragments.append(first)
        hidden += (span for span in strings if not _NAME_STRING.fullmatch(code, *span))
    return _blank_spans(text, hidden), statements, fragments


def _group_strings(code: str, strings: list[Span]) -> Iterator[list[Span]]:
    """Yield groups of adjacent strings, which only a plus or blanks separate."""
    group: list[Span] = []
    for span in strings:
        if group and not _JOINT.fullmatch(code, group[-1][1], span[0]):
            yield group
            group = []
        group.append(span)
    if group:
        yield group


def _blank_spans(text: str, spans: list[Span]) -> str:
    """Return the text with spaces in place of some spans."""
    parts, done = [], 0
    for first, end in sorted(spans):
        if end > done:
            parts += [text[done:first], _blank(text[max(first, done) : end])]
            done = end
    return "".join((*parts, text[done:]))


def _split_code(code: str, language: Language) -> Iterator[Unit]:
    """Yield logical lines, and each class, model or table of a migration as one unit without its functions."""
    blocks: list[tuple[int, list[Unit]]] = []  # the indentation and the lines of each open block
    masked: list[int] = []  # the indentations of open functions and nested classes
    units: list[list[Unit]] = []
    for line in _join_lines(code, language):
        words = line.text.lstrip()
        depth = len(line.text[: -len(words)].rpartition("\n")[2])
        blocks = [opened for opened in blocks if opened[0] < depth][:DEPTH_MAX]
        masked = [indent for indent in masked if indent < depth][:DEPTH_MAX]
        if _BLOCK_LINE.match(words):
            blocks.append((depth, [line]))
            units.append(blocks[-1][1])
        elif blocks and (not masked or masked[-1] <= blocks[-1][0]):
            blocks[-1][1].append(line)
        else:
            units.append([line])
        if _OWN_LINES.match(words):
            masked.append(depth)
    for first, *others in units:
        text, at = [first.text], first.start + len(first.text)
        for line in others:
            text += [_blank(code[at : line.start]), line.text]
            at = line.start + len(line.text)
        yield Unit(first.start, "".join(text))


def _join_lines(code: str, language: Language) -> Iterator[Unit]:
    """Yield the logical lines of code: brackets and operators continue one, but for the braces of a block."""
    first = 0
    joins: list[bool] = []  # for each open bracket, if it continues the line
    for token in _CODE_TOKENS[language].finditer(code):
        kind, at = token.lastgroup, token.start()
        if kind == "open":
            joins.append(token[0] != "{" or _VALUE_HEAD.search(code, max(first, at - HEAD_CHARS_MAX), at) is not None)
        elif kind == "close" and joins:
            joins.pop()
        elif not (joins and joins[-1]) and (
            kind == "end" or (kind == "line" and _ends_line(code, first, at, language))
        ):
            if code[first:at].strip():
                yield Unit(first, code[first:at])
            first = token.end()
    if code[first:].strip():
        yield Unit(first, code[first:])


def _ends_line(code: str, first: int, at: int, language: Language) -> bool:
    before = code[max(first, at - HEAD_CHARS_MAX) : at].strip()
    if before.startswith("@") and language == "braces":
        return False  # what it decorates is on the next line
    return not before or not (before.endswith(_UNFINISHED[language]) or _CONTINUES[language].match(code, at))


_TREE_WORDS, _PATH_WORDS = r"(children|subtree|tree|nested)", r"(path|ancestors|lineage)"
_ANY = r"[^\n;,]{0,40}?"  # between the name of a column and its type, on the same line
_ADJACENT = "{} makes an adjacency list of the theory"
# What is certain in a class, model or call that names a toc_* table.
_CERTAIN_IN_CODE = (
    ("parent_id", _ADJACENT, PARENT),
    (
        *("parent_id", _ADJACENT),
        re.compile(
            r"\b(?:ForeignKey|OneToOneField|TreeForeignKey)\(\s*[\"']self[\"']|\bremote_side\s*="
            r"|\b(?:references|belongs_to|add_(?:reference|belongs_to)[\s(]+:\w+\s*,)[\s(]*:parent\b"
            r"|\badd_foreign_key[\s(]+:toc_nodes\s*,\s*:toc_nodes\b|\bparent\s+[tT]ocNode\b"
            r"|\bTocNode\.(?:belongsTo|hasMany|hasOne)\(\s*TocNode\b|@ManyToOne\(\s*\(\w*\)\s*=>\s*TocNode\b"
        ),
    ),
    (
        *("single_parent", "{} stores a tree"),
        re.compile(
            r"\b(?:MPTTModel|(?:MP|NS|AL)_Node|acts_as_(?:tree|nested_set)|has_ancestry|has_closure_tree)\b"
            r"|@Tree(?:Parent|Children)?\("
        ),
    ),
    (
        *("json_tree", "{} holds a tree"),
        re.compile(rf"\b{_TREE_WORDS}[\"']?\??[\s:=(,]{_ANY}\bjson|\bjsonb?[\s(]+[:\"']{_TREE_WORDS}\b", _FLAGS),
    ),
    (
        *("materialised_path", "{} is a materialised path, which cannot hold several parents"),
        re.compile(
            rf"\b{_PATH_WORDS}[\"']?\??[\s:=(,]{_ANY}(?:column\(|\b(?:char|text)field\b|\bvarchar)"
            rf"|\b{_PATH_WORDS}[ \t]+String\b|\b(?:string|text|varchar)[\s(]+[:\"']{_PATH_WORDS}\b"
            rf"|\bcolumn\(\s*[\"']{_PATH_WORDS}\b|\bltree(?:type)?\b",
            _FLAGS,
        ),
    ),
)
_REMOVED = re.compile(r"\b(?:remove|drop)_?(?:column|reference|belongs_to)[^\n]*", _FLAGS)
_OWN_TABLE = re.compile(
    r"(?:__tablename__\s*=\s*|\b\w*Table\(\s*|(?:create|alter|change)_?table\w*[\s(]+|\badd_\w+[\s(]+|@@map\(\s*"
    r"|Entity\(\s*|db_table\s*=\s*|Schema::(?:create|table)\(\s*)[\"':]toc_nodes\b",
    _FLAGS,
)
_TO_OWN_TABLE = re.compile(
    r"\b(?:ForeignKey|inTable|on)\(\s*[\"']toc_nodes\b|to_table:\s*[:\"']toc_nodes\b|=>\s*tocNodes\.", re.ASCII
)
_WRITES = re.compile(
    r"\b(?:update|delete|destroy|remove|truncate|upsert|increment|decrement|del|set|save|merge|replace)"
    r"(?:_?(?:all|many|one|columns?|attributes?|by|where))?\b\s*(?:[!({\s:]|\Z)",
    _FLAGS,
)
_STATUS = r"(?<![a-zA-Z])status[\"']?\s*(?:={1,3}|:|,|=>)\s*[\"']"
_SETS = re.compile(
    rf"\b(?:update\w*|set|values)!?\s*\(?(?:\s*\{{)?[^{{}}()]{{0,400}}?{_STATUS}(DRAFT|PUBLISHED)\b", _FLAGS
)
_NEW_VALUES = re.compile(r"(?:\b(?:update\w*|set|values)!?\s*\(\s*\{?|\bdata\s*:\s*\{)[^{}()]*", _FLAGS)
_SETS_UNKNOWN = re.compile(
    r"\b(?:update\w*|set)!?\s*\(\s*\{?[^{}()]{0,400}?\bstatus\b(?![\"']?\s*(?:=>|[:=,])\s*[\"'])"
)
_PUBLISHED, _DRAFT = (re.compile(rf"{_STATUS}{word}[\"']", _FLAGS) for word in ("PUBLISHED", "DRAFT"))
_EXCLUDES = re.compile(r"\b(?:exclude|neq|ne|not|or|or_|any|where_?not|or_?where|is_?not)\b|!=|~|<>|\|", _FLAGS)
_VERSIONS = re.compile(r"\btoc_versions\b|\b[tT]ocVersions?\b", re.ASCII)
# A table that is used, not only mentioned in an import or as the type of a value.
_USES_TABLE = re.compile(
    rf"[\"'`:/](?:\w+\.)?toc_{_NO_TABLE}\w|[.(,]\s*(?:{_MODEL}|toc_{_NO_TABLE}\w+)\s*[.,()!]|\b{_MODEL}\s*[.(]|\btoc_\w+\s*[.\[]"
    rf"|\b(?:class|model|entity|struct)\s+{_MODEL}|\b(?:SELECT|INSERT|UPDATE|DELETE|ALTER|DROP)\s[^\n]{{0,200}}\btoc_\w",
    re.ASCII,
)
_ASSOCIATES = re.compile(r"\b(?:has_many|has_one|belongs_to|add_index)\s+:toc_\w+", re.ASCII)
_IMPORTS = re.compile(r"\s*(?:import|from|use|using|export\s+(?:type\s+)?[{*])\b", re.ASCII)
_DEFINES = re.compile(
    r"\b(?:class|model|entity|struct)\s|@Entity|__tablename__|\b\w*Table\(|(?:create|alter|change)_?table\b|Schema::"
    r"|\b(?:add|remove|rename|change|drop)_(?:column|reference|belongs_to|index|foreign_key|table)\b",
    _FLAGS,
)
_TENANT = re.compile(r"\btenant_?id\b", _FLAGS)
_FILTERS_TENANT = re.compile(
    r"\b(?:eq|where|filter\w*|match|and_?where|and|get|find\w*|insert\w*|create\w*|add|values?|build|new|Toc\w+|all)\b"
    r"!?\s*[({:\s](?:(?!\.select\b)[^;]){0,400}?\btenant_?id\b",
    _FLAGS,
)
_CALLS = re.compile(r"\.\s*(\w+)[!?]?\s*(?:\(|(?=\.|\s*\Z))")


def _fold_words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# What is understood in a call and in a definition, as fold_name returns it.
_READS = _fold_words("""
    from select eq in single maybesingle limit order orderby where wherein filter filterby get all first one oneornone
    scalar scalars scalarone query execute objects find findmany findfirst findunique findone findby table with pluck
    count exists values valueslist join innerjoin leftjoin on range returning then tolist fetchone fetchall andwhere and
    match asc desc options joinedload distinct tocnode tocnodes tocedge tocedges tocversion tocversions session db
    toisostring
""")
_INSERTS = _fold_words("insert create createmany bulkcreate add addall insertall build new into insertmany values")
_CHANGES = _fold_words("update delete destroy updateall deleteall updatemany deletemany set")
_COLUMNS = _fold_words("""
    id key title name label description narrative metadata nodetype edgetype risklevel status versionnumber profile
    publishedat createdat updatedat tocversionid versionid tenantid projectid nodeid edgeid sourcenodeid targetnodeid
    assumptiontext tocversion tocversions tocnode tocnodes tocedge tocedges tocassumptions tocindicators
    column mapped mappedcolumn string text uuid integer int bigint boolean bool float decimal enum json jsonb datetime
    timestamp timestamps timestamptz date serial varchar foreignkey primarykey primary true false null none nullable
    notnull notnullable default unique uniqueconstraint index references foreign ondelete cascade table class model
    entity base self t do end sa op db createtable schema knex export const return await tablename map goal outcome
    output activity low medium high contributesto causes dependson now
""")


def _check_unit(text: str) -> Iterator[Match]:
    """Yield the findings in a class, model or call. What is blocked needs no second look."""
    found = [*_match_certain(text), *_match_published_edits(text)]
    yield from found
    used = _USES_TABLE.search(_ASSOCIATES.sub(lambda name: " " * len(name[0]), text))
    if used is None or _IMPORTS.match(text) or any(match.verdict == "BLOCKED" for match in found):
        return
    at, calls = used.start(), {fold_name(name) for name in _CALLS.findall(text)}
    is_definition = _DEFINES.search(text) is not None
    if is_definition:
        if not {fold_name(word) for word in re.findall(r"[a-zA-Z_]\w*", text)} <= _COLUMNS:
            yield _look_unread(at, "a definition in code")
    elif _WRITES.search(text):
        text = _NEW_VALUES.sub(lambda values: " " * len(values[0]), text)
        if not _DRAFT.search(text) or _EXCLUDES.search(text) or not calls <= _READS | _CHANGES:
            yield look(at, "draft_not_checked", "the change does not say that the version is a DRAFT", ONLY_DRAFTS)
    elif not calls or not calls <= _READS | _INSERTS:
        yield _look_unread(at, "the code")
        return
    if not (_TENANT if is_definition else _FILTERS_TENANT).search(text):
        yield look(at, "no_tenant", "the code does not filter by tenant_id", FILTER_TENANT)


def _match_certain(text: str) -> Iterator[Match]:
    text = _REMOVED.sub(lambda removed: " " * len(removed[0]), text)
    for rule, message, pattern in _CERTAIN_IN_CODE:
        for match in pattern.finditer(text):
            name = next((group for group in match.groups() if group), match[0])
            yield block(match.start(), rule, message.format(name), USE_EDGES)
    for match in _TO_OWN_TABLE.finditer(text) if _OWN_TABLE.search(text) else ():
        yield block(match.start(), "parent_id", "toc_nodes references itself, so that a node has a parent", USE_EDGES)


def _match_published_edits(text: str) -> Iterator[Match]:
    change = _WRITES.search(text)
    if change is None:
        return
    sets = _SETS.search(text) if _VERSIONS.search(text) else None
    if sets is not None and sets[1].upper() == "DRAFT":
        yield block(sets.start(), "published_edited", "a published version becomes a DRAFT again", NEXT_DRAFT)
    elif sets is not None and not _DRAFT.search(text):
        yield block(sets.start(), "publish_unchecked", "a version is published whatever its status is", ONLY_DRAFTS)
    elif sets is None and _VERSIONS.search(text) and (unknown := _SETS_UNKNOWN.search(text)):
        yield look(unknown.start(), "publish_unchecked", "the new status is not written in the call", NEXT_DRAFT)
    elif sets is None and _PUBLISHED.search(text) and not _EXCLUDES.search(text):
        message = "the change reaches PUBLISHED versions, which are final"
        yield block(change.start(), "published_edited", message, NEXT_DRAFT)
