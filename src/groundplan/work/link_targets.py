"""The targets of links: lookups of keys and pointers, and the errors for unknown ones."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Annotated, Any

from msgspec import Meta

from groundplan.kernel.errors import GroundplanError, Invalid, NextStep, NotFound
from groundplan.kernel.links import LINKS_MAX, LinkType
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import ArgumentPath, format_argument_path, join_alternatives, quote_text
from groundplan.providers import LinkTarget, LinkTargets, find_fact_targets, find_purpose_targets

ASSUMPTION = "assumption"  # the kind of a target; every other kind of the purpose is that of a node
OF_ASSUMPTIONS = (LinkType.SUPPORTS, LinkType.REFUTES)

PurposeKey = Annotated[str, Meta(min_length=1, max_length=255)]
Pointer = Annotated[str, Meta(min_length=1, max_length=1024)]
PurposeKeys = Annotated[list[PurposeKey], Meta(max_length=LINKS_MAX)]
Pointers = Annotated[list[Pointer], Meta(max_length=LINKS_MAX)]


class UnknownTarget(NotFound):
    """A link has a target that the project does not have. `refs` has all such targets of one node."""

    def __init__(
        self, thing: str, refs: Sequence[str], near: Collection[str], next_step: NextStep, field: str, hint: str = ""
    ) -> None:
        self.hint = f"the nearest: {', '.join(near)}" if near else hint
        problem = f"{field}: no {thing} {join_alternatives([quote_text(ref) for ref in refs])} here"
        details: dict[str, Any] = {"near": list(near)} if near else {}
        if len(refs) > 1:
            details["refs"] = list(refs)
        GroundplanError.__init__(
            self,
            problem + (f" ({self.hint})" if self.hint else ""),
            next_steps=next_step,
            field=field,
            thing=thing,
            ref=refs[0],
            **details,
        )


class UnknownKey(UnknownTarget):
    """Neither the latest published version of the purpose nor its draft has the key."""

    code = "unknown_key"


class UnknownPointer(UnknownTarget):
    """Neither the run in force nor a draft has a fact with the pointer."""

    code = "unknown_pointer"


class WrongLinkKind(Invalid):
    """A link of this type cannot have a target of this kind."""

    code = "wrong_link_kind"

    def __init__(self, link_type: LinkType, target: LinkTarget, field: str) -> None:
        kind = "an assumption" if target.kind == ASSUMPTION else f"a purpose node ({target.kind})"
        use = (
            "name what the work is for, or link its evidence by type supports or refutes"
            if target.kind == ASSUMPTION
            else f"{link_type} needs an assumption, such as AS1; use type serves for a purpose node"
        )
        super().__init__(
            f"{field}: {target.ref} is {kind}; {use}", field=field, ref=target.ref, kind=target.kind, type=link_type
        )


class KnownTargets:
    """The purpose nodes, assumptions and facts among the targets of one request."""

    def __init__(self, tx: Transaction, *, keys: Iterable[str] = (), pointers: Iterable[str] = ()) -> None:
        self._project = tx.project.name
        wanted_keys, wanted_pointers = list(dict.fromkeys(keys)), list(dict.fromkeys(pointers))
        nothing = LinkTargets({}, {})
        self._purpose = find_purpose_targets(tx, wanted_keys) if wanted_keys else nothing
        self._facts = find_fact_targets(tx, wanted_pointers) if wanted_pointers else nothing

    def find(self, link_type: LinkType, target: str) -> LinkTarget | None:
        """Return the target of a link; None if the link is dangling."""
        return (self._facts if link_type is LinkType.RESTS_ON else self._purpose).found.get(target)

    def check(self, link_type: LinkType, targets: Sequence[str], path: ArgumentPath) -> None:
        """Raise an error if the targets do not exist, or do not fit links of this type."""
        if link_type is LinkType.RESTS_ON:
            if unknown := [target for target in targets if target not in self._facts.found]:
                raise self._unknown_pointer(unknown, path)
            return
        self._check_keys(targets, path)
        for target in targets:
            end = self._purpose.found[target]
            if (end.kind == ASSUMPTION) is not (link_type in OF_ASSUMPTIONS):
                raise WrongLinkKind(link_type, end, format_argument_path(path))

    def check_purpose_node(self, key: str, path: ArgumentPath) -> None:
        """Raise an error if a link cannot begin at a purpose key."""
        self._check_keys([key], path)
        end = self._purpose.found[key]
        if end.kind == ASSUMPTION:
            raise WrongLinkKind(LinkType.RESTS_ON, end, format_argument_path(path))

    def _check_keys(self, keys: Sequence[str], path: ArgumentPath) -> None:
        if unknown := [key for key in keys if key not in self._purpose.found]:
            step = NextStep("purpose.open", "shows the keys", {"project": self._project})
            similar = self._purpose.near.get(unknown[0], ())
            raise UnknownKey("purpose key", unknown, similar, step, format_argument_path(path))

    def _unknown_pointer(self, unknown: Sequence[str], path: ArgumentPath) -> UnknownPointer:
        step = NextStep("context.view", "shows the pointers", {"scopeId": self._project})
        similar = self._facts.near.get(unknown[0], ())
        are_pointers = all(ref.startswith("/") for ref in unknown)
        hint = "" if are_pointers else "a fact is named by its pointer, such as /site/size"
        return UnknownPointer("fact", unknown, similar, step, format_argument_path(path), hint)
