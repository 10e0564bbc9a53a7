"""Rule files: export knowledge to where coding agents look for it, and import it again."""
