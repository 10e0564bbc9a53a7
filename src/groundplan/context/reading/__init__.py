"""Reads of facts beside the view."""
