"""Reads of facts for other slices: those in force, and those that contain words."""
