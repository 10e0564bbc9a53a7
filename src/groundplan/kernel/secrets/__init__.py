"""Secrets: tokens, keys and passwords that a request contains by mistake."""
