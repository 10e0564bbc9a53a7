"""The one way out of every surface: an answer or an error as one line of JSON, encoded once.

The family of the error decides the status of HTTP, the exit code and `isError`; the group of the tool decides the
envelope; the vocabulary of the surface words what to do next.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from groundplan.kernel.errors import GroundplanError, Unexpected
from groundplan.kernel.next_steps import Vocabulary
from groundplan.kernel.operations.envelopes import wrap, wrap_error
from groundplan.kernel.operations.execute import ExecutionResult
from groundplan.kernel.operations.registry import Group
from groundplan.kernel.output_gate import encode


class Response(NamedTuple):
    """What a surface sends, and the error that it tells, if it is one."""

    body: bytes
    error: GroundplanError | None = None


def respond(
    run: Callable[[], ExecutionResult], *, group: Group | None, vocabulary: Vocabulary, log: Callable[[], Unexpected]
) -> Response:
    """Run a request and encode what comes of it. `log` keeps the exception being handled and gives its reference."""
    try:
        answered = run()
        return Response(answered.encoded or encode(wrap(group, answered.answer)))
    except GroundplanError as error:
        return respond_with_error(error, group=group, vocabulary=vocabulary)
    except BrokenPipeError:
        raise  # there is no reader to tell anything
    except Exception:
        return respond_with_error(log(), group=group, vocabulary=vocabulary)


def respond_with_error(error: GroundplanError, *, group: Group | None, vocabulary: Vocabulary) -> Response:
    """Encode an error."""
    return Response(encode(wrap_error(group, error, vocabulary)), error)
