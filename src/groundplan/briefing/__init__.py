"""Reads that combine purpose, facts, work and knowledge: the only package that imports all four slices."""
