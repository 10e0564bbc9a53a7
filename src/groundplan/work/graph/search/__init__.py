"""Find nodes: by what they say, where they stand, how they stand, and in a chosen order, page by page."""
