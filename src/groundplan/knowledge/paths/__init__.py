"""Which patterns match a path: how they are read, how they are matched, many of them at once, and what is asked for."""
