"""`groundplan context set`: write one input of a draft; without a run, of my open draft, which is begun if needed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal
from uuid import NAMESPACE_URL, uuid5

from groundplan.kernel.errors import Invalid, NotFound
from groundplan.kernel.input_gate.strict_json import decode
from groundplan.kernel.wording import quote_text
from groundplan.surfaces.cli.command_line import argument, option
from groundplan.surfaces.cli.context.open_draft import begin_draft, find_draft
from groundplan.surfaces.cli.failures import UsageError
from groundplan.surfaces.cli.invocation import CommandResult, Invocation
from groundplan.surfaces.cli.renderers import show_answer

if TYPE_CHECKING:
    from groundplan.context.schemas import PcivInputV1
    from groundplan.session import Session


def build_file_source(run: str, path: str) -> dict[str, str]:
    """Return a file as a source. The same file in the same run is the same source."""
    return {
        "id": str(uuid5(NAMESPACE_URL, f"groundplan:{run}:{path}")),
        "kind": "file",
        "title": path.rpartition("/")[2] or path,
        "uri": path,
    }


RUN_CHARS = 36  # of an id
BOOLEAN_WORDS = {"true": True, "false": False}


def set_input(
    invocation: Invocation,
    words: Annotated[
        list[str],
        argument(
            "[RUN] POINTER [VALUE]",
            "The JSON Pointer of the input, such as /site/size. Before it the draft, by id, default: my open draft, "
            "else a new one. After it the value; '' is the empty text. Put a value that starts with a dash last, "
            "after --.",
        ),
    ],
    kind: Annotated[
        Literal["string", "number", "boolean", "enum", "json"] | None,
        option(
            "--kind",
            value="KIND",
            text="string, number, boolean, enum or json. Default: unchanged; if new: string, or enum with --option.",
        ),
    ] = None,
    unset: Annotated[bool, option("--unset", text="Remove the value: it is not known.")] = False,
    label: Annotated[
        str | None,
        option("--label", value="TEXT", text="The label. Default for a new input: the last step of its pointer."),
    ] = None,
    required: Annotated[
        bool | None,
        option("--required", text="Whether a full commit requires a value.", off="--no-required"),
    ] = None,
    domain: Annotated[str | None, option("--domain", value="NAME", text="The domain of the input.")] = None,
    option: Annotated[
        list[str] | None,
        option("--option", value="TEXT", text="An allowed value; repeatable. Replaces all options."),
    ] = None,
    source: Annotated[
        list[str] | None,
        option("--source", value="ID", text="The source of the value, by id; repeatable. Replaces all sources."),
    ] = None,
    source_file: Annotated[
        list[str] | None,
        option("--source-file", value="FILE", text="A file as the source of the value; repeatable."),
    ] = None,
    project: Annotated[
        str | None,
        option("--project", "-P", value="TEXT", text="The project of my open draft, by name or id."),
    ] = None,
    provenance: Annotated[
        Literal["unknown", "model-inferred", "source-backed", "user-entered"] | None,
        option(
            "--provenance",
            value="FROM",
            text="The origin of the value: unknown, model-inferred, source-backed or user-entered. "
            "Default: source-backed with --source, unless it is user-entered already; else user-entered, "
            "or model-inferred if an agent writes it.",
        ),
    ] = None,
    evidence: Annotated[
        str | None,
        option("--evidence", value="TEXT", text="A quotation from the source that supports the value."),
    ] = None,
    rationale: Annotated[
        str | None,
        option("--rationale", value="TEXT", text="The reason, for the history and for reviewers."),
    ] = None,
) -> CommandResult:
    """Write one input of a draft. A value of weaker provenance than the current one becomes a suggestion."""
    run, pointer, value = _split_words(words)
    if unset and value is not None:
        raise UsageError("--unset and VALUE cannot be combined; use one of them")
    given: dict[str, Any] = {
        "valueKind": kind,
        "label": label,
        "required": required,
        "domain": domain,
        "options": option or None,
        "provenance": provenance,
        "evidenceSnippet": evidence,
        "rationale": rationale,
    }
    write = {"pointer": pointer, **{name: option for name, option in given.items() if option is not None}}
    if value is None and not (unset or source or source_file) and write.keys() <= {"pointer", "rationale"}:
        raise UsageError(f"nothing to write at {quote_text(pointer)[1:-1]}; give a VALUE, --unset, or another option")
    if run is None and project is None:
        project = invocation.find_project()
    with invocation.session(reads_only=True) as session:
        steps = _split_pointer(pointer)
        draft = run or find_draft(session, str(project))
        current = _fetch_input(session, str(project), draft, pointer)
        if current is None:
            write = {"label": steps[-1] or pointer, "valueKind": "enum" if option else "string", **write}
        if unset:
            write["value"] = None
        elif value is not None:
            write["value"] = _parse_value(
                str(write.get("valueKind") or (current and current.value_kind)), value, pointer
            )
        # Only now, so that no line that is refused leaves a draft behind.
        run = draft or begin_draft(session, str(project))
        files = [build_file_source(run, path) for path in source_file or ()]
        if source or files:
            write["sourceIds"] = [*(source or []), *(one["id"] for one in files)]
        sources = {"sources": files} if files else {}
        answer = session.call("context.edit", runId=run, inputs=[write], **sources)

    return show_answer("context.edit", answer)


def _split_words(words: list[str]) -> tuple[str | None, str, str | None]:
    """Return the run, the pointer and the value. A run is an id, and a pointer begins with a slash."""
    run, rest = (None, words) if words[0].startswith("/") else (words[0], words[1:])
    if run is not None and len(run) < RUN_CHARS:
        raise UsageError(f"{quote_text(run)} is no POINTER, which begins with a slash; did you mean /{run}?")
    if not rest:
        raise UsageError("POINTER is missing; write one such as /site/size, then the value")
    pointer, *values = rest
    if len(values) > 1:
        raise UsageError(f"there is more than one value: {quote_text(values[1])}; put a text with spaces in quotes")
    return run, pointer, values[0] if values else None


def _fetch_input(session: Session, project: str, draft: str | None, pointer: str) -> PcivInputV1 | None:
    """Return the current input at a pointer, or None: of the draft, else of the facts in force, as a draft begins."""
    at: dict[str, Any] = {"scopeId": project}
    if draft is not None:
        at = {"scopeId": session.call("context.fetch_run", runId=draft).run.scope_id, "runId": draft}
    try:
        view = session.call("context.view", **at, pointers=[pointer])
    except NotFound:
        if draft is not None:
            raise
        return None  # no facts are committed
    found: PcivInputV1 | None = view.inputs_by_pointer.get(pointer)
    return found


def _split_pointer(pointer: str) -> list[str]:
    """Return the steps of a pointer."""
    from groundplan.context.values import split_pointer, validate_pointer

    validate_pointer(pointer, ("POINTER",))
    return split_pointer(pointer)


def _parse_value(kind: str, text: str, pointer: str) -> Any:
    """Return the value of an argument."""
    match kind:
        case "number":
            number = _parse_json(text, pointer, "a number")
            if isinstance(number, bool) or not isinstance(number, int | float):
                raise _invalid_value(text, pointer, "a number")
            return number
        case "boolean":
            if text not in BOOLEAN_WORDS:
                raise _invalid_value(text, pointer, "true or false")
            return BOOLEAN_WORDS[text]
        case "json":
            value = _parse_json(text, pointer, "JSON")
            if value is None:
                raise UsageError(
                    f"null is not a value; to remove the value at {quote_text(pointer)[1:-1]}, use --unset"
                )
            return value
    return text


def _parse_json(text: str, pointer: str, wanted: str) -> Any:
    try:
        return decode(text.encode("utf-8", "surrogateescape"))
    except Invalid as error:
        if error.code != "invalid_json":
            raise Invalid(error.message.replace("the request", "VALUE", 1), code=error.code, **error.details) from None
        raise _invalid_value(text, pointer, wanted) from None


def _invalid_value(text: str, pointer: str, wanted: str) -> UsageError:
    return UsageError(
        f"the value at {quote_text(pointer)[1:-1]} must be {wanted}, not {quote_text(text)}; --kind changes the kind"
    )
