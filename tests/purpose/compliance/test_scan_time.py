"""No text makes the search take more than linear time: four times the text takes about four times as long."""

from __future__ import annotations

import time

import pytest

from groundplan.purpose.compliance.code_check import Language, check_code

CHARS = 3_000
RATIO_MAX = 8  # for four times the text: linear time gives 4, quadratic time 16
ATTEMPTS_MAX = 3  # another process may slow down one of them

PIECES = [
    *("{", "}", "(", ")", "[", "{},", "'", '"', "`", "\\", "\\'", '\\"', "'''", '"""', "/*", "*", "--", ";"),
    *("\n", " \n", "\r", " ", ",\n", "\n\n@a ", ") {", "x => {", "a 'b' ", "$$ ", "E'\\", "'{''", "''{", "'toc_a',"),
    *("class A {", "class A:\n ", "create_table({", ".update( ", "fn " * 65 + "={}" * 66, "path ", "parent_id "),
    *("CREATE TABLE ", "CREATE UNIQUE INDEX ON toc_edges ", "CREATE POLICY ON toc_a ", "DROP TRIGGER a ", "UNIQUE ("),
    *("source_node_id ", "ON toc_edges ", "ON toc_a.toc_a USING ", "status ", "status = 'DRAFT' OR ", "NOT (", "SET "),
    *("UPDATE toc_nodes ", "UPDATE toc_a SET status = 'DRAFT' ", "toc_a WHERE ", "NOT (status = 'DRAFT' OR "),
    *("'parent_id' ", "INSERT INTO x VALUES ('a', ", "RAISE '", "COMMENT ON a IS "),
]
STARTS = [
    "",
    "CREATE TABLE toc_edges ",
    "CREATE UNIQUE INDEX ",
    "CREATE POLICY ",
    "UPDATE toc_nodes SET a = 1 WHERE (status",
]


def measure(text: str, language: Language | None) -> float:
    began = time.process_time()
    check_code("file", text, language)
    return time.process_time() - began


def compare(piece: str, start: str, language: Language | None) -> float:
    """Return how many times as long four times the text takes."""
    short = f"toc_nodes parent_id {start}{piece * (CHARS // len(piece) + 1)}"
    long = f"toc_nodes parent_id {start}{piece * (4 * CHARS // len(piece) + 4)}"
    return measure(long, language) / measure(short, language)


@pytest.mark.parametrize("language", ["sql", "indented", "braces", None])
@pytest.mark.parametrize("piece", PIECES)
def test_no_text_takes_more_than_linear_time(language: Language | None, piece: str) -> None:
    for start in STARTS if language == "sql" else [""]:
        assert any(compare(piece, start, language) < RATIO_MAX for _ in range(ATTEMPTS_MAX)), start
