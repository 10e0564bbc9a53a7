"""Read Taskmaster: its file of tasks, with or without tags."""

from groundplan.exchange.readers.taskmaster.read_taskmaster import read

__all__ = ["read"]
