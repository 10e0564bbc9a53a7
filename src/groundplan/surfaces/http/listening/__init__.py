"""Where the server listens, who can reach it, and how long it waits for them."""
