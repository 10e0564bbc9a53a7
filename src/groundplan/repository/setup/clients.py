"""The AI clients that read MCP servers from a file of the working copy, and the format of each.

The entry names the program and no path of this machine, because such files are usually committed. Clients start a
server in the root of the working copy, and the plan is found from there; Cursor starts it elsewhere, and fills in the
folder.
"""

from __future__ import annotations

import shutil
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from groundplan.repository.setup.blocks import (
    EditedText,
    append_block,
    format_block,
    remove_block,
    replace_block,
)
from groundplan.repository.setup.json_text import BYTE_ORDER_MARK, BrokenJson, add_member, read_member, remove_member

SERVER = "groundplan"
DIFFERS = f"has another entry named {SERVER}, which was not written by this command"


class AiClient(NamedTuple):
    """An AI client: its settings file, the path of its entry, its program, and the signs that it is in use."""

    name: str
    file: str
    names: tuple[str, ...]
    program: str  # on the PATH
    traces: tuple[str, ...]  # in the working copy
    fields: Mapping[str, str] = {}  # that the entry has besides the command
    arguments: tuple[str, ...] = ()

    @property
    def entry(self) -> dict[str, Any]:
        """The entry that starts the server of this plan."""
        return {**self.fields, "command": SERVER, "args": ["mcp", *self.arguments, "--agent", self.name]}

    def is_used_in(self, root: Path) -> bool:
        """Return True if the working copy has files of the client, or the client is installed."""
        return any((root / trace).exists() for trace in self.traces) or shutil.which(self.program) is not None

    def add_entry(self, text: str | None) -> EditedText:
        """Return the file with the entry."""
        return _add_to_toml(self, text or "") if self.file.endswith(".toml") else _add_to_json(self, text)

    def remove_entry(self, text: str) -> EditedText:
        """Return the file without the entry."""
        return remove_block(text) if self.file.endswith(".toml") else _remove_from_json(self, text)


CLIENTS: Mapping[str, AiClient] = {
    client.name: client
    for client in (
        AiClient("claude", ".mcp.json", ("mcpServers", SERVER), "claude", (".mcp.json", ".claude", "CLAUDE.md")),
        AiClient(
            "cursor",
            ".cursor/mcp.json",
            ("mcpServers", SERVER),
            "cursor",
            (".cursor", ".cursorrules"),
            arguments=("--repo", "${workspaceFolder}"),
        ),
        AiClient("vscode", ".vscode/mcp.json", ("servers", SERVER), "code", (".vscode",), {"type": "stdio"}),
        AiClient("codex", ".codex/config.toml", ("mcp_servers", SERVER), "codex", (".codex",)),
        AiClient("gemini", ".gemini/settings.json", ("mcpServers", SERVER), "gemini", (".gemini", "GEMINI.md")),
        AiClient("zed", ".zed/settings.json", ("context_servers", SERVER), "zed", (".zed",)),
    )
}


def find_clients(root: Path) -> list[AiClient]:
    """Return the clients that seem to be used in a working copy."""
    return [client for client in CLIENTS.values() if client.is_used_in(root)]


def _add_to_json(client: AiClient, text: str | None) -> EditedText:
    if text is None or not text.strip(BYTE_ORDER_MARK + " \t\r\n"):
        return EditedText(add_member("{}\n", client.names, client.entry))
    try:
        entry = read_member(text, client.names)
        if entry is None:
            return EditedText(add_member(text, client.names, client.entry))
    except BrokenJson as error:
        return EditedText(text, error.reason)
    return EditedText(text, None if entry == client.entry else DIFFERS)


def _remove_from_json(client: AiClient, text: str) -> EditedText:
    try:
        entry = read_member(text, client.names)
        if entry == client.entry:
            return EditedText(remove_member(text, client.names))
    except BrokenJson as error:
        return EditedText(text, error.reason)
    return EditedText(text, DIFFERS if entry is not None else None)


def _add_to_toml(client: AiClient, text: str) -> EditedText:
    broken = _explain_broken_toml(text)
    if broken is not None:
        return EditedText(text, broken)
    lines = [
        f"[{'.'.join(client.names)}]",
        *(f"{name} = {_format_toml(value)}" for name, value in client.entry.items()),
    ]
    block = format_block("".join(f"{line}\n" for line in lines), comment="#")
    edited = replace_block(text, block)
    if edited is None:
        if _read_toml(text, client.names) is not None:
            return EditedText(text, DIFFERS)
        edited = EditedText(append_block(text, block))
    if edited.kept is None and edited.text is not None and _explain_broken_toml(edited.text) is not None:
        return EditedText(text, f"has {client.names[0]} on one line; write it as a table, [{client.names[0]}]")
    return edited


def _explain_broken_toml(text: str) -> str | None:
    try:
        tomllib.loads(text.removeprefix(BYTE_ORDER_MARK))
    except tomllib.TOMLDecodeError as error:
        return f"is not valid TOML: {error}"
    return None


def _read_toml(text: str, names: Iterable[str]) -> Any:
    value: Any = tomllib.loads(text.removeprefix(BYTE_ORDER_MARK))
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _format_toml(value: str | list[str]) -> str:
    """Return plain text, or a list of plain texts, as TOML."""
    if isinstance(value, list):
        return f"[{', '.join(map(_format_toml, value))}]"
    return f'"{value}"'
