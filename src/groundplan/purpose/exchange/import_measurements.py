"""Record the measurements of an imported theory. They belong to the project, not to the draft, and never change."""

from __future__ import annotations

from collections.abc import Sequence

from groundplan.kernel.errors import NotFound
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import ArgumentPath, format_argument_path
from groundplan.purpose.dates import get_day, parse_moment
from groundplan.purpose.exchange.formats.document import DocumentMeasurement
from groundplan.purpose.exchange.incoming_keys import IncomingKeys
from groundplan.purpose.exchange.readers.document_builder import EXAMPLES_MAX, SkippedItem
from groundplan.purpose.observing.read import NO_CUTOFF, read_measurements
from groundplan.purpose.observing.record import MeasurementWrite, record_measurements

IN_FUTURE, KNOWN = "it is in the future", "it is recorded already"  # why a measurement is skipped


def import_measurements(
    tx: Transaction, measurements: Sequence[DocumentMeasurement], keys: IncomingKeys
) -> tuple[int, list[SkippedItem]]:
    """Record the measurements that the project does not have yet; return how many, and the skipped ones."""
    if not measurements:
        return 0, []
    known = {(one.indicator, one.as_of, one.value) for one in read_measurements(tx, NO_CUTOFF)}
    skipped: dict[str, list[str]] = {IN_FUTURE: [], KNOWN: []}
    wanted: list[MeasurementWrite] = []
    for index, one in enumerate(measurements):
        path: ArgumentPath = ("document", "measurements", index)
        if one.indicator not in keys.indicators:
            hint = "no indicator of the document has this key"
            raise NotFound("indicator", one.indicator, hint=hint, field=format_argument_path((*path, "indicator")))
        key = keys.indicators[one.indicator]
        as_of = parse_moment(one.as_of, (*path, "as_of"))
        if get_day(as_of) > get_day(tx.now):
            skipped[IN_FUTURE].append(f"{key} {as_of}")
        elif (key, as_of, one.value) in known:
            skipped[KNOWN].append(f"{key} {as_of}")
        else:
            known.add((key, as_of, one.value))
            wanted.append(MeasurementWrite(key, one.value, as_of, note=one.note))
    record_measurements(tx, wanted, ("document", "measurements"))
    return len(wanted), [
        SkippedItem("measurement", why, len(examples), examples[:EXAMPLES_MAX])
        for why, examples in skipped.items()
        if examples
    ]
