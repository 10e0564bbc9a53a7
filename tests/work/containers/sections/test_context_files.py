"""Reading file paths from the section of a task, in every form that people write them, and nothing else."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import UNSET

from groundplan.work.containers.fields import EntityType
from groundplan.work.containers.sections.context_files import PATHS_MAX, extract_context_files
from groundplan.work.containers.sections.section import CONTENT_BYTES_MAX, ContentFormat, Section
from tests.machines.budget import fixed_settings
from tests.proof import scaled

TRIES = settings(fixed_settings(0), max_examples=scaled(20, 200))


def section(content: str, title: str = "Context Files", content_format: str = "MARKDOWN") -> Section:
    return Section(
        id="s",
        entity_type=EntityType.TASK,
        entity_id="t",
        title=title,
        usage_description="",
        content=content,
        content_format=ContentFormat(content_format),
        ordinal=0,
        tags=[],
        version=1,
        created_at="",
        modified_at="",
    )


def files(content: str, content_format: str = "MARKDOWN") -> list[str]:
    return extract_context_files([section(content, content_format=content_format)])


WRITTEN = {
    # Lists
    "src/a.ts\nsrc/b.ts": ["src/a.ts", "src/b.ts"],
    "src/a.ts, src/b.ts,src/c.ts;src/d.ts": ["src/a.ts", "src/b.ts", "src/c.ts", "src/d.ts"],
    "- src/a.ts\n* src/b.ts\n+ src/c.ts\n• src/d.ts": ["src/a.ts", "src/b.ts", "src/c.ts", "src/d.ts"],
    "1. src/a.ts\n2) src/b.ts": ["src/a.ts", "src/b.ts"],
    "- [ ] src/a.ts\n- [x] src/b.ts\n[X] src/c.ts": ["src/a.ts", "src/b.ts", "src/c.ts"],
    "  - nested/a.ts\n\t* nested/b.ts": ["nested/a.ts", "nested/b.ts"],
    "> src/a.ts": ["src/a.ts"],
    "Makefile\nREADME": ["Makefile", "README"],
    "Makefile, README": ["Makefile", "README"],
    "src/a.ts\r\nsrc/b.ts\r\n": ["src/a.ts", "src/b.ts"],
    "src/a.ts\n\nsrc/a.ts\n./src/a.ts": ["src/a.ts"],
    # Quotes
    "`src/a.ts`\n\"src/b.ts\"\n'src/c.ts'\n``src/d.ts``": ["src/a.ts", "src/b.ts", "src/c.ts", "src/d.ts"],
    "- `src/a.ts`, `src/b.ts`": ["src/a.ts", "src/b.ts"],
    "`docs/read me.md`": ["docs/read me.md"],
    "See “docs/read me.md” first": ["docs/read me.md"],
    "**src/a.ts**\n**`src/b.ts`**": ["src/a.ts", "src/b.ts"],
    # Names with blanks
    "docs/user guide/intro.md": ["docs/user guide/intro.md"],
    "- docs/user guide/intro.md\n* docs/how to deploy.md:12": ["docs/user guide/intro.md", "docs/how to deploy.md"],
    "docs/user guide/a.md, src/b.ts; docs/the other one/c.md": [
        *("docs/user guide/a.md", "src/b.ts", "docs/the other one/c.md"),
    ],
    "src/pay and lib/a.ts\nsrc/pay: lib/a.ts\nsrc/pay - lib/a.ts\nsrc/pay (see lib/a.ts)": ["src/pay", "lib/a.ts"],
    "src/pay/b.ts calls lib/a.ts": ["src/pay/b.ts", "lib/a.ts"],
    # Links
    "[the cart](src/a.ts)": ["src/a.ts"],
    "- [src/a.ts](src/a.ts) - why": ["src/a.ts"],
    "[`src/a.ts`](https://example.com/blob/main/src/a.ts)": ["src/a.ts"],
    'See [a](src/a.ts#L3 "title") and ![b](img/b.png).': ["src/a.ts", "img/b.png"],
    "[route](app/(shop)/page.tsx)": ["app/(shop)/page.tsx"],
    # Sentences
    "Start with `src/a.ts`, then look at src/b.ts because it is old.": ["src/a.ts", "src/b.ts"],
    "The entry is main.py (see also lib/util.py).": ["main.py", "lib/util.py"],
    "Everything in src/cart/ and its tests.": ["src/cart/"],
    "`npm run build` after `Dockerfile` and `src/a.ts`": ["Dockerfile", "src/a.ts"],
    "`cat src/a.ts` shows it": ["src/a.ts"],
    "Mind .env and package.json!": [".env", "package.json"],
    "src/a.ts's caller is src/b.ts": ["src/a.ts", "src/b.ts"],
    # Text after a path
    "src/a.ts - the cart": ["src/a.ts"],
    "src/a.ts \u2014 the cart": ["src/a.ts"],
    "src/a.ts: the cart": ["src/a.ts"],
    "Makefile - how it is built": ["Makefile"],
    "src/a.ts (new)": ["src/a.ts"],
    "src/a.ts:12\nsrc/b.ts:12:5\nsrc/c.ts:12-20\nMakefile:3": ["src/a.ts", "src/b.ts", "src/c.ts", "Makefile"],
    "src/a.ts#L10\nsrc/b.ts#L10-L20\ndocs/c.md#usage": ["src/a.ts", "src/b.ts", "docs/c.md"],
    "tests/test_a.py::test_b\nsrc/b.cs(12,3)": ["tests/test_a.py", "src/b.cs"],
    "src/a.ts:12 has it, src/b.ts#L10-L20 too": ["src/a.ts", "src/b.ts"],
    # Text around a list
    "# Context Files\n\n## Backend\n- src/a.ts\n---\n## `src/b.ts`": ["src/a.ts", "src/b.ts"],
    "Backend:\nsrc/a.ts": ["src/a.ts"],
    "```ts\nsrc/a.ts\n```\n~~~\nsrc/b.ts\n~~~": ["src/a.ts", "src/b.ts"],
    "```src/a.ts```": ["src/a.ts"],
    "| file | why |\n|---|---|\n| src/a.ts | old |": ["src/a.ts"],
    # Windows, and what Markdown escapes
    "src\\shop\\a.ts\n.\\src\\b.ts": ["src/shop/a.ts", "src/b.ts"],
    "Look at src\\shop\\a.ts first": ["src/shop/a.ts"],
    "src/\\_\\_init\\_\\_.py": ["src/__init__.py"],
    # Unusual names
    "app/[id]/page.tsx\napp/(shop)/page.tsx": ["app/[id]/page.tsx", "app/(shop)/page.tsx"],
    "See app/[id]/page.tsx (or app/(shop)/page.tsx).": ["app/[id]/page.tsx", "app/(shop)/page.tsx"],
    "src/{a,b}.ts\nsrc/shop/**": ["src/{a,b}.ts", "src/shop/**"],
    "/etc/hosts\n../up.ts\nC:\\code\\a.ts": ["/etc/hosts", "../up.ts", "C:/code/a.ts"],
    # Texts without paths
    "": [],
    "Nothing yet, e.g. because nobody looked and/or asked about v1.2 or 1.0.0-rc.1.": [],
    "See https://example.com/src/a.ts and www.example.com/b.ts or example.com/c": [],
    "https://example.com/a.ts": [],
    "Uses Node.js, CI/CD and TCP/IP 24/7, i.e. I/O; ask ada@example.com at localhost:3000/api": [],
    "It calls `handlePayment()` and `npm test`.": [],
    "The price is 3.50 at 9.30am. Done.Then": [],
    "- \n* \n1. \n[ ] \n#\n---\n***\n```": [],
}


@pytest.mark.parametrize("content", WRITTEN)
def test_paths_are_found_however_they_are_written(content: str) -> None:
    assert files(content) == WRITTEN[content]


@pytest.mark.parametrize(
    "title", ["Context Files", "context files", " CONTEXT  FILES ", "Context files:", "context files :"]
)
def test_the_section_is_known_by_its_title(title: str) -> None:
    assert extract_context_files([section("src/a.ts", title)]) == ["src/a.ts"]


def test_other_sections_are_not_read() -> None:
    others = [section("src/a.ts", title) for title in ("Files", "Context", "Context Files of others")]

    assert extract_context_files([*others, section(""), section("src/b.ts"), section("src/c.ts\nsrc/b.ts")]) == [
        "src/b.ts",
        "src/c.ts",
    ]


@pytest.mark.parametrize("content_format", ["JSON", "MARKDOWN"])
def test_an_array_of_strings_counts_too(content_format: str) -> None:
    written = '["src/a.ts", "docs/read me.md", 3, null, "src\\\\b.ts", "src/a.ts", ""]'

    assert files(written, content_format) == ["src/a.ts", "docs/read me.md", "src/b.ts"]


def test_json_that_is_no_such_array_is_read_like_text() -> None:
    assert files('{"files": ["src/a.ts", "src/b.ts"]}', "JSON") == ["src/a.ts", "src/b.ts"]
    assert files('[\n  "src/a.ts",\n  "src/b.ts",\n]') == ["src/a.ts", "src/b.ts"]
    assert files("[" * 32_768) == []


def test_a_section_that_is_shown_without_content_has_no_files() -> None:
    shown = section("src/a.ts")
    shown.content = UNSET

    assert extract_context_files([shown]) == []


def test_no_more_than_so_many_are_found() -> None:
    assert files("\n".join(f"src/{place}.ts" for place in range(2_000))) == [f"src/{n}.ts" for n in range(PATHS_MAX)]


# File names: letters of any script, and other characters that are allowed inside but not at the ends.
LETTERS = st.characters(categories=["Lu", "Ll", "Lo", "Nd"])
NAME = st.builds(
    lambda first, middle, last: first + middle + last,
    LETTERS,
    st.text(st.one_of(LETTERS, st.sampled_from("-_.+@~[]")), max_size=8),
    LETTERS,
)
PATH = st.lists(NAME, min_size=1, max_size=4).map("/".join)
BEFORE = st.sampled_from(["", "- ", "* ", "+ ", "1. ", "- [ ] ", "  ", "> "])
QUOTE = st.sampled_from(["", "`", '"', "'"])


@given(st.text(max_size=400))
@TRIES
def test_no_text_is_too_strange(content: str) -> None:
    assert all(isinstance(path, str) and path for path in files(content))


@given(
    st.lists(
        st.sampled_from([*"`'\"[](){}<>*_-+#:;,./\\|~ \n\tab1", "](", "```", "://", "[ ] ", "src/a.ts"]), max_size=60
    )
)
@TRIES
def test_no_markup_is_too_strange(pieces: list[str]) -> None:
    assert all(path.isprintable() for path in files("".join(pieces)))


@pytest.mark.slow
@given(st.lists(st.tuples(BEFORE, QUOTE, PATH), max_size=20))
@TRIES
def test_every_path_that_stands_alone_on_its_line_comes_back_in_the_order_of_lines(
    lines: list[tuple[str, str, str]],
) -> None:
    content = "\n".join(f"{before}{quote}{path}{quote}" for before, quote, path in lines)

    assert files(content) == list(dict.fromkeys(path for _, _, path in lines))


@given(st.lists(PATH, min_size=1, max_size=6), st.sampled_from(["look at", "then", "and see the old one in"]))
@TRIES
def test_paths_in_back_ticks_are_found_in_sentences_in_their_order(paths: list[str], words: str) -> None:
    looking_like_it = [f"src/{path}.ts" for path in paths]

    found = files("".join(f"{words} `{path}`, " for path in looking_like_it))

    assert found == list(dict.fromkeys(looking_like_it))


PIECES = [
    *("`", "[", "](", "[](", "[](a ", "[a](b ", "(", ")", ",", "{", "{a,", " ", "- ", "1. ", "[ ] ", "a/", "a.", "1."),
    *("/", "\\", '"', "'", ":", ":1", "#L1-", "*", "a,", "a b ", "\n", "`a", "<", "v1.", "a/b ", "a.b ", "1.1-", "(1"),
    *("\u2014", "|", "\\_", "[](a(b", ".", "x'", "a:1:", "//", "../", "./"),
]


@pytest.mark.proof
@pytest.mark.parametrize("piece", PIECES)
def test_what_it_takes_grows_no_faster_than_the_text(piece: str) -> None:
    size = scaled(CONTENT_BYTES_MAX // 4, CONTENT_BYTES_MAX)
    longest = (piece * size)[:size]
    begun = time.thread_time()

    for content in (longest, f"x {longest}", f"{longest}!", f"`{longest}", f"a {longest}`"):
        files(content)

    # Processor time, far more than needed; a backtracking matcher takes minutes for the longest text.
    assert time.thread_time() - begun < 2 * size / CONTENT_BYTES_MAX
