"""What joins why, facts, work and knowledge."""
