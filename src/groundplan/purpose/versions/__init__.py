"""Create, publish, discard, list and compare versions."""
