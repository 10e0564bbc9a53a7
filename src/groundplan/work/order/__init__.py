"""The order of a plan: keys that prove that nothing waits for itself."""
