"""`groundplan add`: plan a task."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from groundplan.surfaces.cli.failures import UsageError
from groundplan.surfaces.cli.screen.output import Output
from groundplan.surfaces.cli.screen.parts import Part
from groundplan.surfaces.cli.screen.styled_text import StyledText
from groundplan.surfaces.cli.short.session import WordSession
from groundplan.surfaces.cli.short.views import WordResult, draw_heading, draw_warnings
from groundplan.surfaces.cli.short.words.arguments import Line

REF = "task"  # the name of the new node in the request


def add(session: WordSession, line: Line) -> WordResult:
    """Add one task."""
    title = line.first("title") or ""
    under = session.look_up_one(line.first("under"))
    after = session.look_up(line.all("after"))
    node: dict[str, Any] = {"ref": REF, "summary": title}
    if under is not None:
        node["parent_ref"] = under.id
    if after:
        node["depends_on"] = [one.id for one in after]
    if (priority := line.first("priority")) is not None:
        node["properties"] = {"priority": parse_number(priority, "--priority")}
    if tags := line.all("tag"):
        node["tags"] = tags
    if serves := line.all("serves"):
        node["serves"] = serves
    answer = session.run("work.add", project=session.project, nodes=[node], decision=line.first("message"))
    node_id = answer.created[0].id
    waits = any(str(one.state) not in ("resolved", "dropped") for one in after)

    def draw(output: Output) -> Iterator[Part]:
        yield from draw_heading(node_id, title, "blocked" if waits else "ready", output)
        if answer.reopened:
            yield StyledText(f"  reopened: {', '.join(one.id for one in answer.reopened)}", "dim")
        yield from draw_warnings(answer)

    return WordResult(draw, last=node_id)


def parse_number(text: str, option: str) -> float:
    """Return the number that an option has."""
    try:
        number = float(text)
    except ValueError:
        raise UsageError(f"{option} must be a number, not {text!r}") from None
    return int(number) if number.is_integer() else number


def parse_count(text: str | None, option: str) -> int | None:
    """Return the whole number that an option has; None if it is not given."""
    if text is None:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise UsageError(f"{option} must be a whole number, not {text!r}")
    return int(text)
