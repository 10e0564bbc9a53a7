"""Which scenarios of the official suite fail, and why they do not apply. All others must pass.

The suite is written for a server that was made for it, with a tool, a prompt or a resource for each scenario. Ours has
the tools of Groundplan. `docs/concepts/conformance.md` has the same table.
"""

from __future__ import annotations

from typing import NamedTuple

REVISIONS = ("2025-06-18", "2025-11-25", "2026-07-28")

TOOL = "calls a tool that only servers made for the suite have"
PROMPT = "gets a prompt that only servers made for the suite have"
RESOURCES = "there are no resources"
COMPLETION = "nothing is completed: prompts take no arguments"
LOGGING = "clients get no log"
ASKING = "the server never asks the client for anything"


class Inapplicable(NamedTuple):
    """Why a scenario fails, and in which of its checks; without names, in any of them."""

    reason: str
    checks: frozenset[str] = frozenset()


INAPPLICABLE = {
    **dict.fromkeys(
        (
            "tools-call-simple-text",
            "tools-call-image",
            "tools-call-audio",
            "tools-call-embedded-resource",
            "tools-call-mixed-content",
            "tools-call-error",
            "tools-call-with-progress",
            "json-schema-2020-12",
            "http-custom-header-server-validation",
        ),
        Inapplicable(TOOL),
    ),
    **dict.fromkeys(
        (
            "prompts-get-simple",
            "prompts-get-with-args",
            "prompts-get-embedded-resource",
            "prompts-get-with-image",
        ),
        Inapplicable(PROMPT),
    ),
    **dict.fromkeys(
        (
            "resources-list",
            "resources-read-text",
            "resources-read-binary",
            "resources-templates-read",
            "resources-subscribe",
            "resources-unsubscribe",
        ),
        Inapplicable(RESOURCES),
    ),
    **dict.fromkeys(("logging-set-level", "tools-call-with-logging"), Inapplicable(LOGGING)),
    "completion-complete": Inapplicable(COMPLETION),
    **dict.fromkeys(
        (
            "tools-call-sampling",
            "tools-call-elicitation",
            "elicitation-sep1034-defaults",
            "elicitation-sep1330-enums",
            "input-required-result-basic-elicitation",
            "input-required-result-basic-sampling",
            "input-required-result-basic-list-roots",
            "input-required-result-request-state",
            "input-required-result-multiple-input-requests",
            "input-required-result-multi-round",
            "input-required-result-non-tool-request",
            "input-required-result-result-type",
            "input-required-result-tampered-state",
            "input-required-result-capability-check",
        ),
        Inapplicable(ASKING),
    ),
    "caching": Inapplicable(
        RESOURCES,
        frozenset({"sep-2549-resources-list-caching-hints", "sep-2549-resources-templates-list-caching-hints"}),
    ),
    "server-stateless": Inapplicable(
        TOOL,
        frozenset(
            {
                "sep-2575-server-rejects-undeclared-capability",
                "sep-2575-missing-capability-http-400",
                "sep-2575-http-server-no-independent-requests-on-stream",
                "sep-2575-server-no-log-without-loglevel",
            }
        ),
    ),
}
