"""The short words as data, how a line of them is parsed, and their help."""
