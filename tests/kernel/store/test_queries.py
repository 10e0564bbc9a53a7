"""Named SQL: one text, two spellings, and values are never part of it."""

from __future__ import annotations

from pathlib import Path

import pytest

import groundplan
from groundplan.kernel.store.queries import Query, load_queries


def write_queries(folder: Path, shared: str, special: str | None = None) -> str:
    (folder / "queries.sql").write_text(shared, encoding="utf-8")
    if special is not None:
        (folder / "queries.postgres.sql").write_text(special, encoding="utf-8")
    return str(folder / "module.py")


def test_a_query_is_found_by_its_name(tmp_path: Path) -> None:
    sql = load_queries(
        write_queries(tmp_path, "-- A file.\n\n-- name: one\n-- About it.\nSELECT 1;\n\n-- name: two\nSELECT :x;\n")
    )

    assert sql.one.sqlite == "SELECT 1"
    assert sql.two.parameters == {"x"}
    with pytest.raises(AttributeError, match="three"):
        _ = sql.three


def test_parameters_are_spelled_for_each_driver() -> None:
    query = Query("q", "SELECT :a, ':b', \"c:d\", x::text, '%' -- :e\n WHERE y = :a")

    assert query.parameters == {"a"}
    assert query.postgres == "SELECT %(a)s, ':b', \"c:d\", x::text, '%%' -- :e\n WHERE y = %(a)s"


def test_an_override_serves_postgres_alone(tmp_path: Path) -> None:
    sql = load_queries(write_queries(tmp_path, "-- name: one\nSELECT 1;", "-- name: one\nSELECT :b;"))

    assert (sql.one.sqlite, sql.one.postgres) == ("SELECT 1", "SELECT %(b)s")
    assert sql.one.parameters == {"b"}


def test_an_override_of_nothing_is_a_mistake(tmp_path: Path) -> None:
    sql = load_queries(write_queries(tmp_path, "-- name: one\nSELECT 1;", "-- name: other\nSELECT 2;"))

    with pytest.raises(ValueError, match="other"):
        _ = sql.one.postgres


def test_a_heading_without_a_space_is_a_mistake(tmp_path: Path) -> None:
    sql = load_queries(write_queries(tmp_path, "-- name: one\nSELECT 1;\n-- name:two\nSELECT 2;"))
    with pytest.raises(ValueError, match="heading"):
        _ = sql.one


def test_a_name_given_twice_is_a_mistake(tmp_path: Path) -> None:
    sql = load_queries(write_queries(tmp_path, "-- name: one\nSELECT 1;\n-- name: one\nSELECT 2;"))

    with pytest.raises(ValueError, match="two of the name one"):
        _ = sql.one


def test_every_statement_of_the_program_can_be_read_for_both_engines() -> None:
    queries = all_queries()

    assert len(queries) > 500
    assert all(query.sqlite and query.postgres for query in queries)


def all_queries() -> list[Query]:
    package = Path(groundplan.__file__).parent
    files = [path for path in package.rglob("*.sql") if "migrations" not in path.parts and ".postgres" not in path.name]
    return [query for path in files for query in load_queries(str(path))]


def test_a_module_may_have_a_file_of_its_own_name_beside_what_its_folder_shares(tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    write_queries(tmp_path, "-- columns: node\nname, rev\n\n-- part: rest\nWHERE x\n\n-- name: far\nSELECT 0;")
    write_queries(tmp_path / "below", "-- name: one\nSELECT 1;\n\n-- part: rest\nWHERE y")
    (tmp_path / "below" / "claims.sql").write_text("-- name: claim\nSELECT {c.node} {rest};", encoding="utf-8")
    special = tmp_path / "below" / "claims.postgres.sql"
    special.write_text("-- name: claim\nSELECT {node} {rest} FOR SHARE;", encoding="utf-8")

    claims = load_queries(str(tmp_path / "below" / "claims.py"))
    assert (claims.claim.sqlite, claims.claim.postgres) == (
        "SELECT c.name, c.rev WHERE y",
        "SELECT name, rev WHERE y FOR SHARE",
    )
    assert [query.name for query in claims] == ["claim"]
    assert claims.one is load_queries(str(tmp_path / "below" / "undo.py")).one
    with pytest.raises(AttributeError, match="far"):
        _ = claims.far


def test_a_folder_without_shared_statements_inherits_from_the_one_above(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    write_queries(tmp_path, "-- columns: node\nname, rev")
    (tmp_path / "a" / "b" / "claims.sql").write_text("-- name: claim\nSELECT {node};", encoding="utf-8")

    assert load_queries(str(tmp_path / "a" / "b" / "claims.py")).claim.sqlite == "SELECT name, rev"


def test_a_statement_of_a_module_and_of_its_folder_is_a_mistake(tmp_path: Path) -> None:
    write_queries(tmp_path, "-- name: one\nSELECT 1;")
    (tmp_path / "claims.sql").write_text("-- name: one\nSELECT 2;", encoding="utf-8")

    with pytest.raises(ValueError, match="both have \\['one'\\]"):
        _ = load_queries(str(tmp_path / "claims.py")).one


def test_a_comment_within_a_statement_is_left_out(tmp_path: Path) -> None:
    sql = load_queries(
        write_queries(tmp_path, "-- name: one\nSELECT 1\n-- Why two.\n     , 2;\n\n-- name: two\nSELECT 3;")
    )

    assert (sql.one.sqlite, sql.two.sqlite) == ("SELECT 1\n     , 2", "SELECT 3")


def test_the_modules_of_a_folder_share_its_statements(tmp_path: Path) -> None:
    write_queries(tmp_path, "-- name: one\nSELECT 1;")

    assert load_queries(str(tmp_path / "a.py")).one is load_queries(str(tmp_path / "b.py")).one


def test_a_list_of_columns_serves_every_form_in_its_folder_and_below(tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    write_queries(
        tmp_path, "-- columns: node\nname, rev\n\n-- name: add\nINSERT INTO t ({node}) VALUES ({node:values});"
    )
    below = write_queries(
        tmp_path / "below", "-- name: change\nUPDATE t SET {node:set};\n\n-- name: all\nSELECT {n.node};"
    )

    above = load_queries(str(tmp_path / "module.py"))
    assert above.columns == {"node": ("name", "rev")}
    assert above.add.sqlite == "INSERT INTO t (name, rev) VALUES (:name, :rev)"
    assert load_queries(below).change.sqlite == "UPDATE t SET name = :name, rev = :rev"
    assert load_queries(below).all.sqlite == "SELECT n.name, n.rev"
