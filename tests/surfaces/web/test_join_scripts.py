"""Modules become one file that does the same: each keeps its own names, and runs once."""

from __future__ import annotations

import pytest

from groundplan.surfaces.web.join_scripts import FIRST, UnreadableScript, join_scripts

WORDS = 'const secret = "words";\nexport const say = (text) => console.log(`${secret}: ${text}`);\nsay("begins");\n'
PAGE = """import { say as tell } from "./words.js";
import * as keys from "./keys.js";

const secret = 1;
tell(keys.find(secret));
"""
KEYS = """import {
  say,
} from "./words.js";
// A comment with export function in it.
export async function wait() {}
export function find(secret) { say("finds"); return `key ${secret}`; }
export class Sheet {}
"""


def test_a_joined_file_imports_nothing_and_each_module_comes_after_what_it_needs() -> None:
    files = join_scripts({FIRST: PAGE, "words.js": WORDS, "keys.js": KEYS})

    assert files.keys() == {FIRST}
    assert "import" not in files[FIRST]
    assert [line for line in files[FIRST].splitlines() if line.startswith("// ")] == [
        "// words.js",
        "// keys.js",
        "// A comment with export function in it.",
        "// page.js",
    ]
    assert "return { wait, find, Sheet };" in files[FIRST]
    assert "const { say: tell } = $words;" in files[FIRST]


def test_a_module_that_no_other_imports_is_a_file_and_takes_the_rest_from_the_first() -> None:
    sources = {FIRST: PAGE, "words.js": WORDS, "keys.js": KEYS}
    sources["canvas.js"] = 'import { say } from "./words.js";\nimport { draw } from "./draw.js";\nsay(draw());\n'
    sources["draw.js"] = 'export const draw = () => "drawn";\n'
    files = join_scripts(sources)

    assert files.keys() == {FIRST, "canvas.js"}
    assert files["canvas.js"].startswith(f'import {{ $words }} from "./{FIRST}";\n// draw.js\n')
    assert "draw.js" not in files[FIRST]


def test_what_two_files_need_is_in_the_first_because_it_must_run_once() -> None:
    sources = {FIRST: "", "a.js": 'import { say } from "./words.js";', "b.js": 'import { say } from "./words.js";'}
    files = join_scripts({**sources, "words.js": WORDS})

    assert [name for name, text in files.items() if "// words.js" in text] == [FIRST]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('import words from "./words.js";', "cannot be joined"),
        ('import { a } from "https://example.org/a.js";', "cannot be joined"),
        ("export default 1;", "cannot be joined"),
        ("export let count = 1;", "cannot be joined"),
        ("await fetch('/');", "cannot be joined"),
        ('import { a } from "./nothing.js";', "page.js imports nothing.js, which does not exist"),
        ('import { a } from "./circle.js";', "page.js -> circle.js -> page.js"),
    ],
)
def test_a_line_that_cannot_be_joined_is_named(line: str, message: str) -> None:
    with pytest.raises(UnreadableScript, match=message):
        join_scripts({FIRST: line, "words.js": WORDS, "circle.js": 'import { b } from "./page.js";'})


def test_a_module_that_is_loaded_later_keeps_its_own_file() -> None:
    files = join_scripts({FIRST: 'if (1)\n  import("./canvas.js");\n', "canvas.js": ""})

    assert 'import("./canvas.js")' in files[FIRST]
    assert files.keys() == {FIRST, "canvas.js"}
