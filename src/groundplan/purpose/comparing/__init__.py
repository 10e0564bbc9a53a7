"""Two versions side by side: by stable keys, as data and as Markdown."""
