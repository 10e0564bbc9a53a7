"""Measure `knowledge check` on large repositories, compared with the git commands that it runs.

`git fast-import` creates the repository: areas of 100 files, and a history in which every commit changes ten files.
Every atom is about one area and was confirmed at its own commit, so no two comparisons are the same.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import groundplan
from bench.options import Options
from bench.report import Result
from bench.rounds import Step, compute_medians_ms, run_interleaved
from groundplan.repository.check import Report, check
from groundplan.repository.git import Repository

PROJECT = "atlas"
FILES_OF_AN_AREA = 100
FILES_OF_A_COMMIT = 10
STRIDE = 7_919  # a prime, so that the changed files are spread over the repository
ROUNDS = 10

CHECK_RATIO_MAX = 3.0
SECONDS_MAX = 5.0


class Size(NamedTuple):
    """The numbers of files and atoms. Each atom is confirmed at its own commit."""

    files: int
    atoms: int


SIZES = (Size(50_000, 500), Size(50_000, 5_000))
QUICK_SIZES = (Size(5_000, 50),)


def run(options: Options) -> list[Result]:
    """Return the results of this part."""
    results = []
    for size in QUICK_SIZES if options.quick else SIZES:
        folder = options.scratch / f"repository-{size.files}-{size.atoms}"
        _make_repository(folder, size)
        with groundplan.open(str(options.scratch / f"{folder.name}.db"), actor="ada") as plan:
            _make_atoms(plan, folder, size)
            results += _measure(options, plan, folder, size)
    return results


def _measure(options: Options, plan: groundplan.Session, folder: Path, size: Size) -> list[Result]:
    def check_report(report: Report) -> None:
        assert len(report.atoms) == size.atoms
        assert report.tracked == size.files

    ids = _list_commits(folder)
    steps = (
        Step("git", lambda: _run_git_alone(folder, ids)),
        Step("check", lambda: check(plan, PROJECT, folder, record=False), check=check_report),
        Step("recorded", lambda: check(plan, PROJECT, folder), check=check_report),
    )
    took = compute_medians_ms([run_interleaved(options.count_rounds(ROUNDS), steps)])
    name = f"{size.files:,} files, {size.atoms:,} atoms and commits"
    return [
        Result("freshness", f"check, {name}", took["check"], "ms", took["git"], "git alone", CHECK_RATIO_MAX),
        Result("freshness", f"check and record, {name}", took["recorded"] / 1000, "s", bar=SECONDS_MAX),
    ]


def _run_git_alone(folder: Path, ids: list[str]) -> None:
    """Run the git commands of a check, and ignore their results."""
    repository = Repository(folder)
    head = repository.resolve_head()
    repository.list_files(head)
    anchors = repository.resolve_commit_ids(ids)
    for _ in repository.walk_back(head, list(anchors.values())):
        pass


def _make_atoms(plan: groundplan.Session, folder: Path, size: Size) -> None:
    plan.call("project.create", name=PROJECT)
    planned = plan.call("work.plan", project=PROJECT, nodes=[{"ref": "a", "summary": "Describe the areas"}])
    task = planned.created[0].id
    areas = size.files // FILES_OF_AN_AREA
    for number, commit in zip(range(size.atoms), _list_commits(folder), strict=True):
        area = number % areas
        made = plan.call(
            "knowledge.create",
            entityType="atom",
            projectId=PROJECT,
            name=f"Area {area}, part {number // areas}",
            paths=[f"src/area{area}/**", f"docs/area{area}*.md"],
            knowledge="How the files of this area work together.",
            createdByTaskId=task,
        ).atom
        plan.call("knowledge.update", entityType="atom", id=made.id, version=made.version, confirm=commit)


def _make_repository(folder: Path, size: Size) -> None:
    subprocess.run(
        ("git", "init", "--quiet", "--initial-branch=main", str(folder)), check=True, env=_build_environment()
    )
    with subprocess.Popen(
        ("git", "-C", str(folder), "fast-import", "--quiet"), stdin=subprocess.PIPE, env=_build_environment()
    ) as git:
        assert git.stdin is not None
        for line in _generate_history(size):
            git.stdin.write(line.encode("ascii"))
    assert git.returncode == 0


def _generate_history(size: Size) -> Iterator[str]:
    yield _format_commit(0)
    for number in range(size.files):
        yield _format_file(number, 0)
    for change in range(1, size.atoms):
        yield _format_commit(change)
        for number in range(change * FILES_OF_A_COMMIT, (change + 1) * FILES_OF_A_COMMIT):
            yield _format_file(number * STRIDE % size.files, change)


def _format_commit(number: int) -> str:
    return f"commit refs/heads/main\ncommitter Ada <ada@example.org> {number} +0000\ndata 0\n"


def _format_file(number: int, change: int) -> str:
    area, place = divmod(number, FILES_OF_AN_AREA)
    text = f"file {number}, {change}"
    return f"M 644 inline src/area{area}/part{place % 10}/file{number}.py\ndata {len(text)}\n{text}\n"


def _list_commits(folder: Path) -> list[str]:
    listed = subprocess.run(
        ("git", "-C", str(folder), "rev-list", "HEAD"),
        check=True,
        capture_output=True,
        text=True,
        env=_build_environment(),
    )
    return listed.stdout.split()


def _build_environment() -> dict[str, str]:
    return {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
