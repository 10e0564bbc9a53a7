"""What work nodes serve and rest on: their own links, and those of their ancestors."""
