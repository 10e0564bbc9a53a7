"""Identities: which accounts of identity providers belong to which people, and who is expected."""
