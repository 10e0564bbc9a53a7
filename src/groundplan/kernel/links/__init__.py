"""Links between slices, by names that outlive versions and runs."""
