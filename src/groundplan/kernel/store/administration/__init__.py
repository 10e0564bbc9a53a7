"""What only the owner of a store does, across organizations."""
