"""What in the purpose waits for a person."""
