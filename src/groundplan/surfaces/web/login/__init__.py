"""Logins of people in a browser: by the one-time address, by a token, or at an issuer."""
