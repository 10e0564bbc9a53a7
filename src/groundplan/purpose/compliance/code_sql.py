"""Judge one SQL statement that names a toc_* table, by its tree.

A change reaches only drafts if its own WHERE says so plainly: status = 'DRAFT', or the ids of such versions, joined to
the other conditions by AND. One that says nothing of the state of a version is BLOCKED; any other is a LOOK.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Literal

from sqlglot import exp, parse

from groundplan.purpose.compliance.code_check import (
    FILTER_TENANT,
    NEXT_DRAFT,
    ONLY_DRAFTS,
    PARENT,
    TOC_NAME,
    USE_EDGES,
    Match,
    block,
    look,
)
from groundplan.purpose.compliance.live_schema import ENDS
from groundplan.purpose.metadata_structure import PATH_NAMES, TREE_NAMES, fold_name

logging.getLogger("sqlglot").addHandler(logging.NullHandler())  # it warns of each statement that it keeps as text

DIALECTS = ("postgres", "sqlite", "mysql")
DEPTH_MAX = 50  # of brackets; the parser tries deeper ones again and again
STATEMENT_CHARS_MAX = 200_000
VERSIONS, NODES, EDGES = "toc_versions", "toc_nodes", "toc_edges"
CONTENT = frozenset({VERSIONS, NODES, EDGES, "toc_assumptions", "toc_edge_assumptions", "toc_indicators"})
# What a column may refer to; any other *_id of a node may be its parent.
LINKS = frozenset({"id", "tenant_id", "project_id", "toc_version_id", "version_id", "node_id", "edge_id", *ENDS})
OF_MANY_VERSIONS = frozenset({"tenant_id", "project_id", "organization_id"})

Reach = Literal["drafts", "published", "anything", "unknown"]

_TENANT = re.compile(r"(?:gp_)?tenant_?(?:id)?", re.IGNORECASE)
_OF_STATE = re.compile(r"status|draft|publish", re.IGNORECASE)
_NEGATIONS = (exp.Not, exp.NEQ, exp.NullSafeNEQ, exp.GT, exp.GTE, exp.LT, exp.LTE)
_UNDERSTOOD = (exp.Query, exp.Insert, exp.Update, exp.Delete, exp.Merge, exp.TruncateTable, exp.Comment)
_OR_ANOTHER = re.compile(r"\b(UPDATE)\s+OR\s+\w+", re.IGNORECASE)


def judge_statement(text: str, *, is_whole: bool) -> list[Match] | None:
    """Return the findings in a statement, or None if it was not understood. `is_whole`: nothing else decides on it."""
    tree = _parse(text)
    if tree is None:
        return None
    judged = _Judge(text, tree, is_whole=is_whole)
    return list(judged.judge())


def _parse(text: str) -> exp.Expr | None:
    if len(text) > STATEMENT_CHARS_MAX or _measure_depth(text) > DEPTH_MAX:
        return None
    text = _OR_ANOTHER.sub(lambda match: match[1].ljust(len(match[0])), text)
    for dialect in DIALECTS:
        with suppress(Exception):  # whatever the parser stumbles over, it has not understood the text
            trees = [tree for tree in parse(text, dialect=dialect) if tree is not None]
            return None if len(trees) != 1 or trees[0].find(exp.Command) else trees[0]
    return None


def _measure_depth(text: str) -> int:
    depth = deepest = 0
    for bracket in re.findall(r"[()\[\]]", text):
        depth += 1 if bracket in "([" else -1
        deepest = max(deepest, depth)
    return deepest


def _get_name(node: exp.Expr | None) -> str:
    return node.name.strip("'\"`").lower() if node is not None else ""


def _is_toc(name: str) -> bool:
    return name.startswith("toc_")


class _Judge:
    """A statement: its tree, its nodes, and its tables by the name that it calls them."""

    def __init__(self, text: str, tree: exp.Expr, *, is_whole: bool) -> None:
        self.text = text
        self.tree = tree
        self.is_whole = is_whole
        self.nodes = list(tree.walk())
        found = [node for node in self.nodes if isinstance(node, exp.Table)]
        self.tables = {(table.alias or _get_name(table)).lower(): _get_name(table) for table in found}
        self.target = _get_name(self._find_target(tree))

    def judge(self) -> Iterator[Match]:
        """Yield the findings."""
        yield from self._match_names()
        yield from self._match_literals()
        if isinstance(self.tree, (exp.Create, exp.Alter)) and _is_toc(self.target):
            yield from self._match_schema()
        for node in self.nodes:
            if isinstance(node, (exp.Update, exp.Delete, exp.TruncateTable, exp.Insert, exp.Merge)):
                yield from self._match_change(node)
        yield from self._match_tenant()
        if not self._is_understood():
            yield look(
                0,
                "not_understood",
                f"{self.text.split(None, 1)[0].upper()} was not understood",
                "Read it by those rules",
            )

    @staticmethod
    def _find_target(node: exp.Expr) -> exp.Table | None:
        """Return the table that a statement defines or changes."""
        index = node.find(exp.Index) if isinstance(node, exp.Create) else None
        this = index.args.get("table") if index is not None else node.args.get("this")
        if isinstance(node, exp.TruncateTable):
            this = next(iter(node.expressions), None)
        this = this.this if isinstance(this, exp.Schema) else this
        return this if isinstance(this, exp.Table) else None

    def _is_understood(self) -> bool:
        tree = self.tree
        if isinstance(tree, exp.Create):
            columns = tree.this.expressions if isinstance(tree.this, exp.Schema) else ()
            is_read = (
                tree.kind == "VIEW" or (tree.kind == "TABLE" and bool(columns)) or tree.find(exp.Index) is not None
            )
            return is_read and (tree.kind == "VIEW" or tree.expression is None) and not tree.find(exp.LikeProperty)
        if isinstance(tree, exp.Alter):
            return all(
                isinstance(action, (exp.ColumnDef, exp.AddConstraint)) for action in tree.args["actions"]
            ) or all(
                isinstance(action, exp.Drop) and action.kind == "COLUMN" and not self._drops_needed(action)
                for action in tree.args["actions"]
            )
        if isinstance(tree, exp.Drop):
            return not _is_toc(_get_name(next(iter(tree.args.get("tables") or ()), None))) or tree.kind in (
                "INDEX",
                "VIEW",
                "TRIGGER",
            )
        if isinstance(tree, exp.Insert) and not isinstance(tree.this, exp.Schema) and _is_toc(self.target):
            return False  # without the names of its columns
        return isinstance(tree, _UNDERSTOOD)

    @staticmethod
    def _drops_needed(action: exp.Drop) -> bool:
        names = {_get_name(column) for column in action.args.get("tables") or ()}
        return bool(names & {"tenant_id", "status", "published_at", "toc_version_id", *ENDS})

    def _locate(self, node: exp.Expr) -> int:
        """Return the offset of a node: that of its first name or literal."""
        marked = (part.meta.get("start") for part in node.walk() if isinstance(part, (exp.Identifier, exp.Literal)))
        return 0 if node is self.tree else min((at for at in marked if at is not None), default=0)

    # --- Structure

    def _match_names(self) -> Iterator[Match]:
        """Yield the columns that are named like the parent of a node, of a table of the theory."""
        for node in self.nodes:
            if not isinstance(node, (exp.Identifier, exp.JSONPathKey)) or not PARENT.fullmatch(_get_name(node)):
                continue
            certainty = self._judge_owner(node)
            if certainty is not None:
                verdict = block if certainty else look
                message = f"column {node.name} makes an adjacency list of the theory"
                yield verdict(self._locate(node), "parent_id", message, USE_EDGES)

    def _judge_owner(self, name: exp.Expr) -> bool | None:
        """Return True if a column is of a table of the theory, False if that is not known, None if it is of another."""
        column = name.parent
        if name.find_ancestor(exp.Drop) is not None:
            return None  # what is dropped is not used any more
        if isinstance(column, (exp.TableAlias, exp.Alias)):
            return False
        if isinstance(self.tree, (exp.Create, exp.Alter)) and self.tree.expression is None:
            return True if _is_toc(self.target) else None
        if isinstance(column, exp.Column) and column.table:
            table = self.tables.get(column.table.lower())
            return False if table is None else True if _is_toc(table) else None
        scope = name.find_ancestor(exp.Select, exp.Update, exp.Delete, exp.Insert, exp.Merge)
        tables = self._list_tables(scope) if scope is not None else []
        moved = self.target == EDGES and isinstance(self.tree, exp.Insert)
        if tables and isinstance(scope, (exp.Insert, exp.Update)) and not any(map(_is_toc, tables)):
            return None
        return not moved and all(map(_is_toc, tables))

    def _list_tables(self, scope: exp.Expr) -> list[str]:
        """Return the names of the tables that a query or change reads directly."""
        origins = [self._find_target(scope), scope.args.get("from_"), *(scope.args.get("joins") or ())]
        parts = (one.this if isinstance(one, (exp.From, exp.Join)) else one for one in origins if one is not None)
        return [_get_name(part) if isinstance(part, exp.Table) else "" for part in parts]

    def _match_literals(self) -> Iterator[Match]:
        for node in self.nodes:
            if isinstance(node, (exp.Literal, exp.National)) and (node.is_string or isinstance(node, exp.National)):
                if PARENT.search(node.name):
                    yield block(self._locate(node), "parent_id", f"'{node.name}' names the parent of a node", USE_EDGES)
                elif TOC_NAME.search(node.name) and not isinstance(node.parent, exp.ColumnDef):
                    yield look(self._locate(node), "not_understood", f"'{node.name}' may be used as a table", "Read it")

    def _match_schema(self) -> Iterator[Match]:
        """Yield what a definition or change of a table of the theory has that no such table may have."""
        for node in self.nodes:
            if isinstance(node, (exp.ColumnDef, exp.AlterColumn)):
                yield from self._match_column(node)
            elif (
                isinstance(node, exp.Reference)
                and self.target == NODES
                and NODES in map(_get_name, node.find_all(exp.Table))
            ):
                message = "toc_nodes references itself, so that a node has a single parent"
                yield block(self._locate(node), "parent_id", message, USE_EDGES)
            elif isinstance(node, exp.RenameColumn):
                yield from self._match_column(node.args["to"], node)
        keys = list(self._list_keys())
        if self.target == EDGES:
            for at, key in keys:
                if len(key & {*ENDS}) == 1 and "id" not in key:
                    message = "toc_edges is unique by one of its ends, so that a node has a single parent or child"
                    yield block(at, "single_parent", message, "Make it unique by both ends and edge_type together")
        if isinstance(self.tree, exp.Create) and self.tree.kind == "TABLE":
            if not any(_TENANT.fullmatch(_get_name(node)) for node in self.nodes if isinstance(node, exp.ColumnDef)):
                message = f"{self.target} has no column tenant_id"
                yield look(0, "no_tenant", message, "Add tenant_id, and row level security on it")
            if self.target == EDGES and not any({*ENDS} <= key for _, key in keys):
                message = "toc_edges is not unique by source, target and type"
                action = "Add UNIQUE (source_node_id, target_node_id, edge_type)"
                yield look(0, "edge_not_unique", message, action)

    def _match_column(self, column: exp.Expr, renamed: exp.Expr | None = None) -> Iterator[Match]:
        name, kind = _get_name(column), column.args.get("kind") or column.args.get("dtype")
        at, full, folded = self._locate(column), f"column {self.target}.{_get_name(column)}", fold_name(name)
        type_ = kind.sql().lower() if kind is not None else ""
        if name in ("parent", "up_id"):
            yield block(at, "parent_id", f"{full} makes an adjacency list of the theory", USE_EDGES)
        elif folded in PATH_NAMES or type_ == "ltree":
            message = f"{full} is a materialised path, which cannot hold several parents"
            yield block(at, "materialised_path", message, USE_EDGES)
        elif folded in TREE_NAMES:
            yield block(at, "json_tree", f"{full} holds a tree", USE_EDGES)
        elif type_ in ("json", "jsonb") and name != "metadata":
            action = f"Keep no structure of the theory in it. {USE_EDGES}"
            yield look(at, "json_tree", f"{full} of type {type_} can hold a tree", action)
        elif self.target == NODES and self._may_be_link(column, name):
            yield look(at, "parent_id", f"{full} may be the parent of a node", USE_EDGES)

    @staticmethod
    def _may_be_link(column: exp.Expr, name: str) -> bool:
        is_link = name.endswith("_id") and name not in LINKS and not PARENT.fullmatch(name)
        return is_link and column.find(exp.Reference) is None

    def _list_keys(self) -> Iterator[tuple[int, set[str]]]:
        """Yield the offset and columns of each unique key that the statement defines."""
        for node in self.nodes:
            if isinstance(node, (exp.UniqueColumnConstraint, exp.PrimaryKey)):
                column = node.find_ancestor(exp.ColumnDef)
                names = [column] if column is not None else [*node.find_all(exp.Identifier)]
                yield self._locate(column or node), {_get_name(name) for name in names}
        if isinstance(self.tree, exp.Create) and self.tree.args.get("unique"):
            index = self.tree.find(exp.IndexParameters)
            columns = index.args.get("columns") or () if index is not None else ()
            yield 0, {_get_name(name) for column in columns for name in column.find_all(exp.Identifier)}

    # --- Versions

    def _match_change(self, change: exp.Expr) -> Iterator[Match]:
        table = _get_name(self._find_target(change))
        if isinstance(change, exp.TruncateTable):
            table = next((name for name in map(_get_name, change.expressions) if name in CONTENT), table)
        conflict = change.args.get("conflict")
        is_insert = isinstance(change, exp.Insert)
        if table not in CONTENT or (is_insert and not conflict and not change.args.get("alternative")):
            return
        if is_insert and conflict is not None and not conflict.expressions:
            return  # DO NOTHING
        at, verb = self._locate(change), self.text[self._locate(change) :].split(None, 1)[0].upper()
        verb = type(change).__name__.upper().removesuffix("TABLE")
        where = (conflict if conflict is not None else change).args.get("where")
        assigned = self._list_assigned(change)
        status = next((value for name, value in assigned if table == VERSIONS and name == "status"), None)
        reach = self._classify_reach(change, where)
        if status is not None and status.name.upper() == "DRAFT":
            message = "a published version becomes a DRAFT again, so that it can be edited"
            yield block(at, "published_edited", message, NEXT_DRAFT)
        elif status is not None and status.name.upper() == "PUBLISHED":
            if reach != "drafts":
                message = "a version is published without the plain condition that it is a DRAFT"
                yield block(at, "publish_unchecked", message, "Add AND status = 'DRAFT' to the condition")
            elif "published_at" not in (name for name, _ in assigned):
                action = "Set published_at in the same statement"
                yield look(at, "publish_unchecked", "published_at is not set with the status", action)
        elif reach == "published":
            yield block(at, "published_edited", f"{verb} of {table} reaches PUBLISHED versions", NEXT_DRAFT)
        elif reach != "drafts":
            verdict = block if reach == "anything" and self.is_whole and not is_insert else look
            yield verdict(
                at, "draft_not_checked", f"{verb} of {table} does not say that the version is a DRAFT", ONLY_DRAFTS
            )
        elif status is not None:
            yield look(at, "publish_unchecked", "the new status is not written in the statement", NEXT_DRAFT)

    @staticmethod
    def _list_assigned(change: exp.Expr) -> list[tuple[str, exp.Expr]]:
        holders = (
            change.find_all(exp.Update) if isinstance(change, exp.Merge) else [change.args.get("conflict") or change]
        )
        equal = (one for holder in holders for one in holder.expressions if isinstance(one, exp.EQ))
        return [(_get_name(one.this), one.expression) for one in equal]

    def _classify_reach(self, change: exp.Expr, where: exp.Expr | None) -> Reach:
        """Return which versions a change reaches, as far as its condition and the statement around it say."""
        parts = _list_conjuncts(where.this) if where is not None else []
        others = change.args.get("from_") or change.args.get("using")
        is_tied = not others or any(map(_ties_rows, parts)) or isinstance(change, exp.Merge)
        # `||` is OR in one dialect, and binds in another way.
        is_plain = where is None or where.find(exp.DPipe) is None
        if is_tied and is_plain and any(self._admits_only_drafts(part) for part in parts):
            return "drafts"
        assigned = {id(node) for _, value in self._list_assigned(change) for node in value.walk()}
        if any(_selects_published(node, self.tree) for node in self.nodes if id(node) not in assigned):
            return "published"
        says_nothing = (
            not _OF_STATE.search(self.text)
            and all(map(_is_toc, self.tables.values()))
            and not any(isinstance(node, exp.Anonymous) for node in self.nodes)
        )
        return "anything" if says_nothing else "unknown"

    def _admits_only_drafts(self, condition: exp.Expr, *, is_of_version: bool = True) -> bool:
        condition = condition.unnest()
        if isinstance(condition, exp.EQ):
            sides = [_uncast(condition.this), _uncast(condition.expression)]
            status = next(
                (side for side in sides if isinstance(side, exp.Column) and _get_name(side) == "status"), None
            )
            return is_of_version and status is not None and any(map(_is_draft, sides)) and self._may_be_version(status)
        if isinstance(condition, exp.In) and condition.args.get("query") is None:
            is_status = _get_name(_uncast(condition.this)) == "status"
            return (
                is_of_version and is_status and len(condition.expressions) == 1 and _is_draft(condition.expressions[0])
            )
        if isinstance(condition, exp.In):
            query = condition.args["query"].unnest()
            names = [_get_name(one) for one in query.expressions] if isinstance(query, exp.Select) else []
            return len(names) == 1 and names[0] not in OF_MANY_VERSIONS and self._selects_only_drafts(query)
        if isinstance(condition, exp.Exists) and isinstance(condition.this, exp.Select):
            where = condition.this.args.get("where")
            is_tied = where is not None and any(map(_ties_rows, _list_conjuncts(where.this)))
            return is_tied and self._selects_only_drafts(condition.this)
        return False

    def _selects_only_drafts(self, query: exp.Expr) -> bool:
        where = query.args.get("where")
        is_of_version = VERSIONS in self._list_tables(query)
        parts = _list_conjuncts(where.this) if where is not None else []
        return any(self._admits_only_drafts(part, is_of_version=is_of_version) for part in parts)

    def _may_be_version(self, status: exp.Column) -> bool:
        return _is_toc(self.tables.get(status.table.lower(), "toc_")) if status.table else True

    # --- Tenants

    def _match_tenant(self) -> Iterator[Match]:
        scopes = [
            node
            for node in self.nodes
            if isinstance(node, (exp.Select, exp.Update, exp.Delete, exp.Insert, exp.Merge))
            and not isinstance(node.parent, exp.When)
            and any(map(_is_toc, self._list_tables(node)))
            and node.find_ancestor(exp.Where, exp.Having, exp.Join) is None
            and not (isinstance(node.parent, exp.EQ))
        ]
        open_ = [scope for scope in scopes if not self._filters_tenant(scope)]
        if open_:
            message = "the statement does not filter by tenant_id"
            yield look(self._locate(open_[0]), "no_tenant", message, FILTER_TENANT)

    def _filters_tenant(self, scope: exp.Expr) -> bool:
        if isinstance(scope, exp.Insert):
            columns = scope.this.expressions if isinstance(scope.this, exp.Schema) else ()
            return any(_TENANT.fullmatch(_get_name(column)) for column in columns)
        if isinstance(scope, exp.Merge):
            return any(_TENANT.fullmatch(_get_name(node)) for node in scope.args["on"].find_all(exp.Column))
        where = scope.args.get("where")
        conditions = [where.this] if where is not None else []
        conditions += [on for join in scope.args.get("joins") or () if (on := join.args.get("on")) is not None]
        return any(self._is_tenant_filter(part) for one in conditions for part in _list_conjuncts(one))

    def _is_tenant_filter(self, part: exp.Expr) -> bool:
        if not isinstance(part, (exp.EQ, exp.In, exp.Is, exp.NullSafeEQ)):
            return False
        sides = [_uncast(side) for side in (part.this, part.args.get("expression")) if side is not None]
        tenants = [side for side in sides if isinstance(side, exp.Column) and _TENANT.fullmatch(_get_name(side))]
        others = [one for one in tenants if not _is_toc(self.tables.get(one.table.lower(), "toc_"))]
        return len(tenants) == 1 or bool(others)


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


def _uncast(node: exp.Expr) -> exp.Expr:
    while isinstance(node, (exp.Cast, exp.Paren)):
        node = node.this
    return node


def _is_draft(node: exp.Expr) -> bool:
    node = _uncast(node)
    return isinstance(node, (exp.Literal, exp.National)) and node.name.upper() == "DRAFT"


def _ties_rows(part: exp.Expr) -> bool:
    """Return True if a condition ties two rows to each other by more than their project or tenant."""
    sides = (part.this, part.expression) if isinstance(part, exp.EQ) else ()
    columns = [side for side in sides if isinstance(side, exp.Column) and _get_name(side) not in OF_MANY_VERSIONS]
    return len(columns) == 2


def _selects_published(node: exp.Expr, top: exp.Expr) -> bool:
    """Return True for a word that selects published versions, or one of drafts that is negated."""
    word = _get_name(node) if isinstance(node, (exp.Literal, exp.National, exp.Column)) else ""
    if word not in ("published", "draft", "published_at") or (word == "published_at") != isinstance(node, exp.Column):
        return False
    negations = 0
    while node is not top and node.parent is not None:
        child, node = node, node.parent
        other = node.args.get("expression")
        negations += isinstance(node, _NEGATIONS) or (isinstance(node, exp.Except) and child is other)
        if isinstance(node, (exp.Is, exp.EQ)):
            is_false = isinstance(other, exp.Boolean) and not other.this
            negations += bool(node.args.get("negate")) + is_false
    return negations % 2 == (word != "published")
