"""What was observed beside the versions: measurements, reviews, waivers and decisions."""
