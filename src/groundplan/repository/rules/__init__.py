"""Rule files: the plan's knowledge where coding agents look for it by themselves, and the way back into the plan."""
