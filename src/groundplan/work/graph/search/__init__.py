"""Search for nodes: filters, text search, sort orders and paging."""
