"""Tokens: how a caller proves who it is, and what it may do at most."""
