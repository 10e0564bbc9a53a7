"""Changing a draft: a batch of operations, all of them or none."""
