"""Reads of a part of the facts in force."""
