"""Get a theory through its gates, publish it, and keep it true: findings, measurements, reviews, health."""
