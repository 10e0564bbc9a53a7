"""Tokens: they prove the identity of a caller, and limit its rights."""
