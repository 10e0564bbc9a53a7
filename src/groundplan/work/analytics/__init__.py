"""Questions about a whole plan: what takes longest, what holds up most, and what would follow from a change."""
