"""Versions as a whole: begun, published, discarded, listed, compared."""
