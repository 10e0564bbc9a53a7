"""Which version a command writes: `--version`, or `--draft` for short."""

from __future__ import annotations

from typing import Annotated

import typer

from groundplan.surfaces.cli.failures import UsageError

DraftOption = Annotated[
    bool,
    typer.Option("--draft", metavar="", help="The draft: the same as --version draft.", show_default=False),
]


def select_version(version: str | None, *, draft: bool) -> dict[str, str]:
    """Return the argument that names the version, if any option does."""
    if draft and version is not None:
        raise UsageError("--draft and --version both name a version; give one of them")
    ref = "draft" if draft else version
    return {} if ref is None else {"version": ref}
