"""Switch from other tools, and back: read their files, and write them."""
