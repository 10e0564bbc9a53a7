"""A folder asks for what is below it, paths are found from anywhere, and patterns that are folders are warned about."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from msgspec import UNSET

from groundplan.kernel.preferences import Preferences
from groundplan.knowledge.patterns import TooCostly
from groundplan.repository.git import WorkingCopy
from groundplan.session import Session
from tests.engines import Engine
from tests.errors import error_of
from tests.knowledge.client import KnowledgeClient
from tests.knowledge.conftest import ADA, open_atlas, open_client
from tests.manual_clock import ManualClock


def know_pay(engine: Engine) -> KnowledgeClient:
    client = open_atlas(engine)
    client.atom("All", "src/pay/**")
    client.atom("Api", "src/pay/api/*.ts")
    client.atom("One", "src/pay/a.ts")
    client.atom("Markdown", "**/*.md")
    client.atom("Web", "web/**")
    client.atom("Bare", "src/pay")
    return client


@pytest.fixture
def pay(engine: Engine, clock: ManualClock) -> Iterator[KnowledgeClient]:
    """Ada at a project that knows some areas below src/pay, in no working copy."""
    with open_client(engine, clock, know_pay) as client:
        yield client


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A working copy in which src/pay is a folder, and bin/pay a file."""
    root = tmp_path / "repo"
    for folder in (".git", "src/pay/api", "bin", "v1.2"):
        (root / folder).mkdir(parents=True)
    (root / "bin" / "pay").touch()
    return root


def within(client: KnowledgeClient, folder: Path) -> KnowledgeClient:
    """Return the same client in a folder of a working copy."""
    preferences = Preferences(working_copy=WorkingCopy(str(folder)))
    return client.in_session(Session(client.session.store, ADA, preferences=preferences))


@pytest.mark.parametrize("folder", ["src/pay", "src/pay/", "./src/pay/.", r"src\pay", "src/pay/x/.."])
def test_a_folder_finds_the_atoms_that_can_match_something_below_it(pay: KnowledgeClient, folder: str) -> None:
    assert pay.names_matching(folder) == ["All", "Api", "Bare", "Markdown", "One"]


def test_a_folder_deeper_down_finds_less_and_the_root_everything(pay: KnowledgeClient) -> None:
    assert pay.names_matching("src/pay/api") == ["All", "Api", "Markdown"]
    assert pay.names_matching("src") == ["All", "Api", "Bare", "Markdown", "One"]
    assert pay.names_matching(".") == pay.names_matching("./") == ["All", "Api", "Bare", "Markdown", "One", "Web"]


@pytest.mark.parametrize("file", ["src/pay/a.ts", "src/pay/b.py", "src/pay/Makefile", "src/pay/.env", "bin/run"])
def test_a_file_does_not_find_what_could_only_be_below_it(pay: KnowledgeClient, file: str) -> None:
    assert "Markdown" not in pay.names_matching(file)
    assert "Markdown" in pay.names_matching(f"{file}/"), "written as a folder it is one"


def test_a_folder_is_shown_as_it_was_asked_for_without_its_slash(pay: KnowledgeClient) -> None:
    known = pay.context("src/pay/", "docs.old/")

    assert {path for atom in known.orphan_atoms for path in atom.matched_paths} == {"src/pay", "docs.old"}
    assert (known.unmatched_paths, known.warnings) == ([], UNSET)


def test_the_working_copy_says_what_is_a_folder(pay: KnowledgeClient, repo: Path) -> None:
    there = within(pay, repo)

    assert there.names_matching("bin/pay") == [], "a file without an ending"
    assert there.names_matching("v1.2") == ["Markdown"], "a folder with one"
    assert there.names_matching("src/gone") == [], "not there yet, and no pattern begins below it"
    assert there.names_matching("web") == ["Markdown", "Web"], "not there yet, but a pattern begins below it"


def test_paths_are_found_from_a_folder_and_from_anywhere(pay: KnowledgeClient, repo: Path) -> None:
    there = within(pay, repo / "src" / "pay")

    known = there.context("api/x.ts", f"{repo}/web/b.ts", ".", "../other.ts")

    found = {atom.name: atom.matched_paths for atom in known.orphan_atoms}
    assert found["Api"] == ["src/pay/api/x.ts", "src/pay"]
    assert found["Web"] == ["web/b.ts"]
    assert (known.unmatched_paths, known.warnings) == (["src/other.ts"], UNSET)


def test_a_path_outside_of_the_repository_is_unmatched_with_a_warning(pay: KnowledgeClient, repo: Path) -> None:
    known = within(pay, repo).context("/etc/hosts", "../a.ts", "src/pay/a.ts", "C:/a.ts", "/b")

    assert known.unmatched_paths == ["/etc/hosts", "../a.ts", "C:/a.ts", "/b"]
    (warning,) = known.warnings
    assert str(repo) in warning
    assert "'/etc/hosts', '../a.ts', 'C:/a.ts' and 1 more" in warning


def test_without_a_working_copy_an_absolute_path_is_unmatched_with_a_warning(pay: KnowledgeClient) -> None:
    known = pay.context("/repo/src/pay/a.ts")

    assert known.unmatched_paths == ["/repo/src/pay/a.ts"]
    (warning,) = known.warnings
    assert "paths from its root" in warning
    assert "--repo" not in warning, "it is an option of one surface only"


def test_outside_of_a_repository_the_warning_has_the_advice_of_the_surface(
    pay: KnowledgeClient, tmp_path: Path
) -> None:
    (warning,) = within(pay, tmp_path).context("/repo/src/pay/a.ts").warnings

    assert warning.endswith("or run this command in the repository")


def test_very_many_folders_that_reach_everything_are_refused(
    client: KnowledgeClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    client.atom("Many", *(f"src/area{n}/**" for n in range(20)))
    monkeypatch.setattr("groundplan.knowledge.patterns.STEPS_MAX", 30)

    assert client.names_matching("src/") == ["Many"]
    with pytest.raises(TooCostly):
        client.context("src/", *(f"src/area{n}/" for n in range(20)))


def warned(client: KnowledgeClient, *paths: str) -> list[str]:
    """What the answer warns of when an atom is created, and when it gets these patterns later."""
    made = client.call(
        "knowledge.create",
        entityType="atom",
        projectId=client.project,
        name="New",
        createdByTaskId=client["plan"],
        paths=list(paths),
    )
    version = made.atom.version
    changed = client.call("knowledge.update", entityType="atom", id=made.atom.id, version=version, paths=list(paths))
    again = client.call("knowledge.update", entityType="atom", id=made.atom.id, version=version + 1, knowledge="new")
    assert (made.atom.paths, changed.warnings, again.warnings) == (list(paths), made.warnings, UNSET)
    return list(made.warnings or ())


def test_a_pattern_without_an_ending_is_stored_with_a_warning(client: KnowledgeClient) -> None:
    (warning,) = warned(client, "src/pay", "src/pay/**", "src/*", "src/a.ts", "Makefile", ".env", "src/[ab]")
    assert warning.startswith("paths[0] 'src/pay' ")
    assert warning.endswith("write src/pay/**")


def test_a_pattern_that_is_a_folder_of_the_working_copy_is_warned_about(client: KnowledgeClient, repo: Path) -> None:
    there = within(client, repo / "src")

    first, second = warned(there, "src/pay", "bin/pay", "v1.2", "src/a.ts")
    assert (first.split()[0], second.split()[0]) == ("paths[0]", "paths[2]")


@pytest.mark.parametrize(
    ("pattern", "instead"),
    [
        ("{repo}/docs/**", "docs/**"),
        ("{repo}/src/pay", "src/pay/**"),
        ("{repo}/docs/", "docs/**"),
        ("{repo}/bin/pay", "bin/pay"),
        ("{repo}", "**"),
        ("{repo}/**", "**"),
        ("{repo}/src/../v1.2/*.md", "v1.2/*.md"),
        ("/src/pay/**", "src/pay/**"),
        ("/**/*.md", "**/*.md"),
    ],
)
def test_the_hint_for_an_absolute_pattern_is_the_one_from_the_root(
    client: KnowledgeClient, repo: Path, pattern: str, instead: str
) -> None:
    there = within(client, repo)

    error = error_of(partial(there.atom, "New", pattern.format(repo=repo)))
    assert (error.code, error.details["hint"].split(",")[0]) == ("malformed_pattern", f"write {instead}")
    assert there.atom("New", instead).paths == [instead]


@pytest.mark.parametrize("pattern", ["/elsewhere/docs/**", "{repo}-old/**", "{repo}/../a.ts", "C:/code/**"])
def test_an_absolute_pattern_outside_of_the_repository_is_said_to_be_outside(
    client: KnowledgeClient, repo: Path, pattern: str
) -> None:
    error = error_of(partial(within(client, repo).atom, "New", pattern.format(repo=repo)))

    assert error.details["hint"].startswith(f"it is outside of the repository {repo};")


def test_there_are_never_more_than_five_warnings(client: KnowledgeClient) -> None:
    warnings = warned(client, *(f"src/area{n}" for n in range(20)))
    assert len(warnings) == 5
    assert warnings[-1].startswith("16 more ")
    assert len(warned(client, *(f"src/area{n}" for n in range(5)))) == 5


def test_an_answer_with_warnings_is_the_same_when_it_is_asked_for_again(client: KnowledgeClient) -> None:
    created = [client.atom("Pay", "src/pay", op_id="once") for _ in range(2)]
    assert created[0] == created[1]
