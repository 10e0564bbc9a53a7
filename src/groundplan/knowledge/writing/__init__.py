"""Write knowledge: create, update, delete, append to a changelog, record a check."""
