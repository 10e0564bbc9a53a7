"""What is missing between purpose, work, facts and knowledge."""
