"""What one must know to touch a file: atoms own path patterns and hold knowledge, molecules group them."""
