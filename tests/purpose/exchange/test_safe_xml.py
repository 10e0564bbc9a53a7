"""XML as a light tree, and the XML features that are refused."""

from __future__ import annotations

import tracemalloc
from xml.sax.saxutils import escape, quoteattr

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundplan.purpose.exchange.readers import untrusted
from groundplan.purpose.exchange.readers.builder import UnreadableFile
from groundplan.purpose.exchange.readers.untrusted import DEPTH_MAX, TAG_BYTES_MAX, Element, read_xml
from tests.purpose.exchange.theory_strategies import tries

# (tag, attributes, pieces), which can be compared.
Plain = tuple[str, dict[str, str], list["str | Plain"]]


def plain(element: Element) -> Plain:
    return (
        element.tag,
        element.attributes,
        [piece if isinstance(piece, str) else plain(piece) for piece in element.pieces],
    )


def error_of(raw: bytes | str) -> str:
    with pytest.raises(UnreadableFile) as caught:
        read_xml(raw.encode() if isinstance(raw, str) else raw)
    return caught.value.message


# Accepted


def test_texts_and_elements_come_out_in_their_order() -> None:
    root = read_xml(b"<a>one<b>two<c/></b>three<!-- no --> and<?no?> four</a>")

    assert plain(root) == ("a", {}, ["one", ("b", {}, ["two", ("c", {}, [])]), "three and four"])
    assert root.text == "onethree and four"
    assert [child.tag for child in root.children] == ["b"]


def test_prefixes_and_namespaces_are_dropped() -> None:
    root = read_xml(b'<x:a xmlns:x="u:1" xmlns="u:2" x:Id="1"><y:b/></x:a>')

    assert root.tag == "a"
    assert root.attributes["Id"] == "1"
    assert root.children[0].tag == "b"


@pytest.mark.parametrize("attributes", ['Id="1" x:Id="2"', 'x:Id="2" Id="1"', 'xmlns:Id="2" Id="1"'])
def test_an_attribute_without_a_prefix_goes_before_one_with_a_prefix(attributes: str) -> None:
    assert read_xml(f"<a {attributes}/>".encode()).attributes == {"Id": "1"}


def test_the_name_of_a_prefix_is_no_attribute() -> None:
    assert read_xml(b'<a xmlns:Id="1"/>').attributes == {}


def test_what_is_escaped_is_text() -> None:
    root = read_xml(b"<a b='&lt;&quot;'>&lt;b/&gt; &amp;amp; &#233;&#x1F41F; <![CDATA[<c>&d;]]></a>")

    assert root.text == "<b/> &amp; é🐟 <c>&d;"
    assert root.attributes == {"b": '<"'}


@pytest.mark.parametrize(
    ("encoding", "declared"),
    [
        ("utf-8", "UTF-8"),
        ("utf-8-sig", "utf-8"),
        ("utf-16", "UTF-16"),
        ("utf-16-le", "UTF-16LE"),
        ("utf-16-be", "UTF-16BE"),
        ("iso-8859-1", "ISO-8859-1"),
    ],
)
def test_the_usual_encodings_are_read(encoding: str, declared: str) -> None:
    assert read_xml(f'<?xml version="1.0" encoding="{declared}"?><a>é</a>'.encode(encoding)).text == "é"


def test_a_long_text_comes_out_whole() -> None:
    text = "é🐟 " * 100_000

    assert read_xml(f"<a>{text}</a>".encode()).text == text


texts = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"], exclude_characters="\ufffe\uffff"), max_size=20
)
names = st.sampled_from(["a", "b", "Cause", "é"])
trees: st.SearchStrategy[Plain] = st.recursive(
    st.tuples(names, st.dictionaries(names, texts, max_size=2), st.just([])),
    lambda inside: st.tuples(
        names, st.dictionaries(names, texts, max_size=2), st.lists(texts.filter(bool) | inside, max_size=4)
    ),
    max_leaves=20,
)


def write_xml(tree: Plain) -> str:
    tag, attributes, pieces = tree
    listed = "".join(f" {name}={quoteattr(value)}" for name, value in attributes.items())
    inside = "".join(escape(piece) if isinstance(piece, str) else write_xml(piece) for piece in pieces)
    return f"<{tag}{listed}>{inside}</{tag}>"


def join_texts(tree: Plain) -> Plain:
    """Return the tree with adjacent texts joined."""
    pieces: list[str | Plain] = []
    for piece in tree[2]:
        if isinstance(piece, str) and pieces and isinstance(pieces[-1], str):
            pieces[-1] += piece
        else:
            pieces.append(piece if isinstance(piece, str) else join_texts(piece))
    return tree[0], tree[1], pieces


@tries(40)
@given(tree=trees, encoding=st.sampled_from(["utf-8", "utf-16"]))
def test_any_tree_comes_out_as_it_was_written(tree: Plain, encoding: str) -> None:
    assert plain(read_xml(write_xml(tree).encode(encoding))) == join_texts(tree)


# Refused

LAUGHS = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
HOSTILE = {
    "a document type": "<!DOCTYPE a><a/>",
    "a billion laughs": f'<!DOCTYPE a [<!ENTITY l0 "ha">{LAUGHS}]><a>&l9;</a>',
    "an entity that is a file": '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>',
    "an entity from the network": '<!DOCTYPE a [<!ENTITY x SYSTEM "http://localhost/x">]><a>&x;</a>',
    "a parameter entity": '<!DOCTYPE a [<!ENTITY % x SYSTEM "file:///etc/passwd"> %x;]><a/>',
    "a document type from outside": '<!DOCTYPE a SYSTEM "file:///etc/passwd"><a/>',
    "a document type of the public": '<!DOCTYPE a PUBLIC "x" "http://localhost/x"><a/>',
    "an attribute that is there by default": '<!DOCTYPE a [<!ATTLIST a Id CDATA "1">]><a/>',
}


@pytest.mark.parametrize("what", HOSTILE)
def test_a_document_type_is_refused_whatever_is_in_it(what: str) -> None:
    assert "document type" in error_of(HOSTILE[what])
    assert "document type" in error_of(HOSTILE[what].encode("utf-16"))


@pytest.mark.parametrize(
    "encoding",
    ["windows-1252", "latin-1", "utf-7", "utf-32", "hex", "rot13", "zlib", "idna", "undefined", "big5", "nope"],
)
def test_other_encodings_are_refused_by_name(encoding: str) -> None:
    assert encoding in error_of(f'<?xml version="1.0" encoding="{encoding}"?><a/>')


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b" ",
        b"no XML",
        b"<a>",
        b"<a></b>",
        b"<a/><b/>",
        b"<a>&x;</a>",
        b"<a>&#0;</a>",
        b"<a>&#xD800;</a>",
        b"<a>\x00</a>",
        b"<a>\xff</a>",
        b"<a b='1' b='2'/>",
        "<a>é</a>".encode("utf-32"),
        '<?xml version="1.0" encoding="UTF-8"?><a>é</a>'.encode("latin-1"),
        '<?xml version="1.0" encoding="US-ASCII"?><a>é</a>'.encode(),
        b'<?xml version="1.0" encoding="UTF-16"?><a/>',
    ],
)
def test_what_is_no_xml_is_refused_with_its_place(raw: bytes) -> None:
    assert "malformed in line 1" in error_of(raw)


def test_depth_is_limited() -> None:
    assert read_xml(b"<a>" * DEPTH_MAX + b"</a>" * DEPTH_MAX).tag == "a"
    assert str(DEPTH_MAX) in error_of(b"<a>" * (DEPTH_MAX + 1) + b"</a>" * (DEPTH_MAX + 1))
    assert str(DEPTH_MAX) in error_of(b"<a>" * 1_000_000)


def test_the_number_of_elements_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(untrusted, "ELEMENTS_MAX", 3)

    assert len(read_xml(b"<a><b/><c/></a>").children) == 2
    assert "3 elements" in error_of(b"<a><b/><c/><d/></a>")


@pytest.mark.parametrize("form", ["<a>{}</a>", "<a b='{}'/>", "<a><b>{}</b></a>", "<a><![CDATA[{}]]></a>"])
def test_the_amount_of_text_is_limited(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(untrusted, "TEXT_CHARS_MAX", 100)

    read_xml(form.format("é" * 90).encode())
    assert "100 characters" in error_of(form.format("é" * 101))


@pytest.mark.parametrize("start", [b"<a b='", b"<a ", b"<a><!--", b"<!--", b"<?x ", b"<", b"<a></"])
def test_a_tag_without_end_is_refused_before_it_costs_much(start: bytes) -> None:
    raw = start + b"x" * (8 * TAG_BYTES_MAX)
    tracemalloc.start()
    try:
        assert "longer than" in error_of(raw)
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert peak_bytes < 4 * TAG_BYTES_MAX


# Any bytes

WHOLE = '<?xml version="1.0" encoding="{}"?>\n<m:a xmlns:m="u" Id="1"><!-- c --><b>é&lt;&#233;<![CDATA[x]]></b></m:a>'


@tries(100)
@given(
    encoding=st.sampled_from(["utf-8", "utf-16", "iso-8859-1"]),
    at=st.integers(0, 2 * len(WHOLE)),
    gone=st.integers(0, 4),
    instead=st.binary(max_size=3) | st.sampled_from([b"<!DOCTYPE a>", b"&x;", b"\0", b"\xed\xa0\x80", b"\x00\xd8"]),
)
def test_damaged_xml_is_read_or_refused(encoding: str, at: int, gone: int, instead: bytes) -> None:
    raw = WHOLE.format(encoding).encode(encoding)
    try:
        root = read_xml(raw[:at] + instead + raw[at + gone :])
    except UnreadableFile:
        return
    str(plain(root)).encode()


@tries(40)
@given(raw=st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(raw: bytes) -> None:
    try:
        read_xml(raw)
    except UnreadableFile:
        return
    assert raw.lstrip().startswith(b"<")
