"""Search in all slices."""
