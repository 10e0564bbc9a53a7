"""Rule files: export knowledge to the places where coding agents look for it, and import it again."""
