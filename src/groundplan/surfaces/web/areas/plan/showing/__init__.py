"""Views that show the plan to others: two versions compared, and one pathway at a time."""
