"""Observations, which belong to no version: measurements, reviews, waivers and decisions."""
