"""What comes out of reading a file: a document, and what was left out of it and why.

A reader gathers a theory thing by thing. What a plan can hold comes in, however odd it is: cycles, several causes,
arrows that lead down; the gate speaks of them later. What it cannot hold is left out, counted and explained. What makes
the whole file doubtful refuses it, and so does what is far too much: as soon as it is, for nobody waits for the end.
"""

from __future__ import annotations

import re
from typing import Any

from msgspec import Struct

from groundplan.kernel.errors import Invalid
from groundplan.kernel.input_gate.strict_json import decode
from groundplan.kernel.wording import quote_text
from groundplan.purpose.exchange.formats.document import (
    THINGS_MAX,
    AssumptionWritten,
    EdgeWritten,
    IndicatorWritten,
    NodeWritten,
    TheoryDocument,
)
from groundplan.purpose.limits import (
    REF_CHARS_MAX,
    SENTENCE_BYTES_MAX,
    TEXT_BYTES_MAX,
    TITLE_CHARS_MAX,
    WORD_CHARS_MAX,
)
from groundplan.purpose.model import Confidence, EdgeType, NodeType, RiskLevel

FILE_BYTES_MAX = 64 << 20
SKIPPED_MAX = 100 * THINGS_MAX  # beyond it nobody would look for what did come in
# Commas and brackets of a file of JSON: each value has one, and all values take room before one is looked at.
PIECES_MAX = 5_000_000
EXAMPLES_MAX = 5
ELLIPSIS = "…"

# What a store cannot keep, or what nobody sees.
_UNSTORABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


class UnreadableFile(Invalid):
    """A file is not what it is said to be, or so odd that nothing of it may be taken."""

    code = "unreadable_file"

    def __init__(self, why: str, **details: Any) -> None:
        super().__init__(f"{why}; nothing was taken in", code=self.code, **details)


def too_many(things: str, limit: int) -> UnreadableFile:
    """The refusal of a file in which there is far too much."""
    return UnreadableFile(f"there are more than {limit} {things} in it", limit=limit)


class SkippedItem(Struct):
    """Something of a file that did not come in, or not as it was: what, why, how often, and the first of them."""

    what: str
    why: str
    count: int
    examples: list[str]


class ReadDocument(Struct):
    """A file that was read."""

    document: TheoryDocument
    skipped: list[SkippedItem]


class DocumentBuilder:
    """A theory while it is read. Names of nodes are those of the file; keys of ours among them are kept later on."""

    def __init__(self) -> None:
        self._nodes: dict[str, NodeWritten] = {}
        self._edges: dict[tuple[str, str, EdgeType], EdgeWritten] = {}
        self._assumptions: dict[str, AssumptionWritten] = {}
        self._indicators: dict[str, IndicatorWritten] = {}
        self._skipped: dict[tuple[str, str], SkippedItem] = {}
        self._skips_left = SKIPPED_MAX

    def node(
        self,
        ref: str,
        node_type: NodeType,
        title: str,
        *,
        description: str | None = None,
        narrative: str | None = None,
        owner: str | None = None,
        metadata: dict[str, Any] | None = None,
    ) -> None:
        """A node. A title that is too long is shortened, and stands whole in front of the description.

        Raises:
            UnreadableFile: its name is no name, another node has it, or there are far too many.
        """
        self._name(ref, "node", self._nodes)
        line = normalize_line(title)
        if len(line) > TITLE_CHARS_MAX:
            self.skip("title", f"longer than {TITLE_CHARS_MAX} characters; whole in the description", line)
            description = line if not description else f"{line}\n\n{description}"
            line = line[: TITLE_CHARS_MAX - 1].rstrip() + ELLIPSIS
        self._nodes[ref] = NodeWritten(
            ref,
            node_type,
            line,
            self.text(description, TEXT_BYTES_MAX, "description", ref),
            self.text(narrative, TEXT_BYTES_MAX, "narrative", ref),
            self.word(owner, "owner", ref),
            metadata or None,
        )

    def edge(
        self,
        source: str,
        target: str,
        edge_type: EdgeType = EdgeType.CONTRIBUTES_TO,
        *,
        mechanism: str | None = None,
        confidence: Confidence | None = None,
    ) -> bool:
        """An edge between nodes that were gathered before. Whether it came in.

        Raises:
            UnreadableFile: there are far too many.
        """
        shown = f"{source} -> {target}"
        for end in (source, target):
            if end not in self._nodes:
                self.skip("edge", "one of its ends is not among the nodes", shown)
                return False
        if source == target:
            self.skip("edge", "it leads from a node to itself", shown)
            return False
        if (source, target, edge_type) in self._edges:
            self.skip("edge", "it is there already", shown)
            return False
        if len(self._edges) >= THINGS_MAX:
            raise too_many("edges", THINGS_MAX)
        said = self.text(mechanism, SENTENCE_BYTES_MAX, "mechanism", shown)
        self._edges[source, target, edge_type] = EdgeWritten(source, target, edge_type, said, confidence)
        return True

    def assumption(
        self,
        ref: str,
        text: str,
        *,
        node: str | None = None,
        edge: tuple[str, str, EdgeType] | None = None,
        risk_level: RiskLevel | None = None,
        owner: str | None = None,
        review_by: str | None = None,
    ) -> None:
        """An assumption on a node, or on an edge, that was gathered before.

        Raises:
            UnreadableFile: its name is no name, another assumption has it, or there are far too many.
        """
        self._name(ref, "assumption", self._assumptions)
        if node not in self._nodes if edge is None else edge not in self._edges:
            self.skip("assumption", "what it is about did not come in", ref)
            return
        said = self.text(text, SENTENCE_BYTES_MAX, "assumption", ref)
        if said is None:
            self.skip("assumption", "it says nothing", ref)
            return
        one = AssumptionWritten(ref, said, risk_level=risk_level, owner=self.word(owner, "owner", ref))
        one.review_by = review_by
        if edge is None:
            one.node = node
        else:
            one.source, one.target, one.edge_type = edge
        self._assumptions[ref] = one

    def indicator(self, ref: str, node: str, name: str, **fields: Any) -> None:
        """An indicator on a node that was gathered before; of its texts `unit`, `frequency` and `owner` are words.

        Raises:
            UnreadableFile: its name is no name, another indicator has it, or there are far too many.
        """
        self._name(ref, "indicator", self._indicators)
        line = normalize_line(name)
        if node not in self._nodes:
            self.skip("indicator", "the node it is on did not come in", ref)
            return
        if not line:
            self.skip("indicator", "it has no name", ref)
            return
        for word in ("unit", "frequency", "owner"):
            fields[word] = self.word(fields.get(word), word, ref)
        fields["method"] = self.text(fields.get("method"), SENTENCE_BYTES_MAX, "method", ref)
        if len(line) > TITLE_CHARS_MAX:
            self.skip("name of an indicator", f"longer than {TITLE_CHARS_MAX} characters; shortened", line)
            line = line[: TITLE_CHARS_MAX - 1].rstrip() + ELLIPSIS
        self._indicators[ref] = IndicatorWritten(ref, node, line, **fields)

    def skip(self, what: str, why: str, example: str) -> None:
        """Something did not come in, or not as it was.

        Raises:
            UnreadableFile: so much did not that the file must be meant otherwise.
        """
        self._skips_left -= 1
        if self._skips_left < 0:
            raise too_many("things that cannot come in", SKIPPED_MAX)
        one = self._skipped.setdefault((what, why), SkippedItem(what, why, 0, []))
        one.count += 1
        if len(one.examples) < EXAMPLES_MAX:
            one.examples.append(quote_text(example)[1:-1])

    def text(self, raw: str | None, bytes_max: int, what: str, where: str) -> str | None:
        """A text that can be kept: nothing where nothing is said, shortened where it is too long."""
        if raw is None:
            return None
        said = remove_unstorable(raw)
        if not said.strip():
            return None
        if len(said.encode()) > bytes_max:
            self.skip(what, f"longer than {bytes_max} bytes; shortened", where)
            said = said.encode()[: bytes_max - len(ELLIPSIS.encode())].decode(errors="ignore") + ELLIPSIS
        return said

    def word(self, raw: str | None, what: str, where: str) -> str | None:
        """A name or a unit that can be kept."""
        line = normalize_line(raw or "")
        if len(line) > WORD_CHARS_MAX:
            self.skip(what, f"longer than {WORD_CHARS_MAX} characters; shortened", where)
            line = line[: WORD_CHARS_MAX - 1].rstrip() + ELLIPSIS
        return line or None

    def done(self) -> ReadDocument:
        """What was gathered.

        Raises:
            UnreadableFile: there is nothing.
        """
        if not self._nodes:
            raise UnreadableFile("there is nothing in it that could be a node of a theory")
        document = TheoryDocument(
            list(self._nodes.values()),
            list(self._edges.values()),
            list(self._assumptions.values()),
            list(self._indicators.values()),
        )
        return ReadDocument(document, list(self._skipped.values()))

    def _name(self, ref: str, sort: str, taken: dict[str, Any]) -> None:
        if not ref or len(ref) > REF_CHARS_MAX or _UNSTORABLE.search(ref):
            raise UnreadableFile(f"{quote_text(ref)} cannot be the name of a {sort}")
        if ref in taken:
            raise UnreadableFile(
                f"two things are called {quote_text(ref)}, so nobody can tell which is meant", name=ref
            )
        if len(taken) >= THINGS_MAX:
            raise too_many(f"{sort}s", THINGS_MAX)


def remove_unstorable(raw: str) -> str:
    """Text without the characters that no store keeps."""
    return _UNSTORABLE.sub("", raw)


def normalize_line(raw: str) -> str:
    """Text on one line, in the form in which equal texts are equal. White space is folded only where lines are."""
    line = remove_unstorable(raw).strip()
    if len(line.splitlines()) > 1:
        line = " ".join(line.split())
    if line.isascii():
        return line
    import unicodedata  # tables that an ASCII text does not need

    return unicodedata.normalize("NFC", line)


def decode_text(raw: bytes) -> str:
    """The text of a file, which is UTF-8 or says otherwise with a byte order mark.

    Raises:
        UnreadableFile: it is neither.
    """
    encoding = "utf-16" if raw.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    try:
        return raw.decode(encoding)
    except UnicodeDecodeError as error:
        raise UnreadableFile(
            f"it is not {'UTF-16' if encoding == 'utf-16' else 'UTF-8'} at byte {error.start}; save it as UTF-8",
            offset_bytes=error.start,
        ) from None


def decode_json(raw: bytes) -> Any:
    """The value in a file of strict JSON.

    Raises:
        UnreadableFile: it is none, or so much that it would not be looked through in a reasonable time.
    """
    whole = decode_text(raw).encode()
    if sum(map(whole.count, (b",", b"[", b"{", b"]", b"}"))) > PIECES_MAX:
        raise too_many("commas and brackets", PIECES_MAX)
    try:
        return decode(whole, bytes_max=FILE_BYTES_MAX)
    except Invalid as error:
        raise UnreadableFile(error.message.replace("the request", "it", 1), **error.details) from None
