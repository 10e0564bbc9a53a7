"""Skills are installed and updated; edited ones are left alone."""

from __future__ import annotations

from pathlib import Path

import yaml

from groundplan.repository.rules import front_matter
from groundplan.repository.rules.plan_files import HAND_EDITED, NOT_OURS
from groundplan.skills import SKILL_NAMES, read_skill
from groundplan.skills.install import Installed, add_checksum, install

ROOT = Path(__file__).parents[2]
PATHS = [f"{name}/SKILL.md" for name in SKILL_NAMES]


def test_the_skills_are_written_into_a_folder_each_and_say_what_they_were(tmp_path: Path) -> None:
    assert install(tmp_path / "new" / "skills") == Installed(written=PATHS)

    for name, path in zip(SKILL_NAMES, PATHS, strict=True):
        text = (tmp_path / "new" / "skills" / path).read_text(encoding="utf-8")
        front, body = front_matter.split(text)
        fields = yaml.safe_load(front.strip("-\n"))
        assert body == front_matter.split(read_skill(name))[1]
        assert (fields["name"], fields["metadata"]["generated-by"]) == (name, "groundplan")


def test_what_is_up_to_date_is_left_as_it_is(tmp_path: Path) -> None:
    install(tmp_path)

    assert install(tmp_path) == Installed(unchanged=PATHS)


def test_an_older_skill_that_nobody_edited_is_refreshed(tmp_path: Path) -> None:
    install(tmp_path)
    (tmp_path / PATHS[0]).write_text(
        add_checksum(read_skill(SKILL_NAMES[0]).replace("next task", "first task")), encoding="utf-8"
    )

    assert install(tmp_path) == Installed(written=PATHS[:1], unchanged=PATHS[1:])
    assert (tmp_path / PATHS[0]).read_text(encoding="utf-8") == add_checksum(read_skill(SKILL_NAMES[0]))


def test_a_skill_that_git_checked_out_with_crlf_was_not_edited_by_that(tmp_path: Path) -> None:
    install(tmp_path)
    older = add_checksum(read_skill(SKILL_NAMES[0]).replace("next task", "first task"))
    texts = [older, *((tmp_path / path).read_text(encoding="utf-8") for path in PATHS[1:])]
    for path, text in zip(PATHS, texts, strict=True):
        (tmp_path / path).write_bytes(text.replace("\n", "\r\n").encode())

    assert install(tmp_path) == Installed(written=PATHS[:1], unchanged=PATHS[1:])
    for name, path in zip(SKILL_NAMES, PATHS, strict=True):
        assert (tmp_path / path).read_bytes().decode() == add_checksum(read_skill(name)).replace("\n", "\r\n")


def test_an_edit_is_one_among_crlf_too(tmp_path: Path) -> None:
    install(tmp_path)
    edited = f"{(tmp_path / PATHS[0]).read_text(encoding='utf-8')}Ask Ada first.\n".replace("\n", "\r\n").encode()
    (tmp_path / PATHS[0]).write_bytes(edited)

    assert install(tmp_path) == Installed(unchanged=PATHS[1:], kept=[(PATHS[0], HAND_EDITED)])
    assert (tmp_path / PATHS[0]).read_bytes() == edited


def test_what_was_edited_or_is_somebody_elses_is_kept(tmp_path: Path) -> None:
    install(tmp_path)
    edited = (tmp_path / PATHS[0]).read_text(encoding="utf-8") + "\nAsk Ada first.\n"
    (tmp_path / PATHS[0]).write_text(edited, encoding="utf-8")
    (tmp_path / PATHS[1]).write_text("---\nname: theirs\n", encoding="utf-8")

    assert install(tmp_path) == Installed(unchanged=PATHS[2:], kept=[(PATHS[0], HAND_EDITED), (PATHS[1], NOT_OURS)])
    assert (tmp_path / PATHS[0]).read_text(encoding="utf-8") == edited


def test_an_edit_of_the_description_is_an_edit(tmp_path: Path) -> None:
    install(tmp_path)
    text = (tmp_path / PATHS[0]).read_text(encoding="utf-8")
    (tmp_path / PATHS[0]).write_text(text.replace("description: ", "description: Always. "), encoding="utf-8")

    assert install(tmp_path).kept == [(PATHS[0], HAND_EDITED)]


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "skills").mkdir()
    (tmp_path / "skills" / SKILL_NAMES[0]).symlink_to(tmp_path / "outside")

    done = install(tmp_path / "skills")

    assert [path for path, _ in done.kept] == PATHS[:1]
    assert list((tmp_path / "outside").iterdir()) == []
