"""A gate's result for an answer that has a limit: every check stays, with fewer of the things it is about."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from groundplan.kernel.output_gate import encode, fits
from groundplan.purpose.gates.result import Check, GateResult

# How many refs of a check are kept, less and less of them being left.
_KEPT = (200, 50, 10, 0)


def shortened(results: list[GateResult], *, tokens_max: int, answer: Callable[[list[GateResult]], Any]) -> Any:
    """The answer that is made of some results, with as many refs as fit into so many tokens. 0 is no limit."""
    made = answer(results)
    for kept in _KEPT:
        if fits(encode(made), tokens_max * 9 // 10):
            break
        made = answer([_with_refs(result, kept) for result in results])
    return made


def _with_refs(result: GateResult, kept: int) -> GateResult:
    return msgspec.structs.replace(result, checks=[_cut(check, kept) for check in result.checks])


def _cut(check: Check, kept: int) -> Check:
    if len(check.refs) <= kept:
        return check
    actual = check.actual[:kept] if isinstance(check.actual, list) else check.actual  # the path of a cycle
    left_out = len(check.refs) - kept
    return msgspec.structs.replace(check, refs=check.refs[:kept], actual=actual, refs_left_out=left_out)
