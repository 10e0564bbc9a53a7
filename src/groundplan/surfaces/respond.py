"""Encode the answer or the error of a request as one line of JSON. All surfaces use it.

The family of the error decides the HTTP status, the exit code and `isError`. The group of the tool decides the
envelope. The vocabulary of the surface phrases the next step.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from groundplan.kernel.answers import encode
from groundplan.kernel.errors import GroundplanError, Unexpected, Vocabulary
from groundplan.kernel.operations.envelopes import wrap, wrap_error
from groundplan.kernel.operations.execute import ExecutionResult
from groundplan.kernel.operations.registry import Group


class Response(msgspec.Struct, frozen=True):
    """The encoded response, and the error if there is one."""

    body: bytes
    error: GroundplanError | None = None


def respond(
    run: Callable[[], ExecutionResult], *, group: Group | None, vocabulary: Vocabulary, log: Callable[[], Unexpected]
) -> Response:
    """Run a request and encode its result. `log` logs the current exception and returns its reference."""
    try:
        result = run()
        return Response(result.encoded or encode(wrap(group, result.answer, result.warnings)))
    except GroundplanError as error:
        return respond_with_error(error, group=group, vocabulary=vocabulary)
    except BrokenPipeError:
        raise  # nobody reads the response
    except Exception:
        return respond_with_error(log(), group=group, vocabulary=vocabulary)


def respond_with_error(error: GroundplanError, *, group: Group | None, vocabulary: Vocabulary) -> Response:
    """Encode an error."""
    return Response(encode(wrap_error(group, error, vocabulary)), error)
