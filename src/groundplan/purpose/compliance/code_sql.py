"""Judge one SQL statement that names a toc_* table, by its tree.

A change reaches only drafts if its own WHERE says so plainly: status = 'DRAFT', or the ids of such versions, joined to
the other conditions by AND. One that says nothing of the state of a version is BLOCKED; any other is a LOOK.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from contextlib import suppress
from itertools import zip_longest
from typing import Literal

from sqlglot import exp, parse

from groundplan.purpose.compliance.code_check import (
    FILTER_TENANT,
    NEXT_DRAFT,
    ONLY_DRAFTS,
    PARENT,
    READ_IT,
    TOC_NAME,
    USE_EDGES,
    Match,
    block,
    look,
)
from groundplan.purpose.compliance.live_schema import EDGES, ENDS, NODES
from groundplan.purpose.metadata_structure import PATH_NAMES, TREE_NAMES, fold_name

logging.getLogger("sqlglot").addHandler(logging.NullHandler())  # it warns of each statement that it keeps as text

DIALECTS = ("postgres", "sqlite", "mysql")
DEPTH_MAX = 50  # of brackets; the parser tries deeper ones again and again
STATEMENT_CHARS_MAX = 200_000
VERSIONS = "toc_versions"
CONTENT = frozenset({VERSIONS, NODES, EDGES, "toc_assumptions", "toc_edge_assumptions", "toc_indicators"})
OF_MANY_VERSIONS = frozenset({"tenant_id", "project_id", "organization_id"})
# Columns of a node that are not its parent; any other id or number may be.
KNOWN_IDS = OF_MANY_VERSIONS | {"id", "toc_version_id", "version_id", "version_number", "rev", "position", "sort_order"}
NEEDED = frozenset({"tenant_id", "status", "published_at", "toc_version_id", *ENDS})

Reach = Literal["drafts", "published", "anything", "unknown"]
_Scope = (exp.Select, exp.Update, exp.Delete, exp.Insert, exp.Merge)

_TENANT = re.compile(r"(?:gp_)?tenant_?(?:id)?", re.IGNORECASE)
_OF_STATE = re.compile(r"status|draft|publish", re.IGNORECASE)
_KIN = re.compile(r"parent|ancest|child|descend|superior")
_OR_ANOTHER = re.compile(r"\b(UPDATE)\s+OR\s+\w+", re.IGNORECASE)
_NEGATIONS = (exp.Not, exp.NEQ, exp.NullSafeNEQ, exp.GT, exp.GTE, exp.LT, exp.LTE)
_UNDERSTOOD = (exp.Query, exp.Insert, exp.Update, exp.Delete, exp.Merge, exp.TruncateTable, exp.Comment)
_HIDDEN = (exp.Command, exp.LikeProperty, exp.InheritsProperty, exp.Into)


def judge_statement(text: str, *, is_whole: bool) -> list[Match] | None:
    """Return the findings in a statement, or None if it was not understood. `is_whole`: nothing else decides on it."""
    tree = _parse(text)
    return None if tree is None else list(_Judge(text, tree, is_whole=is_whole).judge())


def _parse(text: str) -> exp.Expr | None:
    depths = [0]
    for bracket in re.findall(r"[()\[\]]", text):
        depths.append(depths[-1] + (1 if bracket in "([" else -1))
    if len(text) > STATEMENT_CHARS_MAX or max(depths) > DEPTH_MAX:
        return None
    text = _OR_ANOTHER.sub(lambda match: match[1].ljust(len(match[0])), text)
    for dialect in DIALECTS:
        with suppress(Exception):  # whatever the parser stumbles over, it has not understood the text
            trees = [tree for tree in parse(text, dialect=dialect) if tree is not None]
            return trees[0] if len(trees) == 1 and not isinstance(trees[0], exp.Command) else None
    return None


class _Judge:
    """A statement: its tree, its nodes, and its tables by the name that it calls them."""

    def __init__(self, text: str, tree: exp.Expr, *, is_whole: bool) -> None:
        self.text = text
        self.tree = tree
        self.is_whole = is_whole
        self.nodes = list(tree.walk())
        tables = [node for node in self.nodes if isinstance(node, exp.Table)]
        self.tables = {(table.alias or _get_name(table)).lower(): _get_name(table) for table in tables}
        self.target = _find_target(tree)

    def judge(self) -> Iterator[Match]:
        """Yield the findings."""
        yield from self._match_parents()
        yield from self._match_literals()
        if isinstance(self.tree, (exp.Create, exp.Alter)) and _is_toc(self.target):
            yield from self._match_schema()
        for node in self.nodes:
            if isinstance(node, (exp.Update, exp.Delete, exp.TruncateTable, exp.Insert, exp.Merge)):
                yield from self._match_change(node)
        yield from self._match_tenant()
        if not self._is_understood():
            yield look(0, "not_understood", f"{self.text.split(None, 1)[0].upper()} is for a person", READ_IT)

    def _is_understood(self) -> bool:
        tree = self.tree
        if any(
            isinstance(node, _HIDDEN) or (isinstance(node, exp.Identifier) and _is_hole(node)) for node in self.nodes
        ):
            return False
        if isinstance(tree, exp.Create):
            has_columns = isinstance(tree.this, exp.Schema) and tree.expression is None
            return tree.kind in ("VIEW", "INDEX") or (tree.kind == "TABLE" and has_columns)
        if isinstance(tree, exp.Alter):
            return all(
                isinstance(action, (exp.ColumnDef, exp.AddConstraint)) or _drops_column(action)
                for action in tree.args["actions"]
            )
        if isinstance(tree, exp.Drop):  # what guards or holds the theory; triggers are checked by their table
            return tree.kind in ("VIEW", "TRIGGER")
        if isinstance(tree, exp.Insert) and not isinstance(tree.this, exp.Schema):
            return not _is_toc(self.target)  # without the names of its columns
        return isinstance(tree, _UNDERSTOOD)

    def _locate(self, node: exp.Expr) -> int:
        """Return the offset of a node: that of its first name or literal."""
        marks = (part.meta.get("start") for part in node.walk() if isinstance(part, (exp.Identifier, exp.Literal)))
        return 0 if node is self.tree else min((at for at in marks if at is not None), default=0)

    def _list_tables(self, scope: exp.Expr) -> list[str]:
        """Return the names of the tables that a query or change reads directly; empty for a query in their place."""
        origins = [scope.args.get("from_"), *(scope.args.get("joins") or ())]
        read = [_get_name(one.this) if isinstance(one.this, exp.Table) else "" for one in origins if one is not None]
        return read if isinstance(scope, exp.Select) else [_find_target(scope), *read]

    # --- Structure

    def _match_parents(self) -> Iterator[Match]:
        """Yield the columns that are named like the parent of a node, unless they are of another table."""
        for node in self.nodes:
            if isinstance(node, (exp.Identifier, exp.JSONPathKey)) and PARENT.fullmatch(_get_name(node)):
                is_certain = self._is_of_theory(node)
                if is_certain is not None:
                    message = f"column {node.name} makes an adjacency list of the theory"
                    yield (block if is_certain else look)(self._locate(node), "parent_id", message, USE_EDGES)

    def _is_of_theory(self, name: exp.Expr) -> bool | None:
        """Return False if it is not known of which table a column is, and None if it is not used, or of another."""
        column = name.parent
        if name.find_ancestor(exp.Drop) is not None:
            return None
        if isinstance(column, (exp.TableAlias, exp.Alias)):
            return False
        if isinstance(self.tree, (exp.Create, exp.Alter)) and self.tree.args.get("expression") is None:
            return True if _is_toc(self.target) else None
        if isinstance(column, exp.Column) and column.table:
            table = self.tables.get(column.table.lower())
            return False if table is None else True if _is_toc(table) else None
        scope = name.find_ancestor(*_Scope)
        tables = self._list_tables(scope) if scope is not None else []
        if isinstance(scope, (exp.Insert, exp.Update)) and not any(map(_is_toc, tables)):
            return None
        is_moved = isinstance(self.tree, exp.Insert) and self.target == EDGES
        return not is_moved and all(map(_is_toc, tables))

    def _match_literals(self) -> Iterator[Match]:
        for node in self.nodes:
            if not isinstance(node, exp.Literal) or not node.is_string:
                continue
            if isinstance(node.parent, exp.Func) and fold_name(node.name) in TREE_NAMES | PATH_NAMES:
                yield look(
                    self._locate(node), "json_tree", f"'{node.name}' may hold structure of the theory", USE_EDGES
                )
            elif PARENT.search(node.name):
                yield block(self._locate(node), "parent_id", f"'{node.name}' names the parent of a node", USE_EDGES)
            elif TOC_NAME.search(node.name):
                yield look(self._locate(node), "not_understood", f"'{node.name}' may be used as a table", READ_IT)

    def _match_schema(self) -> Iterator[Match]:
        """Yield what a definition or change of a table of the theory has that no such table may have."""
        for node in self.nodes:
            if isinstance(node, (exp.ColumnDef, exp.AlterColumn)):
                yield from self._match_column(self._locate(node), node, node.args.get("kind") or node.args.get("dtype"))
            elif isinstance(node, exp.RenameColumn):
                yield from self._match_column(self._locate(node), node.args["to"], None)
            elif isinstance(node, exp.Reference) and self.target == NODES == _find_target(node):
                message = "toc_nodes references itself, so that a node has a single parent"
                yield block(self._locate(node), "parent_id", message, USE_EDGES)
        keys = list(self._list_keys())
        for at, key in keys if self.target == EDGES else ():
            if len(key & {*ENDS}) == 1 and "id" not in key:
                message = "toc_edges is unique by one of its ends, so that a node has a single parent or child"
                yield block(at, "single_parent", message, "Make it unique by both ends and edge_type together")
        if isinstance(self.tree, exp.Create) and self.tree.kind == "TABLE":
            columns = [_get_name(node) for node in self.nodes if isinstance(node, exp.ColumnDef)]
            if not any(map(_TENANT.fullmatch, columns)):
                action = "Add tenant_id, and row level security on it"
                yield look(0, "no_tenant", f"{self.target} has no column tenant_id", action)
            if self.target == EDGES and not any({*ENDS} <= key for _, key in keys):
                action = "Add UNIQUE (source_node_id, target_node_id, edge_type)"
                yield look(0, "edge_not_unique", "toc_edges is not unique by source, target and type", action)

    def _match_column(self, at: int, column: exp.Expr, kind: exp.Expr | None) -> Iterator[Match]:
        name, type_ = _get_name(column), kind.sql().lower() if kind is not None else ""
        full, folded = f"column {self.target}.{name}", fold_name(name)
        if name == "parent":
            yield block(at, "parent_id", f"{full} makes an adjacency list of the theory", USE_EDGES)
        elif folded in PATH_NAMES or type_ == "ltree":
            message = f"{full} is a materialised path, which cannot hold several parents"
            yield block(at, "materialised_path", message, USE_EDGES)
        elif folded in TREE_NAMES:
            yield block(at, "json_tree", f"{full} holds a tree", USE_EDGES)
        elif (type_ in ("json", "jsonb") and name != "metadata") or name == "structure":
            yield look(
                at, "json_tree", f"{full} can hold a tree", f"Keep no structure of the theory in it. {USE_EDGES}"
            )
        elif self.target == NODES and name not in KNOWN_IDS and not PARENT.fullmatch(name):
            is_id = name.endswith("_id") or type_ in ("uuid", "int", "bigint", "smallint") or _KIN.search(name)
            if is_id and column.find(exp.Reference) is None:
                yield look(at, "parent_id", f"{full} may be the parent of a node", USE_EDGES)

    def _list_keys(self) -> Iterator[tuple[int, set[str]]]:
        """Yield the offset and columns of each unique key that the statement defines."""
        for node in self.nodes:
            if isinstance(node, (exp.UniqueColumnConstraint, exp.PrimaryKeyColumnConstraint, exp.PrimaryKey)):
                column = node.find_ancestor(exp.ColumnDef)
                names = [column] if column is not None else [*node.find_all(exp.Identifier)]
                yield self._locate(column or node), {_get_name(name) for name in names}
            elif isinstance(node, exp.IndexParameters) and self.tree.args.get("unique"):
                columns = node.args.get("columns") or ()
                yield 0, {_get_name(name) for column in columns for name in column.find_all(exp.Identifier)}

    # --- Versions

    def _match_change(self, change: exp.Expr) -> Iterator[Match]:
        table, at, verb = _find_target(change), self._locate(change), type(change).__name__.upper()
        conflict = change.args.get("conflict")
        is_insert = isinstance(change, exp.Insert)
        changed = conflict.expressions if conflict is not None else change.args.get("alternative") or not is_insert
        if table not in CONTENT or not changed:
            if table == VERSIONS and any(_is_word(node, "PUBLISHED") for node in change.walk()):
                yield look(
                    at, "publish_unchecked", "a version is created as PUBLISHED", "Create a DRAFT and publish it"
                )
            return
        assigned = _list_assigned(change)
        status = assigned.get("status") if table == VERSIONS else None
        reach = self._classify_reach(change, (change if conflict is None else conflict).args.get("where"))
        if status is not None and _is_word(status, "DRAFT"):
            message = "a published version becomes a DRAFT again, so that it can be edited"
            yield block(at, "published_edited", message, NEXT_DRAFT)
        elif status is not None and _is_word(status, "PUBLISHED") and reach != "drafts":
            message = "a version is published without the plain condition that it is a DRAFT"
            yield block(at, "publish_unchecked", message, "Add AND status = 'DRAFT' to the condition")
        elif reach == "published":
            yield block(at, "published_edited", f"{verb} of {table} reaches PUBLISHED versions", NEXT_DRAFT)
        elif reach != "drafts":
            is_certain = reach == "anything" and self.is_whole and not is_insert
            message = f"{verb} of {table} does not say that the version is a DRAFT"
            yield (block if is_certain else look)(at, "draft_not_checked", message, ONLY_DRAFTS)
        elif "toc_version_id" in assigned:
            yield look(at, "published_edited", "the row may move to a PUBLISHED version", NEXT_DRAFT)
        elif status is not None and not (_is_word(status, "PUBLISHED") and "published_at" in assigned):
            message = "the status and published_at are not written in one statement"
            yield look(at, "publish_unchecked", message, "Set status to 'PUBLISHED', and published_at")

    def _classify_reach(self, change: exp.Expr, where: exp.Expr | None) -> Reach:
        """Return which versions a change reaches, as far as its condition and the statement around it say."""
        parts = _list_conjuncts(where.this) if where is not None else []
        is_tied = not (change.args.get("from_") or change.args.get("using")) or any(map(_ties_rows, parts))
        # `||` is OR in one dialect, where it also binds in another way.
        is_plain = where is None or where.find(exp.DPipe) is None
        if is_tied and is_plain and any(self._admits_only_drafts(part) for part in parts):
            return "drafts"
        assigned = {id(node) for value in _list_assigned(change).values() for node in value.walk()}
        if any(_selects_published(node, self.tree) for node in self.nodes if id(node) not in assigned):
            return "published"
        is_silent = not _OF_STATE.search(self.text) and all(map(_is_toc, self.tables.values()))
        return "anything" if is_silent and self.tree.find(exp.Anonymous) is None else "unknown"

    def _admits_only_drafts(self, condition: exp.Expr, *, is_of_version: bool = True) -> bool:
        if isinstance(condition, exp.Exists):
            parts = _list_conditions(condition.this)
            return any(map(_ties_rows, parts)) and self._selects_only_drafts(condition.this)
        query = condition.args.get("query") if isinstance(condition, exp.In) else None
        if query is not None:
            names = [_get_name(column) for column in query.unnest().expressions]
            return not OF_MANY_VERSIONS & {*names} and self._selects_only_drafts(query.unnest())
        if not isinstance(condition, (exp.EQ, exp.In)) or not is_of_version:
            return False
        others = condition.expressions if isinstance(condition, exp.In) else [condition.expression]
        sides = [*map(_uncast, (condition.this, *others))]
        status = next((side for side in sides if isinstance(side, exp.Column) and _get_name(side) == "status"), None)
        is_of_toc = status is not None and _is_toc(self.tables.get(status.table.lower(), "toc_"))
        return is_of_toc and len(sides) == 2 and any(_is_word(side, "DRAFT") for side in sides)

    def _selects_only_drafts(self, query: exp.Expr) -> bool:
        is_of_version = VERSIONS in self._list_tables(query)
        is_select = isinstance(query, exp.Select)
        return is_select and any(
            self._admits_only_drafts(part, is_of_version=is_of_version) for part in _list_conditions(query)
        )

    # --- Tenants

    def _match_tenant(self) -> Iterator[Match]:
        reads = [node for node in self.nodes if isinstance(node, _Scope) and any(map(_is_toc, self._list_tables(node)))]
        whole = [node for node in reads if not isinstance(node.parent, exp.When) and not self._is_within_another(node)]
        for node in [node for node in whole if not self._filters_tenant(node)][:1]:
            message = "the statement does not filter by tenant_id"
            yield look(self._locate(node), "no_tenant", message, FILTER_TENANT)

    def _is_within_another(self, query: exp.Expr) -> bool:
        """Return True for a query in a condition or value of one that reads the theory, and is looked at itself."""
        inside = query.find_ancestor(exp.Where, exp.Having, exp.Join, exp.EQ)
        around = inside.find_ancestor(*_Scope) if inside is not None else None
        return around is not None and any(map(_is_toc, self._list_tables(around)))

    def _filters_tenant(self, scope: exp.Expr) -> bool:
        if isinstance(scope, exp.Insert):
            columns = scope.this.expressions if isinstance(scope.this, exp.Schema) else ()
            return any(_TENANT.fullmatch(_get_name(column)) for column in columns)
        conditions = [*_list_conditions(scope)]
        conditions += _list_conjuncts(scope.args["on"]) if isinstance(scope, exp.Merge) else []
        for join in scope.args.get("joins") or ():
            conditions += _list_conjuncts(join.args["on"]) if join.args.get("on") is not None else []
        return any(self._is_tenant_filter(part) for part in conditions)

    def _is_tenant_filter(self, part: exp.Expr) -> bool:
        sides = map(_uncast, (part.this, part.args.get("expression"))) if isinstance(part, (exp.EQ, exp.In)) else ()
        tenants = [side for side in sides if isinstance(side, exp.Column) and _TENANT.fullmatch(_get_name(side))]
        is_of_other = any(not _is_toc(self.tables.get(side.table.lower(), "toc_")) for side in tenants)
        return len(tenants) == 1 or is_of_other


def _get_name(node: exp.Expr | None) -> str:
    return node.name.strip("'\"`").lower() if node is not None else ""


def _is_toc(name: str) -> bool:
    return name.startswith("toc_")


def _find_target(node: exp.Expr) -> str:
    """Return the name of the table that a statement defines, changes or references."""
    index = node.find(exp.Index) if isinstance(node, exp.Create) else None
    target = index.args.get("table") if index is not None else node.args.get("this")
    if isinstance(node, exp.TruncateTable):
        target = max(node.expressions, key=lambda table: _get_name(table) in CONTENT)
    target = target.this if isinstance(target, exp.Schema) else target
    return _get_name(target) if isinstance(target, exp.Table) else ""


def _is_hole(name: exp.Identifier) -> bool:
    """Return True for a part that is put in at run time, unless it stands for a value."""
    column = name.parent
    is_operand = isinstance(column, exp.Column) and isinstance(column.parent, (exp.Predicate, exp.Tuple, exp.Limit))
    return not name.name.strip("_") and not is_operand


def _drops_column(action: exp.Expr) -> bool:
    names = {_get_name(column) for column in action.args.get("tables") or ()}
    return isinstance(action, exp.Drop) and action.kind == "COLUMN" and not names & NEEDED


def _list_assigned(change: exp.Expr) -> dict[str, exp.Expr]:
    """Return the values that a change sets, by column."""
    holders = change.find_all(exp.Update) if isinstance(change, exp.Merge) else [change.args.get("conflict") or change]
    sets = [one for holder in holders for one in holder.expressions if isinstance(one, exp.EQ)]
    lists = [one for one in sets if isinstance(one.this, exp.Tuple)]
    pairs = (
        (name, value) for one in lists for name, value in zip_longest(one.this.expressions, one.expression.expressions)
    )
    return {_get_name(name): value or name for name, value in (*pairs, *((one.this, one.expression) for one in sets))}


def _list_conditions(query: exp.Expr) -> list[exp.Expr]:
    where = query.args.get("where")
    return _list_conjuncts(where.this) if where is not None else []


def _list_conjuncts(condition: exp.Expr) -> list[exp.Expr]:
    """Return the parts of a condition that are joined by AND."""
    parts, left = [], [condition]
    while left:
        part = left.pop().unnest()
        if isinstance(part, exp.And):
            left += [part.this, part.expression]
        else:
            parts.append(part)
    return parts


def _uncast(node: exp.Expr | None) -> exp.Expr | None:
    while isinstance(node, (exp.Cast, exp.Paren)):
        node = node.this
    return node


def _is_word(node: exp.Expr | None, word: str) -> bool:
    node = _uncast(node)
    return isinstance(node, (exp.Literal, exp.National)) and node.name.upper() == word


def _ties_rows(part: exp.Expr) -> bool:
    """Return True if a condition ties two rows to each other by more than their project or tenant."""
    sides = (part.this, part.expression) if isinstance(part, exp.EQ) else ()
    return len([1 for side in sides if isinstance(side, exp.Column) and _get_name(side) not in OF_MANY_VERSIONS]) == 2


def _selects_published(node: exp.Expr, top: exp.Expr) -> bool:
    """Return True for a word that selects published versions, or one of drafts that is negated."""
    is_published = _is_word(node, "PUBLISHED") and not isinstance(node, (exp.Cast, exp.Paren))
    is_draft = _is_word(node, "DRAFT") or (isinstance(node, exp.Column) and _get_name(node) == "published_at")
    negations = 0
    while (is_published or is_draft) and node is not top and node.parent is not None:
        child, node = node, node.parent
        other = node.args.get("expression")
        negations += isinstance(node, _NEGATIONS) or (isinstance(node, exp.Except) and child is other)
        if isinstance(node, (exp.Is, exp.EQ)):
            negations += bool(node.args.get("negate")) + (isinstance(other, exp.Boolean) and not other.this)
    return (is_published and negations % 2 == 0) or (is_draft and negations % 2 == 1)
