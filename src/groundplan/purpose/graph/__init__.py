"""Questions about causes and effects that need no database: pure, in a fixed order, and without recursion."""
