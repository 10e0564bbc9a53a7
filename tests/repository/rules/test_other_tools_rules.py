"""Rules as Copilot, Cursor and Claude Code really have them: odd front matter, long texts, and none for files."""

from __future__ import annotations

from pathlib import Path

import pytest

from groundplan.knowledge.requests import KNOWLEDGE_BYTES_MAX
from groundplan.repository.rules.formats import RuleFormat
from tests.repository.rules.rules_project import RulesProject

COPILOT = ".github/instructions"


def patterns(project: RulesProject) -> dict[str, tuple[str, ...]]:
    return {name: paths for name, paths, _ in project.read_atoms()}


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("applyTo: 'src/**/*.ts, src/**/*.tsx'", ("src/**/*.ts", "src/**/*.tsx")),
        ('applyTo: "**"', ("**",)),
        ("applyTo: **/*.py", ("**/*.py",)),
        ('applyTo: ["a/**", "b/*.{c,d}"]', ("a/**", "b/*.{c,d}")),
        ("applyTo:\n  - a/**\n  - b/**", ("a/**", "b/**")),
        ('applyTo: "a/{b,c}/**", "d"', ("a/{b,c}/**", "d")),
    ],
)
def test_instructions_of_copilot_are_for_what_they_apply_to(
    project: RulesProject, line: str, expected: tuple[str, ...]
) -> None:
    project.write(f"{COPILOT}/deep/x.instructions.md", f"---\nname: X\nexcludeAgent: review\n{line}\n---\nText.\n")
    project.write(f"{COPILOT}/README.md", "# No instructions\n")

    project.import_rules(RuleFormat.COPILOT)

    assert project.read_atoms() == [("X", expected, "Text.")]


def test_the_general_instructions_of_copilot_are_found_and_are_for_all_files(project: RulesProject) -> None:
    project.write(".github/copilot-instructions.md", "# Style\nShort lines.\n")
    project.write("web/.github/copilot-instructions.md", "Few colours.\n")
    project.write("docs/copilot-instructions.md", "No instructions: not in .github.\n")

    project.import_rules(RuleFormat.COPILOT)

    assert patterns(project) == {"Style": ("**",), "copilot-instructions": ("web/**",)}
    assert project.import_rules(RuleFormat.COPILOT).created == []


def test_instructions_without_a_name_have_that_of_their_file(project: RulesProject) -> None:
    project.write(f"{COPILOT}/tests.instructions.md", '---\napplyTo: "tests/**"\n---\nNo sleeps.\n')
    project.write(f"web/{COPILOT}/ui.instructions.md", '---\napplyTo: "*.css"\ntitle: Colours\n---\nFew.\n')

    project.import_rules(RuleFormat.COPILOT)

    assert patterns(project) == {"tests": ("tests/**",), "Colours": ("web/*.css",)}


def test_a_rule_for_no_files_becomes_a_molecule_once_and_is_updated_by_name(project: RulesProject) -> None:
    project.write(f"{COPILOT}/asked.instructions.md", "---\ndescription: On demand\n---\nText.\n")
    project.write(f"{COPILOT}/other.instructions.md", "# On demand\nOther text.\n")

    taken = project.import_rules(RuleFormat.COPILOT)

    assert [one.name for one in taken.molecules] == ["On demand"]
    assert ["same molecule as" in one.reason for one in taken.skipped] == [True]
    (project.folder / COPILOT / "other.instructions.md").unlink()
    again = project.import_rules(RuleFormat.COPILOT)
    assert (again.molecules, again.skipped) == ([], [])
    project.edit(f"{COPILOT}/asked.instructions.md", "Text.", "New text.")
    project.import_rules(RuleFormat.COPILOT)
    assert project.molecules() == {"On demand": "New text."}
    assert project.read_atoms() == []


def test_a_rule_that_always_applies_is_for_all_files_whatever_its_globs_say(project: RulesProject) -> None:
    project.write(".cursor/rules/a.mdc", "---\nglobs: src/**\nalwaysApply: true\n---\n# Always\n")
    project.write(".cursor/rules/b.mdc", '---\nglobs: "a/**", "b/**"\nalwaysApply: false\n---\n# Two\n')
    project.write(".cursor/rules/c.mdc", "  ---\n  globs: *.py\n  alwaysApply: false\n  ---\n  # Indented\n")
    project.write(".cursor/rules/ignored.md", "# No rule of Cursor\n")

    project.import_rules(RuleFormat.CURSOR)

    assert patterns(project) == {"Always": ("**",), "Two": ("a/**", "b/**"), "Indented": ("*.py",)}


def test_patterns_in_the_field_of_another_tool_are_taken_with_a_warning(project: RulesProject) -> None:
    project.write(".claude/rules/a.md", "---\nglobs: src/**\n---\n# A\n")
    project.write(".claude/rules/b.md", "---\npaths: src/**\n---\n# B\n")

    taken = project.import_rules(RuleFormat.CLAUDE)

    assert patterns(project) == {"A": ("src/**",), "B": ("src/**",)}
    ((warning),) = taken.warnings
    assert warning.startswith(str(project.folder / ".claude/rules/a.md"))
    assert "globs" in warning


def test_a_long_text_is_split_at_headings_into_atoms_with_the_same_patterns(project: RulesProject) -> None:
    part = "word " * 4_000  # 20,000 bytes: two of them are too many
    text = (
        f"# House\nBefore.\n\n## One\n{part}\n\n```\n## no heading\n```\n\n"
        f"## Two\nShort.\n### Deep\n{part}\n### Deeper\n{part}\n## One\nAgain.\n## Empty\n"
    )
    project.write(f"{COPILOT}/long.instructions.md", f'---\napplyTo: "src/**"\n---\n{text}')
    project.write("lib/AGENTS.md", text)

    taken = project.import_rules(RuleFormat.COPILOT)
    project.import_rules(RuleFormat.AGENTS)

    names = ["House", "House: One", "House: One (2)", "House: Two", "House: Two / Deep", "House: Two / Deeper"]
    assert sorted(one.name for one in taken.created) == names
    assert taken.skipped == []
    atoms = project.read_atoms()
    assert sorted((name, paths) for name, paths, _ in atoms) == sorted(
        (name, (paths,)) for name in names for paths in ("src/**", "lib/**")
    )
    texts = {name: knowledge for name, _, knowledge in atoms}
    assert (texts["House"], texts["House: Two"], texts["House: One (2)"]) == ("Before.", "Short.", "Again.")
    assert texts["House: One"].endswith("```\n## no heading\n```")
    again = project.import_rules(RuleFormat.COPILOT)
    assert (again.created, again.updated, again.skipped) == ([], [], [])


def test_a_long_text_without_headings_is_named_with_its_limit(project: RulesProject) -> None:
    project.write("AGENTS.md", f"# House\n\n## Short\nA.\n\n## Long\n{'x' * (KNOWLEDGE_BYTES_MAX + 1)}\n")

    (skipped,) = project.import_rules(RuleFormat.AGENTS).skipped

    assert "'Long'" in skipped.reason
    assert str(KNOWLEDGE_BYTES_MAX) in skipped.reason
    assert project.read_atoms() == []


def test_empty_files_front_matter_only_and_links_are_named(project: RulesProject) -> None:
    project.write(f"{COPILOT}/empty.instructions.md", "\ufeff")
    project.write(f"{COPILOT}/head.instructions.md", '---\napplyTo: "**"\n---\n\n')
    project.write("elsewhere.md", "# Secret\n")
    (project.folder / COPILOT / "link.instructions.md").symlink_to(project.folder / "elsewhere.md")

    taken = project.import_rules(RuleFormat.COPILOT)

    assert {Path(one.file).name.partition(".")[0]: one.reason for one in taken.skipped} == {
        "empty": "is empty",
        "head": "has nothing but front matter",
        "link": "is a symbolic link, which is not followed",
    }
    assert project.read_atoms() == []


def test_a_generated_rule_that_lost_its_patterns_is_named_and_its_atom_stays(project: RulesProject) -> None:
    project.atom()
    project.export(RuleFormat.COPILOT)
    path = f"{COPILOT}/groundplan/cart.instructions.md"
    project.edit(path, 'applyTo: "src/cart/**"\n', "")

    (skipped,) = project.import_rules(RuleFormat.COPILOT).skipped

    assert "applyTo" in skipped.reason
    assert patterns(project) == {"Cart": ("src/cart/**",)}
