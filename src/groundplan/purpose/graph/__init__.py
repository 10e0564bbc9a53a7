"""Graph algorithms on causes and effects: pure, deterministic, and without recursion."""
