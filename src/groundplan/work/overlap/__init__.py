"""Work on the same files: noticed before two actors change them at the same time."""
