"""Import plans of other tools: the items of a file become nodes, and a second import updates them."""
