"""Pure and deterministic algorithms on the graph of causes and effects, without recursion."""
