"""Move tasks and features through their pipelines, and block or unblock them."""
