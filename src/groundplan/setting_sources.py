"""Collect settings from the configuration file, the environment and the flags.

What parses their values is up to the caller. Errors are imported when there is one.
"""

from __future__ import annotations

import os
import pwd
from collections.abc import Callable, Mapping
from typing import Any

from groundplan.discovery import FoundPlan, find_plans
from groundplan.kernel.errors import Invalid
from groundplan.kernel.wording import find_nearest, join_alternatives, quote_text

Parsers = Mapping[str, Callable[[Any, str], Any]]  # by setting, for its value and where it is given

PLAIN_NAME_CHARS_MAX = 64  # a shorter ASCII name needs no further check
SHORT_NAME_CHARS_MAX = 20
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
FILE_BYTES_MAX = 65_536  # usual files have five lines

ENVIRONMENT: Mapping[str, str] = {
    "GROUNDPLAN_DB": "db",
    "GROUNDPLAN_ORG": "org",
    "GROUNDPLAN_PROJECT": "project",
    "GROUNDPLAN_AGENT": "agent",
    "GROUNDPLAN_ACCESS": "access",
    "GROUNDPLAN_TOOLS": "tools",
    "GROUNDPLAN_CLAIM_TTL_MINUTES": "claim_ttl_minutes",
    "GROUNDPLAN_LEAN": "lean",
    "GROUNDPLAN_WRITE_TIMEOUT_S": "write_timeout_s",
    "GROUNDPLAN_OIDC_ISSUER": "oidc_issuer",
    "GROUNDPLAN_OIDC_CLIENT_ID": "oidc_client_id",
    "GROUNDPLAN_OIDC_CLIENT_SECRET": "oidc_client_secret",
}
FILE_KEYS: Mapping[str, str] = {
    "db_path": "db",
    "org": "org",
    "project": "project",
    "agent_identity": "agent",
    "access": "access",
    "tools": "tools",
    "claim_ttl_minutes": "claim_ttl_minutes",
    "lean": "lean",
    "pipelines": "pipelines",
    "write_timeout_s": "write_timeout_s",
    "short_name": "short_name",
    "oidc_issuer": "oidc_issuer",
    "oidc_client_id": "oidc_client_id",
    "oidc_client_secret": "oidc_client_secret",
    "oidc_audience": "oidc_audience",
    "oidc_hosts": "oidc_hosts",
    "oidc_person_clients": "oidc_person_clients",
}
_FLAGS = ("db", "agent", "access", "tools", "org", "person")


def collect_settings(
    flags: Mapping[str, str | None], environment: Mapping[str, str], parsers: Parsers
) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the given settings and the source of each; flags override variables, and variables override the file."""
    values: dict[str, Any] = {}
    sources: dict[str, str] = {}
    is_db_named = flags.get("db") is not None or bool(environment.get("GROUNDPLAN_DB"))
    plan = _choose_plan(flags, is_db_named=is_db_named)
    if plan is not None and plan.config_file is not None:
        values = _read_settings(plan.config_file, parsers)
        sources = dict.fromkeys(values, plan.config_file)
        values["config_file"] = plan.config_file
    elif plan is not None and plan.db is not None:
        values["db"] = plan.db
    for variable, setting in ENVIRONMENT.items():
        if given := environment.get(variable):
            values[setting] = parsers[setting](given, variable)
            sources[setting] = variable
    if flags.get("agent") is not None and flags.get("person") is not None:
        raise Invalid("--agent names an agent and --person a person; give one of them", code="config_invalid_value")
    for setting in _FLAGS:
        if (given := flags.get(setting)) is not None:
            values[setting] = parsers[setting](given, f"--{setting}")
            sources[setting] = f"--{setting}"
    return values, sources


def find_user_name() -> str:
    """Return the unchanged name of the user of the operating system."""
    # The variables that getpass looks at, which takes long to import.
    named = next(filter(None, map(os.environ.get, ("LOGNAME", "USER", "LNAME", "USERNAME"))), None)
    if named is None:
        named = pwd.getpwuid(os.getuid()).pw_name
    return named


def is_plain_name(name: str) -> bool:
    """Return True if a name needs no normalization: it is short printable ASCII without surrounding blanks."""
    return 0 < len(name) < PLAIN_NAME_CHARS_MAX and name.isascii() and name.isprintable() and name == name.strip()


def is_plain_path(db: str) -> bool:
    """Return True if a text can only be the path of a file that needs no expansion: not a URL, a home or a folder."""
    return bool(db.strip("./ ")) and db.isprintable() and "://" not in db and db[0] != "~" and ":" not in db[:8]


def is_short_name(name: str) -> bool:
    """Return True if a text can be an alternative name of the program."""
    return (
        len(name) <= SHORT_NAME_CHARS_MAX and name.isascii() and name[:1].isalpha() and name.replace("-", "").isalnum()
    )


def _choose_plan(flags: Mapping[str, str | None], *, is_db_named: bool) -> FoundPlan | None:
    """Return the plan of the given configuration file, else the nearest plan of the given repository or this folder."""
    config = flags.get("config")
    if config is not None:
        if not config or "\0" in config or not os.path.lexists(config):
            raise Invalid(
                f"there is no configuration file {quote_text(config)}; check the path after --config",
                code="config_missing",
                file=config,
            )
        return FoundPlan(config, None)
    plan = next(find_plans(repository), None) if (repository := flags.get("repo")) else None
    plan = plan or next(find_plans(), None)
    if plan is not None and plan.owner is not None:
        if is_db_named:
            return None
        # In a folder that others may write to, such as /tmp, a file of theirs would decide where plans are kept.

        path = plan.config_file or plan.db or ""
        raise Invalid(
            f"{quote_text(path)} belongs to another user (uid {plan.owner}); "
            "to use it, name it with --config; to use or start another plan, name that with --db",
            code="config_of_another_user",
            file=path,
        )
    return plan


def _read_settings(path: str, parsers: Parsers) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for key, value, line in read_entries(path):
        where = f"{key} ({path}, line {line})"
        if key not in FILE_KEYS:
            raise _unknown_key(key, path, line)
        setting = FILE_KEYS[key]
        if setting in values:
            raise malformed(f"{where} appears twice; keep one of them", path, line)
        if value is None:
            sentence = f"{where} has no value; give it one or remove the line"
            raise Invalid(sentence, code="config_invalid_value", setting=where)
        checked = parsers[setting](value, where)
        values[setting] = _resolve_beside_file(path, checked) if setting == "db" else checked
    return values


def _resolve_beside_file(path: str, db: str) -> str:
    """Return a path in the file resolved against the folder of the file."""
    if "://" in db:
        return db
    first, *parts = os.path.join(os.path.dirname(path), db).split("/")
    return "/".join([*([] if first == "." else [first]), *(part for part in parts if part not in ("", "."))])


def _unknown_key(key: str, path: str, line: int) -> Invalid:
    near = find_nearest(key, list(FILE_KEYS))
    hint = f"did you mean {near}?" if near else f"the keys are {join_alternatives(list(FILE_KEYS))}"
    details = {"near": near} if near else {"allowed": list(FILE_KEYS)}
    return Invalid(
        f"unknown key {quote_text(key)} ({path}, line {line}); {hint}",
        code="config_unknown_key",
        key=key,
        file=path,
        line=line,
        **details,
    )


# --- The file -------------------------------------------------------------------------------------------------------


def read_entries(path: str) -> list[tuple[str, Any, int]]:
    """Return the keys of the file with their values and line numbers."""
    text = _read_text(path)
    plain = read_plain_entries(text)
    if plain is not None:
        return plain
    import yaml  # here, because it takes 30 ms

    try:
        loader = yaml.SafeLoader(text)
        root = loader.get_single_node()
        if root is None:
            return []
        if not isinstance(root, yaml.MappingNode):
            raise malformed(f"{path} contains no settings; write lines such as 'db_path: plan.db'", path, 1)
        loader.construct_mapping(root, deep=True)  # rejects keys that cannot be hashed
        return [
            (str(key.value), loader.construct_object(value, deep=True), key.start_mark.line + 1)
            for key, value in root.value
        ]
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise malformed(f"{path} is not valid YAML: line {line}: {error.problem}", path, line) from None
    except (yaml.YAMLError, ValueError, RecursionError):
        raise malformed(f"{path} is not valid YAML; it contains text that YAML does not allow", path, 1) from None


def read_plain_entries(text: str) -> list[tuple[str, Any, int]] | None:
    """Return the entries of simple lines such as `key: value`; None if the text needs a YAML parser.

    A value is a plain word, a path, or a text in single quotation marks, as `init` writes them.
    """
    entries: list[tuple[str, Any, int]] = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line or line.startswith("#"):
            continue
        key, colon, value = line.partition(": ")
        if not (colon and key.isidentifier() and key.isascii()):
            return None
        quoted = len(value) > 1 and value[0] == value[-1] == "'" and "'" not in value[1:-1]
        if quoted and value.isprintable():
            value = value[1:-1]
        elif not (set(value) <= _PLAIN_VALUE and value[:1].isalpha() and value.lower() not in _YAML_WORDS):
            return None
        entries.append((key, value, number))
    return entries


# What stands for itself in YAML, and the words that do not.
_PLAIN_VALUE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./")
_YAML_WORDS = frozenset(("null", "true", "false", "yes", "no", "on", "off", "y", "n"))


def _read_text(path: str) -> str:
    try:
        with open(path, "rb") as file:
            raw = file.read(FILE_BYTES_MAX + 1)
    except OSError as error:
        raise Invalid(
            f"cannot read the configuration file {quote_text(path)}: {error.strerror}",
            code="config_unreadable",
            file=path,
        ) from None
    if len(raw) > FILE_BYTES_MAX:
        raise malformed(
            f"{path} is larger than {FILE_BYTES_MAX} bytes, which is too large for a configuration file", path, 1
        )
    try:
        return raw.removeprefix(BYTE_ORDER_MARK).decode("utf-8")
    except UnicodeDecodeError:
        raise malformed(f"{path} is not UTF-8 text; save it as UTF-8", path, 1) from None


def malformed(sentence: str, path: str, line: int) -> Invalid:
    """Return the error for a file with malformed text at a line."""
    return Invalid(sentence, code="config_invalid", file=path, line=line)
