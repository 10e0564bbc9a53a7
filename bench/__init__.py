"""Benchmarks of speed, size and fairness, compared with the smallest programs that do the same."""
