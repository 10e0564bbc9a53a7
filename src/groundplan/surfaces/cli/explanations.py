"""What only the command line knows about a refusal: how it calls an argument, which task a title names, what lists."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from groundplan.kernel.errors import GroundplanError, NextStep, NotFound

if TYPE_CHECKING:
    from groundplan.surfaces.cli.command_line import Command
    from groundplan.surfaces.cli.invocation import Invocation

# What lists the things of a kind, for a name that none of them has.
LISTS: Mapping[str, NextStep] = {
    "project": NextStep("project.list", "lists the projects"),
    "event": NextStep("event.list", "lists the changes"),
}
WORK = frozenset({"node", "task"})


def explain(error: GroundplanError, command: Command, invocation: Invocation) -> None:
    """Add to a refusal of an operation what a person at a terminal needs."""
    if isinstance(error.details.get("field"), str):
        _name_argument(error, command)
    if isinstance(error, NotFound) and "thing" in error.details and not ("near" in error.details or error.hint):
        thing = str(error.details["thing"])
        if not WORK.isdisjoint(thing.split()):
            _name_titled(error, invocation)
        elif thing in LISTS and not error.next_steps:
            error.next_steps = (LISTS[thing],)


def _name_argument(error: GroundplanError, command: Command) -> None:
    """Call the field that is wrong as the command calls the argument that it is filled from."""
    field = str(error.details["field"])
    for label, path in ((one.label, path) for one in command.parameters for path in one.fields):
        place = re.escape(path).replace(r"\[\]", r"\[\d+\]")
        named = re.fullmatch(rf"{place}([.[].*)?", field)
        if named is not None:
            within = named[1] or ""
            name = label if within[1:-1].isdigit() else label + within
            error.problem = error.problem.replace(field, name, 1)
            return


def _name_titled(error: NotFound, invocation: Invocation) -> None:
    """Name the task with this title, where only an id is taken."""
    ref = str(error.details["ref"])
    with suppress(GroundplanError):
        (node,) = invocation.look_up([ref])
        if node.summary.casefold() == ref.casefold():
            error.problem = f"{error.problem}; an id is needed here, and {node.id} has this title"
            error.details = {**error.details, "near": [node.id]}
            error.next_steps = ()
