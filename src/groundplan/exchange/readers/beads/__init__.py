"""Read beads: its JSONL files, and the folder of a backup."""

from groundplan.exchange.readers.beads.read_beads import read

__all__ = ["read"]
