"""People and agents with tokens, for tests."""

from __future__ import annotations

from typing import Any

from groundplan.kernel.actors import Actor
from groundplan.kernel.errors import GroundplanError
from groundplan.kernel.store.store import Store
from groundplan.kernel.tokens.authenticate import verify_token
from groundplan.session import Session
from tests.engines import Engine


def create_token(session: Session, **arguments: Any) -> str:
    """Create a token and return its text."""
    return str(session.call("token.create", **arguments).secret)


def log_in(engine: Engine, creator: Session, **arguments: Any) -> Session:
    """Create a token and return the session of its holder."""
    return engine.session(authenticate(engine, create_token(creator, **arguments)))


def authenticate_token(store: Store, text: str) -> Actor:
    return verify_token(store, text).actor


def authenticate(engine: Engine, text: str) -> Actor:
    return authenticate_token(engine.store, text)


def code(session: Session, operation: str, **arguments: Any) -> str:
    """Return the error code of a call, or ok."""
    try:
        session.call(operation, **arguments)
    except GroundplanError as error:
        return error.code
    return "ok"
