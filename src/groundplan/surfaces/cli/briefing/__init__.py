"""Views of what joins the slices."""
