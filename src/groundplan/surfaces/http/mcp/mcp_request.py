"""A request to MCP that was let in, as the endpoint hands it to the official server."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from groundplan.kernel.actors import Actor
from groundplan.surfaces.mcp.protocol import HANDSHAKE_REVISIONS, Message, RequestId, parse_id
from groundplan.surfaces.mcp.tools import RegistryTools

MCP_REQUEST = "groundplan.mcp_request"  # in the scope
SESSION_HEADER = "mcp-session-id"
REVISION_HEADER = "mcp-protocol-version"


class McpRequest(NamedTuple):
    """Who sent a request, the tools that they see, and the message after the input gate; DELETE has none."""

    actor: Actor
    tools: RegistryTools
    message: Message

    @property
    def id(self) -> RequestId | None:
        """The id of the message; None for a notification."""
        return parse_id(self.message)

    @property
    def opens_session(self) -> bool:
        """Whether it is the handshake of the revisions with sessions."""
        return self.message.get("method") == "initialize"


def has_session(headers: Mapping[str, str]) -> bool:
    """Return whether a request is of a revision with sessions, by its header; older clients send none."""
    revision = headers.get(REVISION_HEADER)
    return revision is None or revision in HANDSHAKE_REVISIONS
