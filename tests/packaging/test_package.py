"""The package builds, installs into an empty environment and runs there; the container is built from existing files."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import groundplan
from groundplan.demo import PROJECT

pytestmark = pytest.mark.slow  # every test starts programs

ROOT = Path(__file__).parents[2]
CONTAINERFILE = (ROOT / "deploy" / "Containerfile").read_text(encoding="utf-8")
PACKAGE = Path(groundplan.__file__).parent
WHEEL_BYTES_MAX = 3_000_000


def find_uv() -> str:
    """Return uv: the machine's own, or that of the Makefile."""
    private = ROOT / "build" / "uv" / "bin" / "uv"
    found = shutil.which("uv") or (str(private) if private.exists() else None)
    assert found, "uv is missing; make setup installs it"
    return found


def run_program(*command: str | Path, folder: Path | None = None, can_fail: bool = False) -> str:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("GROUNDPLAN_", "PYTHON"))}
    ended = subprocess.run(
        [str(word) for word in command], check=False, capture_output=True, text=True, env=environment, cwd=folder
    )
    assert can_fail or ended.returncode == 0, f"{command}: {ended.stdout}{ended.stderr}"
    return ended.stdout if ended.returncode == 0 else ""


def build(source: Path, out: Path, *options: str) -> None:
    """Build as `uv build` does, with the build backend of the environment of the tests."""
    run_program(find_uv(), "build", "--quiet", "--no-build-isolation", "--python", sys.executable, *options,
                "--out-dir", out, source)  # fmt: skip


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a source distribution and of the wheel that was built from it."""
    out = tmp_path_factory.mktemp("dist")
    build(ROOT, out)
    return out


@pytest.fixture(scope="module")
def wheel(dist: Path) -> Path:
    (found,) = dist.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the programs of a new environment that has the wheel and what it needs, and nothing else."""
    folder = tmp_path_factory.mktemp("installed")
    run_program(find_uv(), "venv", "--quiet", "--python", sys.executable, folder / "venv")
    install = (find_uv(), "pip", "install", "--quiet", "--python", folder / "venv" / "bin" / "python",
               "--constraints", ROOT / "requirements" / "dev.lock", wheel)  # fmt: skip
    # What make setup has installed is in the cache.
    run_program(*install, "--offline", can_fail=True)
    if not (folder / "venv" / "bin" / "groundplan").exists():
        run_program(*install)
    return folder / "venv" / "bin"


def list_package_files() -> Iterator[str]:
    for path in PACKAGE.rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts:
            yield str(path.relative_to(PACKAGE.parent))


def test_the_wheel_has_every_file_of_the_package_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    data = {name.partition(".data/data/")[2] for name in names if ".data/" in name}
    code = {name for name in names if ".data/" not in name and ".dist-info/" not in name}

    assert code == set(list_package_files())
    assert data == set(read_shared_data().values())
    assert data >= {"share/man/man1/groundplan.1", "share/man/man1/pl.1", "share/zsh/site-functions/_groundplan"}
    assert data >= {f"share/bash-completion/completions/{name}" for name in ("groundplan", "pl")}
    assert wheel.stat().st_size < WHEEL_BYTES_MAX


def read_shared_data() -> dict[str, str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    found: dict[str, str] = project["tool"]["hatch"]["build"]["targets"]["wheel"]["shared-data"]
    return found


def test_the_source_distribution_has_what_the_wheel_is_built_from(dist: Path) -> None:
    (found,) = dist.glob("*.tar.gz")
    with tarfile.open(found) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}

    assert names >= {f"src/{name}" for name in list_package_files()} | set(read_shared_data())
    assert names >= {"pyproject.toml", "README.md", "LICENSE", "PKG-INFO"}
    assert not [name for name in names if name.startswith(("tests/", "build/", ".venv"))]


def test_the_installed_program_runs_in_an_empty_environment(installed: Path, tmp_path: Path) -> None:
    version = run_program(installed / "groundplan", "--version", folder=tmp_path)
    assert version.startswith(f"groundplan {groundplan.__version__}\n")
    assert "no psycopg" in version
    assert run_program(installed / "pl", "--version", folder=tmp_path) == version

    demo = run_program(installed / "groundplan", "--db", tmp_path / "demo.db", "demo", folder=tmp_path)
    assert "An example plan is ready." in demo
    run_program("git", "init", "--quiet", tmp_path)
    run_program(installed / "groundplan", "init", "--client", "claude", "--skills", "skills", folder=tmp_path)
    assert (tmp_path / "skills").is_dir()
    following = run_program(
        installed / "pl", "next", "--db", "demo.db", "--project", PROJECT, "--json", folder=tmp_path
    )
    assert '"nodes":[{' in following
    assert (installed.parent / "share" / "man" / "man1" / "groundplan.1").is_file()


# --- The container ------------------------------------------------------------------------------------------------


def list_copied() -> list[str]:
    """Return the files and folders of the repository that the container copies."""
    lines = re.findall(r"^COPY (?!--from)(.+)$", CONTAINERFILE, re.MULTILINE)
    return [name for line in lines for name in line.split()[:-1]]


def test_the_container_copies_files_that_exist_and_are_not_ignored() -> None:
    allowed = re.findall(r"^!(.+)$", (ROOT / ".containerignore").read_text(encoding="utf-8"), re.MULTILINE)

    assert list_copied()
    assert [name for name in list_copied() if not (ROOT / name).exists()] == []
    assert {name.partition("/")[0] for name in list_copied()} == set(allowed)


def test_the_package_builds_from_what_the_container_copies(tmp_path: Path) -> None:
    source = tmp_path / "source"
    for name in list_copied():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, source / name)

    build(source, tmp_path / "dist", "--wheel")

    assert len(list((tmp_path / "dist").glob("*.whl"))) == 1


def test_the_container_has_the_versions_that_are_tested() -> None:
    def read_versions(name: str) -> set[str]:
        text = (ROOT / "requirements" / name).read_text(encoding="utf-8")
        return set(re.findall(r"^(\S+==\S+)", text, re.MULTILINE))

    assert read_versions("server.lock")
    assert read_versions("server.lock") <= read_versions("dev.lock")
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    assert set(extras) == {"check", "png", "postgres", "server", "xlsx"}, "make lock writes server.lock anew"
