"""The picture of a theory: what it shows, where everything stands, and how it becomes SVG."""
