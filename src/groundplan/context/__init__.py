"""Context: the facts that a plan rests on, where they come from, and which are missing."""
