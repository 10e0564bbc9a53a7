"""Text that is not what its name says gives a clear answer and hides nothing; without sqlglot nothing is approved."""

from __future__ import annotations

import sys

import pytest

from groundplan.purpose.compliance.checklist import CodeFinding
from groundplan.purpose.compliance.code_check import check_code, decide

PARENT = "parent_id"


def check(text: str, path: str = "file.sql") -> list[CodeFinding]:
    return check_code(path, text.replace("§", "toc_"))


def test_each_of_ten_thousand_statements_is_read() -> None:
    text = "SELECT id FROM §nodes WHERE tenant_id = 1;\n" * 9_999

    findings = check(f"{text}ALTER TABLE §nodes ADD {PARENT} int;\n")

    assert [(one.line, one.verdict) for one in findings] == [(10_000, "BLOCKED")]


@pytest.mark.parametrize("quote", ["'", '"', "`", "$$", "$body$", "E'\\"])
def test_an_open_quote_is_for_a_person_and_hides_nothing(quote: str) -> None:
    verdicts = {one.verdict for one in check(f"SELECT {quote}x FROM §nodes;\nALTER TABLE §nodes ADD {PARENT} int;")}

    assert verdicts


@pytest.mark.parametrize("line_end", ["\n", "\r", "\r\n"])
def test_a_carriage_return_ends_a_line_and_a_comment(line_end: str) -> None:
    findings = check(line_end.join(("-- of §nodes", "", f"ALTER TABLE §nodes ADD {PARENT} int;")))

    assert [(one.line, one.verdict) for one in findings] == [(3, "BLOCKED")]


@pytest.mark.parametrize("path", ["a.sql", "a.py", "a.ts", "a.rb", "a"])
@pytest.mark.parametrize(
    "text",
    [
        *("", "\n", ";", ";;;", "\0", "\ufeff", "\udcff", "§nodes", "'§nodes", "\0\1§nodes\2" * 100),
        *("(" * 5_000 + "§nodes", "§nodes" + ")" * 5_000, "SELECT " + "(" * 5_000 + "1 FROM §nodes"),
        "SELECT '§nodes" + "''" * 5_000,
    ],
)
def test_any_text_has_an_answer(path: str, text: str) -> None:
    findings = check(text, path)

    assert all(one.line >= 1 and one.text for one in findings)
    assert decide(findings) in ("APPROVED", "LOOK")


def test_a_statement_that_is_too_long_for_the_parser_is_for_a_person() -> None:
    values = ", ".join("(1, 'x')" for _ in range(40_000))

    assert [one.rule for one in check(f"INSERT INTO §nodes (tenant_id, title) VALUES {values};")] == ["not_understood"]


def test_without_sqlglot_the_patterns_block_a_parent_and_the_rest_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "sqlglot", None)
    monkeypatch.delitem(sys.modules, "groundplan.purpose.compliance.code_sql", raising=False)

    blocked = check(f"ALTER TABLE §nodes ADD COLUMN {PARENT} uuid;")
    in_code = check(f"op.add_column('§nodes', sa.Column('{PARENT}', sa.Uuid()))", "a.py")
    (found,) = check("SELECT id FROM §nodes WHERE tenant_id = 1;")

    assert [one.verdict for one in blocked] == ["BLOCKED", "LOOK"]
    assert [one.verdict for one in in_code] == ["BLOCKED"]
    assert found.verdict == "LOOK"
    assert "pip install 'groundplan[check]'" in found.text
