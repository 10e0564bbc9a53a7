"""Declare operations on containers: the handler gives the types, and the name gives the words of the command."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, get_type_hints

from groundplan.kernel.access import Permission
from groundplan.kernel.operations.registry import Command, Effect, Group, Operation, Route, Tool, declare
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.containers.fields import ContainerType
from groundplan.work.containers.refs import resolve_container_project

# The options of commands, by the field that each fills.
OPTIONS = {
    "content_format": "format",
    "content_sample": "content",
    "entity_id": "container",
    "entity_type": "type",
    "include_content": "content",
    "include_sections": "sections",
    "is_built_in": "built-in",
    "is_enabled": "enabled",
    "is_protected": "protected",
    "is_required": "required",
    "ordered_ids": "sections",
    "project_id": "project",
    "section_id": "section",
    "section_ids": "sections",
    "tags": "tag",
    "target_entity_type": "target",
    "usage_description": "usage",
}


def declare_tool(
    handler: Callable[[Transaction, Any], Any],
    name: str,
    summary: str,
    *,
    permission: Permission,
    effect: Effect,
    tool: str,
    http: Route,
    selector: str | None = None,
    arguments: tuple[str, ...] = (),
    texts: tuple[str, ...] = (),
    options: Mapping[str, str] | None = None,
    **more: Any,
) -> Operation[Any, Any]:
    """Return an operation with the types of its handler, and with the words of its name as its command."""
    fields = get_type_hints(handler)["request"].__struct_fields__
    words = tuple(word.replace("_", "-") for word in name.split("."))
    names = {name: OPTIONS[name] for name in fields if name in OPTIONS} | dict(options or {})
    return declare(
        handler,
        name=name,
        summary=summary,
        permission=permission,
        effect=effect,
        tool=Tool(tool, Group.CONTAINERS, selector),
        command=Command(words, arguments=arguments, texts=texts, names=names),
        http=http,
        **more,
    )


def declare_verb(
    handler: Callable[[Transaction, Any], Any],
    summary: str,
    *,
    permission: Permission,
    effect: Effect,
    options: Mapping[str, str] | None = None,
) -> Operation[Any, Any]:
    """Return the operation of a verb on one task or feature. Its tool, its commands and its route have its name."""
    verb = handler.__name__
    commands = [
        Command((kind, verb), arguments=("id",), names=dict(options or {}), fixed={"container_type": kind})
        for kind in ("task", "feature")
    ]
    return declare(
        handler,
        name=f"container.{verb}",
        summary=summary,
        permission=permission,
        effect=effect,
        project=lambda tx, request: resolve_container_project(tx, ContainerType(request.container_type), request.id),
        tool=Tool(verb, Group.CONTAINERS),
        command=commands[0],
        aliases=(commands[1],),
        http=Route("POST", f"/projects/{{project}}/work/{{containerType}}s/{{id}}/{verb}"),
    )
