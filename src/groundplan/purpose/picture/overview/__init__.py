"""The overview of a large plan: groups of nodes instead of nodes, which open level by level."""
