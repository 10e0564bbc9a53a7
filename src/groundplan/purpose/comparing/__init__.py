"""Compare two versions by stable key, as data and as Markdown."""
