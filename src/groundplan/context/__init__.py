"""Context: which facts the plan stands on, where they come from, and what is still missing."""
