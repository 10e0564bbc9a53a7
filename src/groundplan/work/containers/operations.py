"""Declare operations on containers: the handler gives the types, and of a verb also the names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from groundplan.kernel.access import Permission
from groundplan.kernel.operations.registry import Effect, Group, Operation, Route, Tool, declare
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.containers.fields import ContainerType
from groundplan.work.containers.refs import resolve_container_project


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
    **more: Any,
) -> Operation[Any, Any]:
    """Return an operation with the types of its handler."""
    return declare(
        handler,
        name=name,
        summary=summary,
        permission=permission,
        effect=effect,
        tool=Tool(tool, Group.CONTAINERS, selector),
        http=http,
        **more,
    )


def declare_verb(
    handler: Callable[[Transaction, Any], Any],
    summary: str,
    *,
    permission: Permission,
    effect: Effect,
) -> Operation[Any, Any]:
    """Return the operation of a verb on one task or feature. Its tool and its route have its name."""
    verb = handler.__name__
    return declare(
        handler,
        name=f"container.{verb}",
        summary=summary,
        permission=permission,
        effect=effect,
        project=lambda tx, request: resolve_container_project(tx, ContainerType(request.container_type), request.id),
        tool=Tool(verb, Group.CONTAINERS),
        http=Route("POST", f"/projects/{{project}}/work/{{containerType}}s/{{id}}/{verb}"),
    )
