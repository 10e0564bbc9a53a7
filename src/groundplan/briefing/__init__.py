"""What joins why, facts, work and knowledge: the only package that reads all four slices."""
