"""How fast, how small and how fair Groundplan is, measured against the least that could do the same."""
