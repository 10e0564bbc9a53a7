"""The coding agents whose commands can be told from a person's: each sets a variable for the programs that it starts.

A name is that of the client in `groundplan init --client`, so that an agent has one name over MCP and in a shell. The
variables say whose command it is, and are no guard against a program that hides: what can write to the file can write
anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class CodingAgent(NamedTuple):
    """A coding agent, the variable that it sets, and where that is written."""

    name: str
    variable: str
    source: str


_COLLECTED = "https://github.com/aws/aws-cdk-cli/pull/1855"
_ALSO_COLLECTED = "https://github.com/microsoft/vscode/issues/311734"
CODING_AGENTS = (
    CodingAgent("claude", "CLAUDECODE", "https://code.claude.com/docs/en/env-vars"),
    CodingAgent("cursor", "CURSOR_AGENT", "https://github.com/databricks/cli/pull/4287"),
    CodingAgent("codex", "CODEX_SANDBOX", "https://github.com/openai/codex/blob/main/AGENTS.md"),
    CodingAgent("codex", "CODEX_SANDBOX_NETWORK_DISABLED", "https://github.com/openai/codex/pull/879"),
    CodingAgent("codex", "CODEX_THREAD_ID", "https://github.com/openai/codex/issues/36883"),
    CodingAgent("codex", "CODEX_CI", _COLLECTED),
    CodingAgent("gemini", "GEMINI_CLI", "https://google-gemini.github.io/gemini-cli/docs/tools/shell.html"),
    CodingAgent("vscode", "COPILOT_AGENT", "https://github.com/microsoft/vscode/pull/316267"),
    CodingAgent("copilot", "COPILOT_CLI", _COLLECTED),
    CodingAgent("goose", "GOOSE_TERMINAL", "https://github.com/aaif-goose/goose/pull/4205"),
    CodingAgent("opencode", "OPENCODE", _COLLECTED),
    CodingAgent("qwen", "QWEN_CODE", _COLLECTED),
    CodingAgent("augment", "AUGMENT_AGENT", _COLLECTED),
    CodingAgent("cline", "CLINE_ACTIVE", _COLLECTED),
    CodingAgent("amp", "AMP_CURRENT_THREAD_ID", _ALSO_COLLECTED),
    CodingAgent("antigravity", "ANTIGRAVITY_AGENT", _ALSO_COLLECTED),
)
# What any agent may set, to its name with a version after an @; so what is known better comes first.
ANY_AGENT = CodingAgent(
    "agent", "AI_AGENT", "https://github.com/vercel/vercel/blob/main/packages/detect-agent/README.md"
)


def find_coding_agent(environment: Mapping[str, str]) -> CodingAgent | None:
    """Return the coding agent that has started this process; None if no variable names one."""
    for agent in CODING_AGENTS:
        if environment.get(agent.variable):
            return agent
    named = environment.get(ANY_AGENT.variable, "").partition("@")[0].strip()
    if not named:
        return None
    # Some set it like a switch.
    return ANY_AGENT if named in ("1", "true") else ANY_AGENT._replace(name=named)
