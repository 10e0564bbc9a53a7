"""Parse and check the values of settings from all sources.

An invalid value raises an error that names its location. The MCP server loads this module before its first answer, so
it imports very little.
"""

from __future__ import annotations

import os
import pwd
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from groundplan.kernel.errors import Invalid
from groundplan.kernel.wording import describe_value, find_nearest, join_alternatives, quote_text

# Copies of `Group`, `Access`, `LOCAL_ORGANIZATION` and `policies`, which import other modules; a test compares them.
ORGANIZATION_DEFAULT = "local"
ORGANIZATION_CHARS_MAX = 63
ORGANIZATION_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-")
ACCESS = ("open", "members")
TOOL_GROUPS = ("work", "knowledge", "purpose", "context", "containers", "briefing")
TOOL_GROUPS_DEFAULT = tuple(group for group in TOOL_GROUPS if group != "containers")
TOOLS_ALL = "all"
CLAIM_TTL_MINUTES = 60.0
CLAIM_TTL_MINUTES_MAX = 525_600.0
WRITE_TIMEOUT_S = 10.0
WRITE_TIMEOUT_S_MAX = 600.0  # other writers wait as long
PLAIN_NAME_CHARS_MAX = 64  # a shorter ASCII name needs no further check

TRUE_WORDS = ("true", "yes", "on", "1")
FALSE_WORDS = ("false", "no", "off", "0")


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


def check_db(db: str, where: str = "--db") -> str:
    """Return the store if it is valid: a path, or the URL of a PostgreSQL database."""
    if is_plain_path(db):
        return db
    if not db.strip() or "\0" in db:
        raise invalid_setting(f"{where} names no file; give a path such as plan.db, or a postgresql:// URL", where)
    if is_url(db):
        return _check_url(db, where)
    scheme, separator, _ = db.partition("://")
    if (separator and "/" not in scheme) or db.startswith((":memory:", "file:")):
        # Only the scheme of a URL is shown: the rest may contain a password.
        shown = quote_text(scheme + separator) if separator else quote_text(db)
        raise invalid_setting(f"{where} must be a path such as plan.db, or a postgresql:// URL, not {shown}", where)
    if not db.strip("./"):
        raise invalid_setting(
            f"{where} is a folder; name a file in it, for example {quote_text(db.rstrip('/') + '/plan.db')}", where
        )
    # Clients start a server without a shell, so `~` is not expanded.
    return _expand_user(db) if db.startswith("~") else db


def is_url(db: str) -> bool:
    """Return whether a store is the URL of a PostgreSQL database."""
    return db.startswith(("postgresql://", "postgres://"))


def _check_url(url: str, where: str) -> str:
    try:
        from psycopg import ProgrammingError
        from psycopg.conninfo import conninfo_to_dict
    except ImportError:  # opening the store reports it
        return url
    try:
        conninfo_to_dict(url)
    except (ProgrammingError, UnicodeError):
        # The message does not show the URL, which contains a password.
        sentence = "is not a valid PostgreSQL URL; write postgresql://USER:PASSWORD@HOST:PORT/NAME"
        raise invalid_setting(f"{where} {sentence}", where) from None
    return url


def _expand_user(db: str) -> str:
    try:
        return str(Path(db).expanduser())
    except RuntimeError:  # no such user, so it is a file name
        return db


def parse_text(value: Any, where: str) -> str:
    if isinstance(value, str):
        return value
    raise invalid_setting(f"{where} must be text, not {describe_value(value)}; put it in quotes if it is text", where)


def parse_db(value: Any, where: str) -> str:
    return check_db(parse_text(value, where), where)


def parse_name(value: Any, where: str) -> str:
    name = parse_text(value, where)
    if is_plain_name(name):
        return name
    from groundplan.kernel.input_gate.strict_json import validate_value
    from groundplan.kernel.input_gate.text_limits import NormalizedName, apply_marker

    try:
        validate_value(name)
        return apply_marker(NormalizedName(), name, ())
    except Invalid as error:
        wrong = error.message.removeprefix("arguments ")
        raise Invalid(f"{where} {wrong}", code=error.code, setting=where) from None


def parse_person(value: Any, where: str) -> str:
    """Return the name of a person; empty for the user of the operating system."""
    return parse_name(value, where) if value else ""


def parse_org(value: Any, where: str) -> str:
    org = parse_text(value, where)
    if 0 < len(org) <= ORGANIZATION_CHARS_MAX and set(org) <= ORGANIZATION_LETTERS and org[0] != "-" != org[-1]:
        return org
    raise invalid_setting(
        f"{where} must be the id of an organization: small letters, digits and dashes, not {describe_value(org)}", where
    )


def parse_access(value: Any, where: str) -> str:
    if value in ACCESS:
        return str(value)
    raise not_among(value, ACCESS, where)


def parse_tools(value: Any, where: str) -> tuple[str, ...]:
    """Return the tool groups in a list, or in a text with commas. `where` names the setting in errors."""
    given = value.split(",") if isinstance(value, str) else value
    if not isinstance(given, list) or not all(isinstance(name, str) for name in given):
        raise invalid_setting(
            f"{where} must be a list of tool groups, not {describe_value(value)}", where, allowed=list(TOOL_GROUPS)
        )
    names = [name.strip() for name in given if name.strip()]
    if not names:
        raise invalid_setting(
            f"{where} names no tool group; give {TOOLS_ALL}, or some of {join_alternatives(TOOL_GROUPS)}", where
        )
    for name in names:
        if name != TOOLS_ALL and name not in TOOL_GROUPS:
            raise not_among(name, [*TOOL_GROUPS, TOOLS_ALL], where)
    if TOOLS_ALL in names:
        return TOOL_GROUPS
    return tuple(group for group in TOOL_GROUPS if group in names)


def parse_texts(value: Any, where: str) -> tuple[str, ...]:
    given = [value] if isinstance(value, str) else value
    if isinstance(given, list) and given and all(isinstance(text, str) and text for text in given):
        return tuple(given)
    raise invalid_setting(f"{where} must be a text or a list of texts, not {describe_value(value)}", where)


def parse_duration(value: Any, where: str, *, unit: str, most: float) -> float:
    try:
        number = float(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else 0.0
    except (ValueError, OverflowError):
        number = 0.0
    if 0 < number <= most:
        return number
    raise invalid_setting(
        f"{where} must be a number of {unit} above 0, at most {most:,.0f}, not {describe_value(value)}", where
    )


def parse_boolean(value: Any, where: str) -> bool:
    word = str(value).lower() if isinstance(value, str | bool | int) else ""
    if word in TRUE_WORDS or word in FALSE_WORDS:
        return word in TRUE_WORDS
    raise not_among(value, (TRUE_WORDS[0], FALSE_WORDS[0]), where)


def parse_pipelines_setting(value: Any, where: str) -> str | None:
    from groundplan.work.containers.pipeline import (  # here, because few processes have some
        DEFAULT_PIPELINES,
        encode_pipelines,
        parse_pipelines,
    )

    try:
        return encode_pipelines(parse_pipelines(value, DEFAULT_PIPELINES, ("pipelines",)))
    except Invalid as error:
        raise invalid_setting(f"{where}: {error.message}", where) from None


def not_among(value: Any, allowed: Sequence[str], where: str) -> Invalid:
    near = find_nearest(value, allowed) if isinstance(value, str) else None
    hint = f"; did you mean {near!r}?" if near else ""
    details = {"near": near} if near else {}
    sentence = f"{where} must be {join_alternatives(allowed)}, not {describe_value(value)}{hint}"
    return invalid_setting(sentence, where, allowed=list(allowed), **details)


def invalid_setting(sentence: str, where: str, **details: Any) -> Invalid:
    return Invalid(sentence, code="config_invalid_value", setting=where, **details)
