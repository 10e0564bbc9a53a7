"""Values come back as they were written, by every way in and out, and UNSET equals nothing else.

Many values share a run, because the way in takes the time. Special values are always tried; GROUNDPLAN_PROOF_STEPS
adds more random ones, new each time.
"""

from __future__ import annotations

import json
import os
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest
from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st

from groundplan.__main__ import main
from groundplan.catalog import OPERATIONS
from groundplan.kernel.answers import encode
from groundplan.kernel.input_gate import strict_json
from groundplan.kernel.operations.registry import Group
from groundplan.kernel.preferences import Preferences
from groundplan.session import Session
from groundplan.surfaces.mcp.tools import RegistryTools
from tests.engines import Engine
from tests.machines.budget import budget
from tests.proof import VARIABLE

pytestmark = [pytest.mark.proof, pytest.mark.slow]

VALUES = 15  # in a run
STEPS = 30  # values
PAGE_TOKENS = 6_000  # so that the special values take several pages
WHOLE_MAX = 2**53

# Values that look like another kind, and where engines, encodings and shells differ.
ODD_TEXTS = (
    *("", " ", "  a ", "unknown", "null", "true", "0", "-1.50", "[]", "{}", '"', "\\", "\\u0000", "'", "%_", "@x", "-"),
    *("\n", "\r\n", "\t", "a\nb", "\u2028", "\u2029", "\ufeff", "\u00a0", "\u202e", "e\u0301", "ß", "\U0010ffff"),
    *("🦉", "👩‍🚀"),
)
ODD_NUMBERS = (
    *(0, -0.0, 1, -1, 0.1, -2.5, 1e15, 1e16, 1e22, 123456789.125),
    *(WHOLE_MAX, -WHOLE_MAX, WHOLE_MAX - 1, float(WHOLE_MAX + 2)),
    *(5e-324, -5e-324, 2.225073858507201e-308, 1.7976931348623157e308, -1.7976931348623157e308),
)
ODD_JSON: tuple[Any, ...] = (
    *({}, [], [None], {"": None}, {"b": 1, "a": 2}, [[], {}], [0, False, "", [], {}, None], {"valueJson": None}),
    *(False, True, 0, -0.0, 1.0, "", "unknown", "null", "3", "{}"),
    {"a": {"b": {"c": [{"d": "\u2028"}]}}},
)

TEXTS = st.one_of(
    st.sampled_from(ODD_TEXTS),
    st.text(st.characters(blacklist_categories=("Cc", "Cs"), whitelist_characters="\t\n\r"), max_size=20),
)
NUMBERS = st.one_of(
    st.sampled_from(ODD_NUMBERS),
    st.integers(-WHOLE_MAX, WHOLE_MAX),
    st.floats(allow_nan=False, allow_infinity=False),
)
JSON = st.one_of(
    st.sampled_from(ODD_JSON),
    st.recursive(
        st.one_of(st.none(), st.booleans(), NUMBERS, TEXTS),
        lambda below: st.lists(below, max_size=3) | st.dictionaries(TEXTS, below, max_size=3),
        max_leaves=6,
    ).filter(lambda value: value is not None),  # JSON null is not a value
)
HELD = {"string": TEXTS, "number": NUMBERS, "boolean": st.booleans(), "enum": TEXTS, "json": JSON}
OF_VALUES = ("model-inferred", "source-backed", "user-entered")


class Fact(NamedTuple):
    """A value of a kind, or None for UNSET; its provenance; and how its writer spells it."""

    kind: str
    held: Any
    provenance: str
    options: list[str] | None
    by_column: bool

    @property
    def request(self) -> dict[str, Any]:
        name = f"value{self.kind.capitalize()}" if self.by_column else "value"
        return {"label": "x", "valueKind": self.kind, name: self.held, "provenance": self.provenance}

    @property
    def columns(self) -> dict[str, Any]:
        """The columns as every reader should see them."""
        columns = dict.fromkeys(f"value{kind.capitalize()}" for kind in HELD)
        held = self.held
        if self.kind == "number" and held is not None and held == int(held) and abs(held) <= WHOLE_MAX:
            held = int(held)
        return {
            **columns,
            f"value{self.kind.capitalize()}": held,
            "valueKind": self.kind,
            "provenance": self.provenance,
        }


@st.composite
def facts(draw: st.DrawFn) -> Fact:
    kind = draw(st.sampled_from(tuple(HELD)))
    held = draw(st.one_of(HELD[kind], st.none())) if draw(st.integers(0, 5)) else None
    provenance = draw(st.sampled_from(OF_VALUES if held is not None else ("unknown", *OF_VALUES)))
    others = draw(st.one_of(st.none(), st.lists(TEXTS, max_size=3)))
    options = None if others is None else [*others, *([held] if kind == "enum" and held is not None else [])]
    return Fact(kind, held, provenance, options, draw(st.booleans()))


MANY = st.lists(facts(), min_size=VALUES, max_size=VALUES)

ODD = [
    *(Fact("string", text, "user-entered", None, by_column=False) for text in ODD_TEXTS),
    *(Fact("enum", text, "source-backed", ["a", text], by_column=True) for text in ODD_TEXTS),
    *(Fact("number", number, "model-inferred", None, by_column=number < 0) for number in ODD_NUMBERS),
    *(Fact("json", value, "source-backed", None, by_column=bool(value)) for value in ODD_JSON),
    *(Fact("boolean", value, "user-entered", [], by_column=value) for value in (False, True)),
    *(Fact(kind, None, provenance, None, by_column=True) for kind in HELD for provenance in ("unknown", *OF_VALUES)),
]


def exact_text(value: Any) -> str:
    """Return a text that differs for values Python takes for equal: false and 0, keys in another order."""
    return json.dumps(value)


class FactsPaths:
    """Every way to write and read facts of one database."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.python = engine.session("ada")
        paging = Session(engine.store, self.python.actor, preferences=Preferences(answer_tokens_max=PAGE_TOKENS))
        self.tools = RegistryTools(OPERATIONS, {Group.CONTEXT}, paging.execute)
        self.serial = count(1)

    def draft(self, scope: str) -> str:
        run_id: str = self.python.call("context.create_draft", scopeId=scope).run.id
        return run_id

    def tool(self, name: str, /, **arguments: Any) -> Any:
        """Call a tool with JSON text, as over the wire."""
        answer = self.tools.call(name, strict_json.decode(json.dumps(arguments).encode()))
        assert not answer.is_error, answer.text
        return json.loads(answer.text)

    # --- Writing ---

    def write_by_python(self, **parts: Any) -> str:
        run_id = self.draft("atlas")
        self.python.call("context.edit", runId=run_id, **parts)
        return run_id

    def write_by_tool(self, **parts: Any) -> str:
        run_id: str = self.tool("context_run", operation="create_draft", scopeId="atlas")["run"]["id"]
        self.tool("context_edit", runId=run_id, **parts)
        return run_id

    def copy_to_another_scope(self, run_id: str) -> tuple[str, str]:
        scope = f"copy {next(self.serial)}"
        self.draft(scope)
        exported = json.loads(encode(self.python.call("context.export", scopeId="atlas", runId=run_id)))
        imported = self.python.call("context.import", scopeId=scope, document=exported)
        return scope, imported.run.id

    # --- Reading ---

    def read_by_python(self, scope: str, run_id: str) -> Any:
        return msgspec.to_builtins(self.python.call("context.view", scopeId=scope, runId=run_id))

    def read_by_tool(self, scope: str, run_id: str) -> Any:
        """Read all pages and join them."""
        arguments = {"scopeId": scope, "runId": run_id}
        whole = page = self.tool("context_view", **arguments)
        while "next_cursor" in page:
            page = self.tool("context_view", **arguments, cursor=page["next_cursor"])
            for part in ("sourcesById", "inputsByPointer"):
                assert not whole[part].keys() & page[part].keys()
                whole[part] |= page[part]
            whole["constraints"] += page["constraints"]
        return {name: value for name, value in whole.items() if name not in ("next_cursor", "left_out")}


def parts_of(many: list[Fact], source_id: str) -> dict[str, Any]:
    """Return every fact as an input and as a constraint, with a source if it needs one."""
    inputs, constraints = [], []
    for place, one in enumerate(many):
        backed = one.provenance == "source-backed"
        inputs.append(
            {"pointer": f"/{place}", "options": one.options, "sourceIds": [source_id] if backed else []} | one.request
        )
        constraints.append({"key": f"{place:03}", "sourceId": source_id if backed else None} | one.request)
    source = {
        "id": source_id,
        "kind": "manual",
        "title": "x",
        "uri": "x",
        "rawMeta": {"all": [one.held for one in many]},
    }
    return {"sources": [source], "inputs": inputs, "constraints": constraints}


def assert_complete(many: list[Fact], view: Any) -> None:
    assert len(view["inputsByPointer"]) == len(view["constraints"]) == len(many)
    (source,) = view["sourcesById"].values()
    assert exact_text(source["rawMeta"]) == exact_text({"all": [one.held for one in many]})
    for place, (one, constraint) in enumerate(zip(many, view["constraints"], strict=True)):
        found = view["inputsByPointer"][f"/{place}"]
        assert exact_text({name: found[name] for name in one.columns}) == exact_text(one.columns)
        assert exact_text({name: constraint[name] for name in one.columns}) == exact_text(one.columns)
        backed = [source["id"]] if one.provenance == "source-backed" else []
        assert (found["options"], found["sourceIds"]) == (one.options, backed)
        assert (constraint["key"], constraint["sourceId"]) == (f"{place:03}", backed[0] if backed else None)


@pytest.fixture
def paths(engine: Engine) -> FactsPaths:
    return FactsPaths(engine)


IDS = (f"00000000-0000-4000-8000-{n:012x}" for n in count(1))  # ids of sources; unique in a database


@budget(STEPS, in_a_run=VALUES)
@given(many=MANY)
@example(many=ODD)
def test_values_survive_python_tools_export_and_import(paths: FactsPaths, many: list[Fact]) -> None:
    written = {
        "python": paths.write_by_python(**parts_of(many, next(IDS))),
        "tool": paths.write_by_tool(**parts_of(many, next(IDS))),
    }
    copied = paths.copy_to_another_scope(written["python"])
    for scope, run_id in (("atlas", written["python"]), ("atlas", written["tool"]), copied):
        by_python = paths.read_by_python(scope, run_id)
        assert_complete(many, by_python)
        assert exact_text(paths.read_by_tool(scope, run_id)) == exact_text(by_python)


# Each command opens the database again, so an ordinary run tries only the special values.
@settings(
    budget(VALUES, in_a_run=10 * VALUES),
    phases=[Phase.explicit, *([Phase.generate] if VARIABLE in os.environ else [])],
)
@given(many=MANY)
@example(many=ODD)
def test_values_survive_the_command_line(
    paths: FactsPaths, many: list[Fact], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(*words: str) -> Any:
        capsys.readouterr()
        code = main(["context", *words, "--db", paths.engine.db, "--person", "ada", "--access", "open", "--json"])
        printed = capsys.readouterr()
        assert code == 0, printed.err
        assert printed.out.count("\n") == 1
        return json.loads(printed.out)

    document, parts = tmp_path / "facts.json", []
    for part, rows in parts_of(many, next(IDS)).items():
        (tmp_path / part).write_text(json.dumps(rows), encoding="utf-8")
        parts += [f"--{part}", f"@{tmp_path / part}"]
    run_id = run("draft", "--project", "atlas")["run"]["id"]
    run("edit", run_id, *parts)
    run("export", "--project", "atlas", "--run", run_id, "--out", str(document), "--force")
    copied = f"copy {next(paths.serial)}"
    paths.draft(copied)

    for scope, one in (("atlas", run_id), (copied, run("import", str(document), "--project", copied)["run"]["id"])):
        view = run("view", "--project", scope, "--run", one)
        assert_complete(many, view)
        assert exact_text(view) == exact_text(paths.read_by_python(scope, one))
