"""What happened, read back."""
