"""A working copy beside a plan: what its history says about the plan's knowledge, and files that share it."""
