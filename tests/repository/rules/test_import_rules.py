"""Rule files become atoms, and the same atoms when imported again; unreadable files are skipped with a reason."""

from __future__ import annotations

import os
import uuid
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from groundplan.kernel.errors import NotFound
from groundplan.repository.rules.formats import OWN_FILES, RuleFormat
from groundplan.repository.rules.import_rules import (
    BLOCK_LEFT_OVER,
    BOTH_CHANGED,
    FILE_LEFT_OVER,
    ImportedRules,
    import_rules,
)
from groundplan.repository.rules.rule import ExportedAtom, normalize_line_breaks
from tests.proof import scaled
from tests.repository.rules import rule_strategies
from tests.repository.rules.rules_project import RulesProject
from tests.repository.rules.test_export import CART, each_format


def names(taken: ImportedRules) -> tuple[list[str], list[str], list[str]]:
    """Return the created, updated and unchanged names."""
    return tuple([one.name for one in some] for some in (taken.created, taken.updated, taken.unchanged))  # type: ignore[return-value] # three of them


def reasons(taken: ImportedRules, folder: Path) -> dict[str, str]:
    return {os.path.relpath(one.file, folder): one.reason for one in taken.skipped}


HAND_WRITTEN = {
    RuleFormat.CLAUDE: (".claude/rules/cart.md", "---\npaths:\n  - src/cart/**\n---\n# Cart\n\nNever round twice.\n"),
    RuleFormat.CURSOR: (".cursor/rules/cart.mdc", "---\nglobs: src/cart/**\n---\n# Cart\n\nNever round twice.\n"),
    RuleFormat.AGENTS: ("src/cart/AGENTS.md", "# Cart\n\nNever round twice.\n"),
    RuleFormat.COPILOT: (
        ".github/instructions/cart.instructions.md",
        '---\napplyTo: "src/cart/**"\n---\n# Cart\n\nNever round twice.\n',
    ),
}


@each_format
def test_a_rule_that_somebody_wrote_becomes_an_atom_once(project: RulesProject, form: RuleFormat) -> None:
    path, text = HAND_WRITTEN[form]
    project.write(path, text)
    (project.folder / ".git").mkdir()

    taken = project.import_rules(form)

    assert names(taken) == (["Cart"], [], [])
    assert project.read_atoms() == [("Cart", ("src/cart/**",), "Never round twice.")]
    assert project.read(taken.created[0].atom_id).created_by_task_id == project.task
    assert names(project.import_rules(form, path)) == ([], [], ["Cart"])
    project.edit(path, "Never", "Do not")
    assert names(project.import_rules(form)) == ([], ["Cart"], [])
    assert project.read_atoms() == [("Cart", ("src/cart/**",), "Do not round twice.")]


@each_format
def test_an_edit_by_hand_is_taken_into_the_atom_and_the_file_is_then_as_written(
    project: RulesProject, form: RuleFormat
) -> None:
    atom = project.atom(moleculeId=project.molecule("Pages").id)
    project.export(form)
    project.edit(CART[form], "Never round", "Do not round")
    project.edit(CART[form], "# Cart", "# Basket")
    project.edit(CART[form], "src/cart/**", "src/basket/**")

    assert names(project.import_rules(form)) == ([], ["Basket"], [])

    assert project.read_atoms() == [("Basket", ("src/basket/**",), "Do not round twice.")]
    assert project.read(atom.id).last_task_id == project.task
    done = project.export(form)
    assert done.is_complete
    assert project.export(form).is_up_to_date
    assert names(project.import_rules(form)) == ([], [], ["Basket"])


@each_format
def test_a_file_that_was_not_edited_takes_nothing_back_from_its_atom(project: RulesProject, form: RuleFormat) -> None:
    atom = project.atom()
    project.export(form)
    project.change(atom, knowledge="Round once.")

    assert names(project.import_rules(form)) == ([], [], ["Cart"])
    assert project.read(atom.id).knowledge == "Round once."


@each_format
@pytest.mark.parametrize("has_a_namesake", [False, True])
def test_a_file_that_was_not_edited_brings_no_deleted_atom_back(
    project: RulesProject, form: RuleFormat, has_a_namesake: bool
) -> None:
    atom = project.atom()
    project.export(form)
    project.delete(atom)
    if has_a_namesake:
        project.atom(knowledge="Round once.")
    kept = project.read_atoms()

    taken = project.import_rules(form)

    reason = BLOCK_LEFT_OVER if form is RuleFormat.AGENTS else FILE_LEFT_OVER
    assert reasons(taken, project.folder) == {CART[form]: reason}
    assert (names(taken), project.read_atoms()) == (([], [], []), kept)
    assert project.export(form).is_complete
    if has_a_namesake:
        assert project.import_rules(form).skipped == []
    else:  # the file is gone
        with pytest.raises(NotFound):
            project.import_rules(form)


@each_format
def test_a_folder_without_rules_says_where_they_were_looked_for(project: RulesProject, form: RuleFormat) -> None:
    project.write("node_modules/x/AGENTS.md", "Theirs.\n")
    project.write("README.md", "# Hills\n")

    with pytest.raises(NotFound) as refused:
        project.import_rules(form)

    folder = "AGENTS.md" if form is RuleFormat.AGENTS else OWN_FILES[form].folder
    assert folder in refused.value.message
    assert str(project.folder) in refused.value.message


@pytest.mark.parametrize("form", [RuleFormat.CURSOR, RuleFormat.COPILOT])
def test_files_with_the_suffix_of_rules_that_are_elsewhere_are_named(project: RulesProject, form: RuleFormat) -> None:
    own = OWN_FILES[form]
    for number in range(5):
        project.write(f"collection/rule-{number}{own.suffix}", f"# Rule {number}\nNever round.\n")

    with pytest.raises(NotFound) as refused:
        project.import_rules(form)
    assert f"outside of {own.folder}" in refused.value.message
    assert f"without {own.suffix}: 5;" in refused.value.message

    project.write(f"{own.folder}/mine{own.suffix}", f"---\n{own.pattern_field}: src/**\n---\n# Mine\nRound once.\n")
    done = project.import_rules(form)
    assert ([atom.name for atom in done.created], len(done.warnings)) == (["Mine"], 1)
    named = [str(project.folder / f"collection/rule-{number}{own.suffix}") for number in range(5)]
    assert len(import_rules(project.session, project.project, project.task, form, named).molecules) == 5


@pytest.mark.parametrize("form", [RuleFormat.CURSOR, RuleFormat.COPILOT])
def test_files_beside_rules_that_the_tool_ignores_are_named(project: RulesProject, form: RuleFormat) -> None:
    own = OWN_FILES[form]
    project.write(f"{own.folder}/mine{own.suffix}", f"---\n{own.pattern_field}: src/**\n---\n# Mine\nRound once.\n")
    project.write(f"{own.folder}/old.md", f"---\n{own.pattern_field}: lib/**\n---\n# Old\nNever round.\n")

    done = project.import_rules(form)

    assert [atom.name for atom in done.created] == ["Mine"]
    assert [str(project.folder / own.folder / "old.md") in warning for warning in done.warnings] == [True]


@each_format
def test_a_file_that_was_edited_makes_an_atom_where_its_own_was_deleted(
    project: RulesProject, form: RuleFormat
) -> None:
    atom = project.atom()
    project.export(form)
    project.edit(CART[form], "Never", "Do not")
    project.delete(atom)

    assert names(project.import_rules(form)) == (["Cart"], [], [])
    assert project.read_atoms() == [("Cart", ("src/cart/**",), "Do not round twice.")]
    assert names(project.import_rules(form)) == ([], [], ["Cart"])


@each_format
def test_a_deleted_atom_of_another_project_is_none_of_this_one_s(project: RulesProject, form: RuleFormat) -> None:
    other = RulesProject(project.session, "other", project.folder)
    theirs = other.atom()
    other.export(form)
    other.delete(theirs)

    assert names(project.import_rules(form)) == (["Cart"], [], [])


@each_format
def test_where_file_and_atom_have_both_changed_neither_is_lost(project: RulesProject, form: RuleFormat) -> None:
    atom = project.atom()
    project.export(form)
    project.edit(CART[form], "Never", "Do not")
    project.change(atom, knowledge="Round once.")

    assert reasons(project.import_rules(form), project.folder) == {CART[form]: BOTH_CHANGED}
    assert project.read(atom.id).knowledge == "Round once."


@each_format
def test_an_atom_that_was_only_confirmed_since_still_takes_the_edit(project: RulesProject, form: RuleFormat) -> None:
    atom = project.atom(moleculeId=project.molecule("Pages").id)
    project.export(form)
    project.change(atom, confirm="9fceb02d0ae598e95dc970b74767f19372d61af8")
    project.edit(CART[form], "Never", "Do not")

    assert names(project.import_rules(form)) == ([], ["Cart"], [])


@each_format
def test_a_heading_that_was_deleted_leaves_the_atom_its_name(project: RulesProject, form: RuleFormat) -> None:
    project.atom()
    project.export(form)
    project.edit(CART[form], "# Cart\n", "")

    project.import_rules(form)

    ((name, _, knowledge),) = project.read_atoms()
    assert name == "Cart"
    assert knowledge.endswith("Never round twice.")


@pytest.mark.slow
@each_format
@settings(max_examples=scaled(5, 15), suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(atoms=st.lists(rule_strategies.subjects, min_size=1, max_size=4))
def test_what_one_project_exports_another_one_imports_unchanged(
    project: RulesProject, form: RuleFormat, atoms: list[ExportedAtom]
) -> None:
    source = RulesProject(project.session, f"from {uuid.uuid4()}", project.folder / uuid.uuid4().hex)
    target = RulesProject(project.session, f"to {uuid.uuid4()}", source.folder)
    for atom in {(atom.name, frozenset(atom.patterns)): atom for atom in atoms}.values():
        source.atom(atom.name, *atom.patterns, knowledge=atom.knowledge)
    assert source.export(form).is_complete

    taken = target.import_rules(form)

    assert taken.skipped == []
    assert sorted(target.read_atoms()) == sorted(
        (name, patterns, normalize_line_breaks(knowledge)) for name, patterns, knowledge in source.read_atoms()
    )
    assert target.export(form).is_complete
    assert source.export(form).is_up_to_date


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        (".claude/rules/x.md", "Just text.", ("x", ("**",), "Just text.")),
        (
            ".claude/rules/deep/x.md",
            "---\npaths: src/**, lib/*.{a,b}\n---\nText.",
            ("x", ("src/**", "lib/*.{a,b}"), "Text."),
        ),
        (".claude/rules/x.md", "---\npaths: **/*.ts\n---\n## Types ##\nText.", ("Types", ("**/*.ts",), "Text.")),
        ("web/.claude/rules/x.md", "---\npaths: [./src/**]\n---\n# X", ("X", ("web/src/**",), "")),
        ("[web]/.claude/rules/x.md", "# X", ("X", ("\\[web]/**",), "")),
        (".claude/rules/x.md", "\ufeff# X\r\n\r\na\r\nb\r\n", ("X", ("**",), "a\nb")),
    ],
)
def test_rules_of_claude_code_are_read_as_the_tool_reads_them(
    project: RulesProject, path: str, text: str, expected: tuple[str, tuple[str, ...], str]
) -> None:
    project.write(path, text)
    project.write("README.md", "# No rule")

    project.import_rules(RuleFormat.CLAUDE)

    assert project.read_atoms() == [expected]


def test_rules_of_cursor_are_read_as_the_tool_reads_them(project: RulesProject) -> None:
    project.write(".cursor/rules/always.mdc", "---\ndescription: House rules\nalwaysApply: true\n---\nBe kind.\n")
    project.write(".cursor/rules/ts.mdc", "---\nglobs: **/*.ts, **/*.tsx\nalwaysApply: false\n---\n# Types\nStrict.\n")
    project.write(".cursor/rules/asked.mdc", "---\ndescription: On demand\n---\nText.\n")
    project.write("web/.cursor/rules/near.mdc", "---\nalwaysApply: true\n---\n# Near\n")

    taken = project.import_rules(RuleFormat.CURSOR)

    assert project.read_atoms() == [
        ("House rules", ("**",), "Be kind."),
        ("Near", ("web/**",), ""),
        ("Types", ("**/*.ts", "**/*.tsx"), "Strict."),
    ]
    assert (taken.skipped, project.molecules()) == ([], {"On demand": "Text."})


def test_an_agents_file_is_for_its_directory_and_its_blocks_are_atoms_of_their_own(project: RulesProject) -> None:
    project.atom("Block", "src/**")
    project.export(RuleFormat.AGENTS)
    block = project.files()["src/AGENTS.md"]
    project.write("src/AGENTS.md", f"Before.\n\n{block}\n## After\n")
    project.write("AGENTS.md", "# Everywhere\nBe kind.\n")

    taken = project.import_rules(RuleFormat.AGENTS)

    assert names(taken) == (["Everywhere", "After"], [], ["Block"])
    assert project.read_atoms() == [
        ("After", ("src/**",), "Before.\n\n\n## After"),
        ("Block", ("src/**",), "Never round twice."),
        ("Everywhere", ("**",), "Be kind."),
    ]


def test_patterns_are_meant_from_the_root_of_the_repository(
    project: RulesProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.write("src/ui/AGENTS.md", "# Near\n")
    project.write("src/ui/.claude/rules/x.md", "# Rule\n")
    (project.folder / ".git").mkdir()
    monkeypatch.chdir(project.folder / "src")

    project.import_rules(RuleFormat.AGENTS, "src/ui")
    project.import_rules(RuleFormat.CLAUDE, "src/ui/.claude/rules/x.md")

    assert [(name, patterns) for name, patterns, _ in project.read_atoms()] == [
        ("Near", ("src/ui/**",)),
        ("Rule", ("src/ui/**",)),
    ]


def test_without_a_repository_a_file_is_meant_from_where_one_stands(
    project: RulesProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.write("src/AGENTS.md", "# Near\n")
    project.write("far/AGENTS.md", "# Far\n")
    monkeypatch.chdir(project.folder)
    project.import_rules(RuleFormat.AGENTS, "src/AGENTS.md")
    monkeypatch.chdir(project.folder / "src")
    project.import_rules(RuleFormat.AGENTS, "far/AGENTS.md")

    assert [(name, patterns) for name, patterns, _ in project.read_atoms()] == [("Far", ("**",)), ("Near", ("src/**",))]


def test_what_cannot_be_read_is_skipped_with_its_reason_and_the_rest_is_taken(project: RulesProject) -> None:
    rules = ".claude/rules"
    broken: dict[str, str | bytes] = {
        "yaml.md": "---\npaths: [a\nb: {\n---\n# X\n",
        "open.md": "---\npaths: a\n",
        "list.md": "---\npaths:\n  - {a: b}\n---\n# X\n",
        "absolute.md": "---\npaths: /etc/**\n---\n# X\n",
        "above.md": "---\npaths: ../x/**\n---\n# X\n",
        "malformed.md": "---\npaths: src/[a\n---\n# X\n",
        "many.md": "---\npaths: " + ",".join(f"a{n}" for n in range(21)) + "\n---\n# X\n",
        "long.md": "# X\n" + "é" * 16_385,
        "huge.md": "x" * (5 << 20),
        "latin.md": "Café".encode("latin-1"),
        "control.md": "# X\n\x01\n",
        "name.md": f"# {'x' * 256}\n",
        "empty.md": " \n",
        "head.md": "---\npaths: a\n---\n",
        "number.md": "---\npaths: 5\n---\n# X\n",
        "mapping.md": "---\npaths: {a: b}\n---\n# X\n",
        "tag.md": "---\npaths: !!int 5\n---\n# X\n",
        "none.md": "---\npaths: []\n---\n# X\n",
    }
    for name, text in broken.items():
        project.write(f"{rules}/{name}", text)
    project.write(f"{rules}/z.md", "# Fine\n")
    secret = project.folder.parent / "secret"
    secret.write_text("# Secret\n")
    (project.folder / rules / "link.md").symlink_to(secret)
    os.mkfifo(project.folder / rules / "pipe.md")

    taken = project.import_rules(RuleFormat.CLAUDE)

    assert names(taken) == (["Fine"], [], [])
    found = reasons(taken, project.folder)
    assert found.keys() == {f"{rules}/{name}" for name in (*broken, "link.md", "pipe.md")}
    telling = {
        "yaml.md": "no closing bracket",
        "absolute.md": "/etc/**",
        "above.md": "..",
        "malformed.md": "src/[a",
        "long.md": "32768",
        "huge.md": "larger than",
        "latin.md": "not UTF-8",
        "control.md": "U+0001",
        "link.md": "symbolic link",
        "empty.md": "is empty",
        "number.md": "neither a text nor a list of texts",
        "none.md": "no pattern in it",
    }
    assert {name: word in found[f"{rules}/{name}"] for name, word in telling.items()} == dict.fromkeys(telling, True)


def test_a_file_that_is_named_twice_is_read_once(project: RulesProject) -> None:
    project.write("src/AGENTS.md", "# Near\n")

    assert names(project.import_rules(RuleFormat.AGENTS, "src", "src/AGENTS.md", "src/./AGENTS.md")) == (
        ["Near"],
        [],
        [],
    )


def test_nothing_is_taken_when_a_path_a_project_or_a_task_is_unknown(project: RulesProject) -> None:
    project.write("AGENTS.md", "# Near\n")

    with pytest.raises(NotFound):
        project.import_rules(RuleFormat.AGENTS, "AGENTS.md", "missing")
    task, project.task = project.task, "zzzzzz"
    with pytest.raises(NotFound):
        project.import_rules(RuleFormat.AGENTS)
    project.task, project.project = task, "nowhere"
    with pytest.raises(NotFound):
        project.import_rules(RuleFormat.AGENTS)
    project.project = "atlas"
    assert project.read_atoms() == []


def test_a_name_that_is_not_utf_8_is_shown_all_the_same(project: RulesProject) -> None:
    strange = project.folder / os.fsdecode(b"\xff")
    strange.mkdir(parents=True)
    (strange / "AGENTS.md").write_text("# Strange\n")

    (skipped,) = project.import_rules(RuleFormat.AGENTS).skipped

    assert skipped.file.endswith("?/AGENTS.md")
