"""Identities: accounts at identity providers, the people they belong to, and invitations."""
