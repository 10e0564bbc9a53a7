"""Observations beside the versions: measurements, reviews, waivers and decisions."""
