"""Writes the reference pages, the types of the verbs and the contract snapshots from the code."""
