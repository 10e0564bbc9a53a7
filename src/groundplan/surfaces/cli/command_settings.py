"""The settings of a command. A person who acts inside a coding agent confirms it at a terminal first."""

from __future__ import annotations

import sys

from groundplan.coding_agents import CodingAgent
from groundplan.configuration import Flags, Settings, load_settings
from groundplan.kernel.errors import Forbidden


class PersonNotConfirmed(Forbidden):
    """A coding agent has started the command, and nobody confirms that a person acts."""

    code = "person_not_confirmed"

    def __init__(self, agent: CodingAgent, option: str, problem: str = "nobody can be asked") -> None:
        super().__init__(
            f"this runs inside {agent.name} ({agent.variable} is set), {option} is for people, and {problem}; "
            f"leave it out to act as the agent {agent.name}, or run the command in a terminal of your own",
            agent=agent.name,
            variable=agent.variable,
        )


def load_command_settings(flags: Flags) -> Settings:
    """Return the settings of a command.

    Raises:
        PersonNotConfirmed: `--person` inside a coding agent, without a terminal or without the right answer.
    """
    settings = load_settings(flags)
    if settings.person is not None and settings.coding_agent is not None:
        _confirm_person(settings.identity.name, settings.coding_agent)
    return settings


def _confirm_person(name: str, agent: CodingAgent) -> None:
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise PersonNotConfirmed(agent, "--person", "there is no terminal to ask at")
    from groundplan.surfaces.cli.screen.text import escape_control_chars

    question = f"This runs inside {agent.name} ({agent.variable} is set). If you are {name}, type this name: "
    print(escape_control_chars(question), end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip() != name:
        raise PersonNotConfirmed(agent, "--person", f"nobody confirmed to be {name}")
