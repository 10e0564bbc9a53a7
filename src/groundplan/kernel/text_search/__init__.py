"""Words of a search text, and the rows in which slices find them."""
