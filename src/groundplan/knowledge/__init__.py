"""Knowledge about files: atoms hold knowledge about the paths they match, molecules group atoms."""
