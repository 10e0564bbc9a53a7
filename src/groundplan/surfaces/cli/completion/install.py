"""Install the completion of a shell in the folder where it looks for it, and remove it again."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from groundplan.kernel.errors import Conflict, Unavailable
from groundplan.kernel.wording import join_alternatives, quote_text
from groundplan.surfaces.cli.failures import UsageError

SCRIPTS = Path(__file__).parent / "scripts"
MARK = "# groundplan completion for "  # in the first lines of every file of ours


class ShellFiles(NamedTuple):
    """The script of a shell, the variable and folder where it looks for completions, and the names there."""

    script: str
    home_variable: str
    home_default: str  # below the home of the person
    folder: str
    names: tuple[str, ...]  # bash and fish load a file by the name of the command


SHELLS: Mapping[str, ShellFiles] = {
    "bash": ShellFiles(
        "groundplan.bash", "XDG_DATA_HOME", ".local/share", "bash-completion/completions", ("groundplan", "pl")
    ),
    "zsh": ShellFiles("_groundplan", "XDG_DATA_HOME", ".local/share", "zsh/site-functions", ("_groundplan",)),
    "fish": ShellFiles(
        "groundplan.fish", "XDG_CONFIG_HOME", ".config", "fish/completions", ("groundplan.fish", "pl.fish")
    ),
}


class ForeignFile(Conflict):
    """A completion with this name exists, and is not ours."""

    code = "completion_exists"

    def __init__(self, path: Path) -> None:
        super().__init__(
            f"{quote_text(str(path))} is not from groundplan and was left alone; move it away first", file=str(path)
        )


def install(shell: str | None = None) -> list[Path]:
    """Write the completion of a shell, by default that of $SHELL, and return the files."""
    shell = shell or Path(os.environ.get("SHELL", "")).name
    if shell not in SHELLS:
        raise UsageError(f"there is no completion for {quote_text(shell)}; name {join_alternatives(list(SHELLS))}")
    paths = list_files(shell)
    for path in paths:
        if path.exists() and not _is_ours(path):
            raise ForeignFile(path)
    text = (SCRIPTS / SHELLS[shell].script).read_text(encoding="utf-8")
    for path in paths:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            beside = path.with_name(f".{path.name}.{os.getpid()}")
            beside.write_text(text, encoding="utf-8")
            beside.replace(path)
        except OSError as error:
            raise Unavailable(
                f"{quote_text(str(path))} cannot be written: {error.strerror}", code="not_writable", file=str(path)
            ) from None
    return paths


def uninstall() -> list[Path]:
    """Remove the completions of all shells that are ours, and return the files."""
    removed = []
    for shell in SHELLS:
        for path in list_files(shell):
            if path.exists() and _is_ours(path):
                path.unlink()
                removed.append(path)
    return removed


def list_files(shell: str) -> list[Path]:
    """Return the files of the completion of a shell."""
    files = SHELLS[shell]
    given = os.environ.get(files.home_variable, "")
    home = Path(given) if given.startswith("/") else Path.home() / files.home_default
    return [home / files.folder / name for name in files.names]


def get_activation_hint(shell: str) -> str | None:
    """Return what a person adds to the start file of the shell, if it does not look into the folder by itself."""
    if shell != "zsh":
        return None
    folder = list_files(shell)[0].parent
    return f"add to ~/.zshrc before compinit: fpath=({folder} $fpath)"


def _is_ours(path: Path) -> bool:
    try:
        with path.open(encoding="utf-8") as file:
            return any(line.startswith(MARK) for _, line in zip(range(3), file, strict=False))
    except (OSError, UnicodeDecodeError):
        return False
